// Pixel shader: depth of field by gathering on a disc. One thread a pixel, blocks of 16 x 16. A thin lens gives the
// circle of confusion from the depth in the fourth channel; pixels that are in focus keep their colour, others mix
// sixteen bilinear fetches spread over their circle. A fetched colour counts as far as its own circle reaches this
// pixel, so that what is sharp and in front does not bleed.

#define TAPS 16

struct Lens {
    float4 numbers;  // focal distance, circle in pixels at infinity, greatest circle
    float4 taps[TAPS];  // places on the unit disc
};

__constant__ Lens lens;

__device__ inline float circle(float depth)
{
    const float spread = lens.numbers.y * fabsf(1.0f - __fdividef(lens.numbers.x, depth));
    return fminf(spread, lens.numbers.z);
}

extern "C" __global__ void __launch_bounds__(256)
focus_pixels(cudaTextureObject_t picture, float4* __restrict__ colours, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = x + 0.5f;
    const float v = y + 0.5f;
    const float4 centre = tex2D<float4>(picture, u, v);
    const float radius = circle(centre.w);
    if (radius < 0.5f) {
        colours[y * width + x] = centre;
        return;
    }
    float red = centre.x;
    float green = centre.y;
    float blue = centre.z;
    float total = 1.0f;
#pragma unroll
    for (int i = 0; i < TAPS; ++i) {
        const float4 tap = tex2D<float4>(picture, u + radius * lens.taps[i].x, v + radius * lens.taps[i].y);
        const float behind = __saturatef(tap.w - centre.w + 1.0f);
        const float reach = __saturatef(circle(tap.w) - radius * lens.taps[i].z + 1.0f);
        const float weight = reach + behind * (1.0f - reach) * 0.5f;
        red += weight * tap.x;
        green += weight * tap.y;
        blue += weight * tap.z;
        total += weight;
    }
    const float scale = __fdividef(1.0f, total);
    colours[y * width + x] = make_float4(red * scale, green * scale, blue * scale, centre.w);
}
