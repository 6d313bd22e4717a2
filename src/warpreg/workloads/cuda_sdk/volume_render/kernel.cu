// A picture of a volume by ray marching, one ray a thread, in blocks of 16 x 16. The volume fills the cube from -1 to 1
// and lies in a 3D texture; a 1D texture gives densities their colours and opacities. Along its ray a thread adds
// colours from front to back, until it leaves the cube or nothing can be seen through what it has.

typedef unsigned int uint;

#define MOST_STEPS 500
#define OPAQUE 0.95f
#define VIEW_DEPTH 2.0f

// Rows of the matrix that takes the eye's coordinates to those of the volume.
__constant__ float4 inverse_view[3];

__device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }

__device__ float3 turned(float3 v)
{
    const float4 x = inverse_view[0], y = inverse_view[1], z = inverse_view[2];
    return make_float3(v.x * x.x + v.y * x.y + v.z * x.z, v.x * y.x + v.y * y.y + v.z * y.z,
                       v.x * z.x + v.y * z.y + v.z * z.z);
}

// Where along the ray it enters and leaves the cube.
__device__ bool crosses_cube(float3 origin, float3 direction, float* near, float* far)
{
    const float3 inverse = make_float3(1.0f / direction.x, 1.0f / direction.y, 1.0f / direction.z);
    const float3 low = make_float3(inverse.x * (-1.0f - origin.x), inverse.y * (-1.0f - origin.y),
                                   inverse.z * (-1.0f - origin.z));
    const float3 high = make_float3(inverse.x * (1.0f - origin.x), inverse.y * (1.0f - origin.y),
                                    inverse.z * (1.0f - origin.z));
    *near = fmaxf(fmaxf(fminf(low.x, high.x), fminf(low.y, high.y)), fminf(low.z, high.z));
    *far = fminf(fminf(fmaxf(low.x, high.x), fmaxf(low.y, high.y)), fmaxf(low.z, high.z));
    return *far > *near;
}

__device__ uint pack(float4 colour)
{
    const uint r = __saturatef(colour.x) * 255.0f;
    const uint g = __saturatef(colour.y) * 255.0f;
    const uint b = __saturatef(colour.z) * 255.0f;
    const uint a = __saturatef(colour.w) * 255.0f;
    return (a << 24) | (b << 16) | (g << 8) | r;
}

extern "C" __global__ void render(uint* picture, uint width, uint height, float density, float brightness,
                                  float transfer_offset, float transfer_scale, float step, cudaTextureObject_t volume,
                                  cudaTextureObject_t transfer)
{
    const uint x = blockIdx.x * blockDim.x + threadIdx.x;
    const uint y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    const float u = (x / (float)width) * 2.0f - 1.0f;
    const float v = (y / (float)height) * 2.0f - 1.0f;
    const float3 origin = make_float3(inverse_view[0].w, inverse_view[1].w, inverse_view[2].w);
    const float3 direction = turned(make_float3(u, v, -VIEW_DEPTH) * rsqrtf(u * u + v * v + VIEW_DEPTH * VIEW_DEPTH));
    float near, far;
    if (!crosses_cube(origin, direction, &near, &far))
        return;
    near = fmaxf(near, 0.0f);

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float t = near;
    float3 place = origin + direction * near;
    const float3 stride = direction * step;
    for (int i = 0; i < MOST_STEPS; ++i) {
        const float sample =
            tex3D<float>(volume, place.x * 0.5f + 0.5f, place.y * 0.5f + 0.5f, place.z * 0.5f + 0.5f);
        const float4 colour = tex1D<float4>(transfer, (sample - transfer_offset) * transfer_scale);
        const float share = colour.w * density * (1.0f - sum.w);
        sum.x += colour.x * share;
        sum.y += colour.y * share;
        sum.z += colour.z * share;
        sum.w += share;
        if (sum.w > OPAQUE)
            break;
        t += step;
        if (t > far)
            break;
        place = place + stride;
    }
    picture[y * width + x] = pack(make_float4(sum.x * brightness, sum.y * brightness, sum.z * brightness,
                                              sum.w * brightness));
}
