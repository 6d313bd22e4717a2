// A Gaussian blur of a colour image, four channels of a byte, in two ways.
// blur_texture: a thread sums a square of pixels that it fetches through a texture, as numbers from 0 to 1.
// blur_shared: a block of 16 x 16 threads copies its pixels with a halo to shared memory, sums along rows there, and
// after a barrier along columns.

#define RADIUS 4
#define TAPS (2 * RADIUS + 1)
#define TILE 16
#define WIDE (TILE + 2 * RADIUS)

__constant__ float weights[TAPS];

__device__ __forceinline__ unsigned char to_byte(float value)
{
    return (unsigned char)__float2int_rn(fminf(fmaxf(value, 0.0f), 255.0f));
}

__device__ __forceinline__ uchar4 to_pixel(float4 colour)
{
    return make_uchar4(to_byte(colour.x), to_byte(colour.y), to_byte(colour.z), to_byte(colour.w));
}

__device__ __forceinline__ void accumulate(float4& sum, float4 colour, float weight)
{
    sum.x += weight * colour.x;
    sum.y += weight * colour.y;
    sum.z += weight * colour.z;
    sum.w += weight * colour.w;
}

extern "C" __global__ void __launch_bounds__(TILE * TILE)
blur_texture(cudaTextureObject_t image, uchar4* __restrict__ output, int width, int height)
{
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    if (x >= width || y >= height)
        return;

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = -RADIUS; i <= RADIUS; ++i) {
        const float row_weight = 255.0f * weights[i + RADIUS];
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; ++j)
            accumulate(sum, tex2D<float4>(image, x + j + 0.5f, y + i + 0.5f), row_weight * weights[j + RADIUS]);
    }
    output[y * width + x] = to_pixel(sum);
}

extern "C" __global__ void __launch_bounds__(TILE * TILE)
blur_shared(const uchar4* __restrict__ input, uchar4* __restrict__ output, int width, int height)
{
    __shared__ uchar4 pixels[WIDE][WIDE];
    __shared__ float4 rows[WIDE][TILE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int x = blockIdx.x * TILE + tx;
    const int y = blockIdx.y * TILE + ty;

    for (int i = ty; i < WIDE; i += TILE) {
        const int row = min(max((int)(blockIdx.y * TILE) + i - RADIUS, 0), height - 1);
        for (int j = tx; j < WIDE; j += TILE) {
            const int col = min(max((int)(blockIdx.x * TILE) + j - RADIUS, 0), width - 1);
            pixels[i][j] = input[row * width + col];
        }
    }
    __syncthreads();

    for (int i = ty; i < WIDE; i += TILE) {
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
        for (int j = 0; j < TAPS; ++j) {
            const uchar4 pixel = pixels[i][tx + j];
            accumulate(sum, make_float4(pixel.x, pixel.y, pixel.z, pixel.w), weights[j]);
        }
        rows[i][tx] = sum;
    }
    __syncthreads();

    if (x >= width || y >= height)
        return;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < TAPS; ++i)
        accumulate(sum, rows[ty + i][tx], weights[i]);
    output[y * width + x] = to_pixel(sum);
}
