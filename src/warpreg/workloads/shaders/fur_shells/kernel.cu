// Pixel shader: fur drawn as shells. One thread a pixel, blocks of 16 x 16. The surface is taken for eight shells, one
// above the other; the ray of the pixel crosses them from the tips down to the skin at places that its slant and the
// comb's direction shift. Where a shell cuts a hair, its colour is fetched and put under what lies above, until hardly
// any light is left. Hairs shine across their direction, and are darker near the skin.

#define SHELLS 8

struct Fur {
    float4 eye;
    float4 sun;  // direction towards it, brightness
    float4 numbers;  // length in textures, hairs in a texture, bend, least light left
    float4 background;
};

__constant__ Fur fur;

__device__ inline float3 xyz(float4 v) { return make_float3(v.x, v.y, v.z); }
__device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ inline float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float3 operator*(float s, float3 v) { return make_float3(s * v.x, s * v.y, s * v.z); }
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float3 normalize(float3 v) { return rsqrtf(dot(v, v)) * v; }
__device__ inline float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
// The sine of an angle of which the cosine is given.
__device__ inline float sine_of(float cosine) { return __fsqrt_rn(fmaxf(1.0f - cosine * cosine, 0.0f)); }

extern "C" __global__ void __launch_bounds__(256)
draw_fur(cudaTextureObject_t hairs, cudaTextureObject_t colour_map, cudaTextureObject_t comb,
         const float4* __restrict__ positions, const float4* __restrict__ normals, const float4* __restrict__ tangents,
         const float2* __restrict__ coordinates, float4* __restrict__ colours, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int pixel = y * width + x;
    const float4 position = positions[pixel];
    if (position.w == 0.0f) {
        colours[pixel] = fur.background;
        return;
    }
    const float3 normal = normalize(xyz(normals[pixel]));
    const float3 tangent = normalize(xyz(tangents[pixel]) - dot(normal, xyz(tangents[pixel])) * normal);
    const float3 bitangent = cross(normal, tangent);
    const float2 uv = coordinates[pixel];
    const float2 combed = tex2D<float2>(comb, uv.x, uv.y);
    const float comb_x = fur.numbers.z * (combed.x - 0.5f);
    const float comb_y = fur.numbers.z * (combed.y - 0.5f);

    const float3 view = normalize(xyz(fur.eye) - xyz(position));
    const float3 hair = normalize(normal + comb_x * tangent + comb_y * bitangent);
    const float3 sun = xyz(fur.sun);
    const float diffuse = 0.3f + fur.sun.w * sine_of(dot(hair, sun));
    const float shine = 0.3f * __powf(sine_of(dot(hair, normalize(sun + view))), 20.0f);

    const float slant = __fdividef(fur.numbers.x, dot(view, normal) + 0.3f);
    const float slant_u = slant * dot(view, tangent);
    const float slant_v = slant * dot(view, bitangent);
    const float bend_u = fur.numbers.x * comb_x;
    const float bend_v = fur.numbers.x * comb_y;

    float red = 0.0f;
    float green = 0.0f;
    float blue = 0.0f;
    float left = 1.0f;
    for (int shell = SHELLS; shell > 0; --shell) {
        const float level = shell * (1.0f / SHELLS);
        const float u = uv.x + level * slant_u - level * level * bend_u;
        const float v = uv.y + level * slant_v - level * level * bend_v;
        const float length = tex2D<float>(hairs, u * fur.numbers.y, v * fur.numbers.y);
        const float cover = __saturatef(4.0f * (length - level));
        if (cover > 0.0f) {
            const float4 colour = tex2D<float4>(colour_map, u, v);
            const float part = left * cover;
            const float light = diffuse * (0.25f + 0.75f * level);
            red += part * (light * colour.x + level * shine);
            green += part * (light * colour.y + level * shine);
            blue += part * (light * colour.z + level * shine);
            left -= part;
            if (left < fur.numbers.w)
                break;
        }
    }
    const float4 skin = tex2D<float4>(colour_map, uv.x, uv.y);
    const float dim = 0.1f * left;
    colours[pixel] = make_float4(red + dim * skin.x, green + dim * skin.y, blue + dim * skin.z, 1.0f);
}
