// Pixel shader: Blinn-Phong lighting by several point lights, with a diffuse map and a map of specular colour and gloss.
// One thread a pixel, blocks of 16 x 16. The rasteriser's interpolated position, normal and texture coordinate come from
// arrays; the fourth component of the position is 0 where nothing is drawn, and such pixels keep the background.

#define MAX_LIGHTS 16

struct PointLight {
    float4 place;  // xyz, and the inverse square of the range
    float4 colour;
};

struct Frame {
    float4 eye;
    float4 ambient;
    float4 background;
};

__constant__ PointLight lights[MAX_LIGHTS];
__constant__ Frame frame;

__device__ inline float3 xyz(float4 v) { return make_float3(v.x, v.y, v.z); }
__device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ inline float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float3 operator*(float3 a, float3 b) { return make_float3(a.x * b.x, a.y * b.y, a.z * b.z); }
__device__ inline float3 operator*(float s, float3 v) { return make_float3(s * v.x, s * v.y, s * v.z); }
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float3 normalize(float3 v) { return rsqrtf(dot(v, v)) * v; }

extern "C" __global__ void __launch_bounds__(256)
light_pixels(cudaTextureObject_t diffuse_map, cudaTextureObject_t specular_map, const float4* __restrict__ positions,
             const float4* __restrict__ normals, const float2* __restrict__ coordinates, float4* __restrict__ colours,
             int width, int height, int light_count)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int pixel = y * width + x;

    const float4 position = positions[pixel];
    if (position.w == 0.0f) {
        colours[pixel] = frame.background;
        return;
    }
    const float3 normal = normalize(xyz(normals[pixel]));
    const float2 uv = coordinates[pixel];
    const float3 albedo = xyz(tex2D<float4>(diffuse_map, uv.x, uv.y));
    const float4 specular = tex2D<float4>(specular_map, uv.x, uv.y);
    const float exponent = 4.0f + 60.0f * specular.w;
    const float3 to_eye = normalize(xyz(frame.eye) - xyz(position));

    float3 diffuse = xyz(frame.ambient);
    float3 highlight = make_float3(0.0f, 0.0f, 0.0f);
    for (int i = 0; i < light_count; ++i) {
        const float3 to_light = xyz(lights[i].place) - xyz(position);
        const float squared = dot(to_light, to_light);
        const float reach = __saturatef(1.0f - squared * lights[i].place.w);
        const float3 direction = rsqrtf(squared) * to_light;
        const float facing = dot(normal, direction);
        if (reach > 0.0f && facing > 0.0f) {
            const float3 halfway = normalize(direction + to_eye);
            const float gloss = __powf(__saturatef(dot(normal, halfway)), exponent);
            const float3 light = reach * reach * xyz(lights[i].colour);
            diffuse = diffuse + facing * light;
            highlight = highlight + gloss * light;
        }
    }
    const float3 colour = albedo * diffuse + xyz(specular) * highlight;
    colours[pixel] = make_float4(colour.x, colour.y, colour.z, 1.0f);
}
