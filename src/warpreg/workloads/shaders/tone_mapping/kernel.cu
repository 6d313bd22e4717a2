// Tone mapping of a picture of high dynamic range. A first pass takes the mean logarithm of the luminance: each block of
// 16 x 16 threads sums 32 x 32 pixels in shared memory; a second adds up the blocks' sums and moves the eye's adaptation
// towards the mean; then a pixel shader exposes, bends by a filmic curve, corrects gamma and packs to 8 bits.

#define TILE 16
#define THREADS (TILE * TILE)

__device__ inline float luminance(float4 c) { return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z; }

__device__ inline float sum_of_block(float value, float* sums, int thread)
{
    sums[thread] = value;
    __syncthreads();
#pragma unroll
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (thread < stride)
            sums[thread] += sums[thread + stride];
        __syncthreads();
    }
    return sums[0];
}

extern "C" __global__ void __launch_bounds__(THREADS)
measure_tiles(cudaTextureObject_t picture, float* __restrict__ tile_sums, int width, int height)
{
    __shared__ float sums[THREADS];
    const int x = blockIdx.x * 2 * TILE + threadIdx.x;
    const int y = blockIdx.y * 2 * TILE + threadIdx.y;
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i)
            if (x + i * TILE < width && y + j * TILE < height) {
                const float4 colour = tex2D<float4>(picture, x + i * TILE + 0.5f, y + j * TILE + 0.5f);
                sum += __log2f(luminance(colour) + 1e-4f);
            }
    const int thread = threadIdx.y * TILE + threadIdx.x;
    sum = sum_of_block(sum, sums, thread);
    if (thread == 0)
        tile_sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
adapt(const float* __restrict__ tile_sums, float* __restrict__ adapted, int tiles, float pixels, float speed)
{
    __shared__ float sums[THREADS];
    float sum = 0.0f;
    for (int tile = threadIdx.x; tile < tiles; tile += THREADS)
        sum += tile_sums[tile];
    sum = sum_of_block(sum, sums, threadIdx.x);
    if (threadIdx.x == 0) {
        const float mean = exp2f(__fdividef(sum, pixels));
        adapted[0] += (mean - adapted[0]) * speed;
    }
}

// A ratio of two quadratic polynomials that rises steeply from a short toe and levels off below one.
__device__ inline float filmic(float x)
{
    const float shadows = x * (2.2f * x + 0.08f);
    const float highlights = x * (2.1f * x + 0.55f) + 0.16f;
    return __saturatef(__fdividef(shadows, highlights));
}

__device__ inline unsigned encoded(float value)
{
    return static_cast<unsigned>(255.0f * __powf(value, 1.0f / 2.2f) + 0.5f);
}

extern "C" __global__ void __launch_bounds__(THREADS)
expose(cudaTextureObject_t picture, const float* __restrict__ adapted, unsigned* __restrict__ packed, int width,
       int height, float key)
{
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = x + 0.5f;
    const float v = y + 0.5f;
    const float4 colour = tex2D<float4>(picture, u, v);
    const float exposure = __fdividef(key, adapted[0] + 1e-3f);
    const float across = __fdividef(u, width) - 0.5f;
    const float down = __fdividef(v, height) - 0.5f;
    const float vignette = exposure * __saturatef(1.1f - 0.9f * (across * across + down * down));
    const float grey = filmic(vignette * luminance(colour));
    const float red = filmic(vignette * colour.x);
    const float green = filmic(vignette * colour.y);
    const float blue = filmic(vignette * colour.z);
    const float saturation = 0.85f + 0.15f * grey;
    const unsigned r = encoded(grey + saturation * (red - grey));
    const unsigned g = encoded(grey + saturation * (green - grey));
    const unsigned b = encoded(grey + saturation * (blue - grey));
    packed[y * width + x] = r | g << 8 | b << 16 | 255u << 24;
}
