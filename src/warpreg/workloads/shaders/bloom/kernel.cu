// Bloom, four pixel shaders, one thread a pixel in blocks of 16 x 16: a bright pass that halves the picture with four
// bilinear fetches, a Gaussian blur across and the same blur down, of nine texels with five bilinear fetches each, and
// the sum of the picture and the blurred one, bilinearly enlarged.

#define TAPS 3

struct Blur {
    float4 taps[TAPS];  // distance in texels, weight
};

__constant__ Blur blur;

__device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ inline float3 operator*(float s, float3 v) { return make_float3(s * v.x, s * v.y, s * v.z); }
__device__ inline float3 fetch(cudaTextureObject_t picture, float x, float y)
{
    const float4 texel = tex2D<float4>(picture, x, y);
    return make_float3(texel.x, texel.y, texel.z);
}
__device__ inline float4 opaque(float3 colour) { return make_float4(colour.x, colour.y, colour.z, 1.0f); }

extern "C" __global__ void __launch_bounds__(256)
bright_pass(cudaTextureObject_t picture, float4* __restrict__ bright, int width, int height, float threshold,
            float knee)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = 2.0f * x + 1.0f;
    const float v = 2.0f * y + 1.0f;
    const float3 mean = 0.25f * (fetch(picture, u - 0.75f, v - 0.75f) + fetch(picture, u + 0.75f, v - 0.75f)
                                 + fetch(picture, u - 0.75f, v + 0.75f) + fetch(picture, u + 0.75f, v + 0.75f));
    const float luminance = 0.2126f * mean.x + 0.7152f * mean.y + 0.0722f * mean.z;
    const float soft = __saturatef((luminance - threshold + knee) * __fdividef(0.5f, knee));
    const float over = fmaxf(luminance - threshold, knee * soft * soft);
    bright[y * width + x] = opaque(__fdividef(over, fmaxf(luminance, 1e-4f)) * mean);
}

extern "C" __global__ void __launch_bounds__(256)
blur_across(cudaTextureObject_t picture, float4* __restrict__ blurred, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = x + 0.5f;
    const float v = y + 0.5f;
    float3 sum = blur.taps[0].y * fetch(picture, u, v);
#pragma unroll
    for (int i = 1; i < TAPS; ++i)
        sum = sum + blur.taps[i].y * (fetch(picture, u - blur.taps[i].x, v) + fetch(picture, u + blur.taps[i].x, v));
    blurred[y * width + x] = opaque(sum);
}

extern "C" __global__ void __launch_bounds__(256)
blur_down(cudaTextureObject_t picture, float4* __restrict__ blurred, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = x + 0.5f;
    const float v = y + 0.5f;
    float3 sum = blur.taps[0].y * fetch(picture, u, v);
#pragma unroll
    for (int i = 1; i < TAPS; ++i)
        sum = sum + blur.taps[i].y * (fetch(picture, u, v - blur.taps[i].x) + fetch(picture, u, v + blur.taps[i].x));
    blurred[y * width + x] = opaque(sum);
}

extern "C" __global__ void __launch_bounds__(256)
combine(cudaTextureObject_t picture, cudaTextureObject_t bloom, float4* __restrict__ colours, int width, int height,
        float strength)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = x + 0.5f;
    const float v = y + 0.5f;
    const float3 glow = strength * fetch(bloom, 0.5f * u, 0.5f * v);
    const float3 colour = fetch(picture, u, v);
    const float3 room = make_float3(1.0f - __saturatef(glow.x), 1.0f - __saturatef(glow.y), 1.0f - __saturatef(glow.z));
    colours[y * width + x] = opaque(make_float3(colour.x * room.x, colour.y * room.y, colour.z * room.z) + glow);
}
