// Pixel shader: normal mapping with a parallax offset. One thread a pixel, blocks of 16 x 16. The view direction is
// taken to tangent space, a height map shifts the texture coordinate along it, once and again at the shifted place, and
// normal and colour are fetched where that leads. The normal goes back to world space and is lit by the sun and the sky.

struct Frame {
    float4 eye;
    float4 sun;  // direction towards it, brightness
    float4 sky;
};

__constant__ Frame frame;

__device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ inline float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float3 operator*(float s, float3 v) { return make_float3(s * v.x, s * v.y, s * v.z); }
__device__ inline float3 xyz(float4 v) { return make_float3(v.x, v.y, v.z); }
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float3 normalize(float3 v) { return rsqrtf(dot(v, v)) * v; }
__device__ inline float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

extern "C" __global__ void __launch_bounds__(256)
bump_pixels(cudaTextureObject_t colour_map, cudaTextureObject_t normal_map, cudaTextureObject_t height_map,
            const float4* __restrict__ positions, const float4* __restrict__ normals,
            const float4* __restrict__ tangents, const float2* __restrict__ coordinates, float4* __restrict__ colours,
            int width, int height, float depth)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int pixel = y * width + x;

    const float3 normal = normalize(xyz(normals[pixel]));
    const float4 along = tangents[pixel];  // w: handedness
    const float3 tangent = normalize(xyz(along) - dot(normal, xyz(along)) * normal);
    const float3 bitangent = along.w * cross(normal, tangent);

    const float3 view = normalize(xyz(frame.eye) - xyz(positions[pixel]));
    const float slant = __fdividef(depth, dot(view, normal) + 0.4f);
    const float step_u = dot(view, tangent) * slant;
    const float step_v = dot(view, bitangent) * slant;
    const float2 start = coordinates[pixel];
    float2 uv = start;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const float raised = tex2D<float>(height_map, uv.x, uv.y) - 0.5f;
        uv.x = start.x + raised * step_u;
        uv.y = start.y + raised * step_v;
    }

    const float4 bump = tex2D<float4>(normal_map, uv.x, uv.y);
    const float3 fine = normalize((2.0f * bump.x - 1.0f) * tangent + (2.0f * bump.y - 1.0f) * bitangent
                                  + (2.0f * bump.z - 1.0f) * normal);
    const float3 sun = xyz(frame.sun);
    const float3 halfway = normalize(sun + view);
    const float gloss = __powf(__saturatef(dot(fine, halfway)), 24.0f) * bump.w;
    const float direct = frame.sun.w * __saturatef(dot(fine, sun));
    const float above = 0.5f + 0.5f * fine.y;
    const float4 colour = tex2D<float4>(colour_map, uv.x, uv.y);
    colours[pixel] = make_float4(colour.x * (direct + above * frame.sky.x) + gloss,
                                 colour.y * (direct + above * frame.sky.y) + gloss,
                                 colour.z * (direct + above * frame.sky.z) + gloss, colour.w);
}
