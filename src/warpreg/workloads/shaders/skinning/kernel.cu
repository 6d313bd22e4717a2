// Vertex shader: skinning. One thread a vertex, blocks of 128. Up to four bones move a vertex; their matrices, three rows
// of four floats each, are fetched from a linear texture and blended by the vertex's weights, largest first, until one
// is zero. Position and normal are transformed, the position is projected, and the vertex is lit by two directions.

struct Scene {
    float4 rows[4];  // position to clip space
    float4 directions[2];  // towards the lights
    float4 colours[3];  // of the lights, and around
};

__constant__ Scene scene;

__device__ inline float dot(float4 a, float x, float y, float z) { return a.x * x + a.y * y + a.z * z; }

__device__ inline void add(float4& sum, float weight, float4 row)
{
    sum.x += weight * row.x;
    sum.y += weight * row.y;
    sum.z += weight * row.z;
    sum.w += weight * row.w;
}

extern "C" __global__ void __launch_bounds__(128)
skin_vertices(cudaTextureObject_t bones, const float4* __restrict__ positions, const float4* __restrict__ normals,
              const float4* __restrict__ weights, const uchar4* __restrict__ indices, float4* __restrict__ projected,
              float4* __restrict__ turned, float4* __restrict__ colours, int count)
{
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= count)
        return;
    const float4 weight = weights[vertex];
    const uchar4 index = indices[vertex];
    const float shares[4] = {weight.x, weight.y, weight.z, weight.w};
    const int bone[4] = {index.x, index.y, index.z, index.w};

    float4 rows[3] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (shares[i] <= 0.0f)
            break;
#pragma unroll
        for (int row = 0; row < 3; ++row)
            add(rows[row], shares[i], tex1Dfetch<float4>(bones, 3 * bone[i] + row));
    }

    const float4 p = positions[vertex];
    const float x = dot(rows[0], p.x, p.y, p.z) + rows[0].w;
    const float y = dot(rows[1], p.x, p.y, p.z) + rows[1].w;
    const float z = dot(rows[2], p.x, p.y, p.z) + rows[2].w;
    projected[vertex] = make_float4(
        dot(scene.rows[0], x, y, z) + scene.rows[0].w, dot(scene.rows[1], x, y, z) + scene.rows[1].w,
        dot(scene.rows[2], x, y, z) + scene.rows[2].w, dot(scene.rows[3], x, y, z) + scene.rows[3].w);

    const float4 n = normals[vertex];
    float nx = dot(rows[0], n.x, n.y, n.z);
    float ny = dot(rows[1], n.x, n.y, n.z);
    float nz = dot(rows[2], n.x, n.y, n.z);
    const float inverse = rsqrtf(nx * nx + ny * ny + nz * nz);
    nx *= inverse;
    ny *= inverse;
    nz *= inverse;
    turned[vertex] = make_float4(nx, ny, nz, 0.0f);

    float4 colour = scene.colours[2];
#pragma unroll
    for (int i = 0; i < 2; ++i)
        add(colour, __saturatef(dot(scene.directions[i], nx, ny, nz)), scene.colours[i]);
    colours[vertex] = colour;
}
