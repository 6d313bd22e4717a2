// A convolution of an image with the product of two equal filters of 17 weights: along rows, then along columns. Beyond
// its edges the image is zero. Each launch copies a tile and its halo to shared memory as vectors of four, then each
// thread runs over the taps once for eight results together: along rows in 4 rows and 2 columns that lie 64 apart,
// along columns in 4 adjacent columns and 2 rows that lie 16 apart.

constexpr int RADIUS = 8;
constexpr int TAPS = 2 * RADIUS + 1;

__constant__ float weights[TAPS];

__device__ void add_weighted(float4& sums, float weight, float4 values)
{
    sums.x += weight * values.x;
    sums.y += weight * values.y;
    sums.z += weight * values.z;
    sums.w += weight * values.w;
}

constexpr int STRIP_WIDTH = 128, STRIP_ROWS = 4, STRIP_THREADS = 64;
constexpr int STRIP_QUADS = (STRIP_WIDTH + 2 * RADIUS) / 4;  // vectors of four in a row of the tile

extern "C" __global__ void __launch_bounds__(STRIP_THREADS)
convolve_rows(float* __restrict__ result, const float* __restrict__ image, int width)
{
    __shared__ float4 tile[STRIP_ROWS][STRIP_QUADS];

    const int top = blockIdx.y * STRIP_ROWS, left = blockIdx.x * STRIP_WIDTH;
    for (int number = threadIdx.x; number < STRIP_ROWS * STRIP_QUADS; number += STRIP_THREADS) {
        const int row = number / STRIP_QUADS, quad = number % STRIP_QUADS;
        const int column = left - RADIUS + 4 * quad;
        const bool inside = 0 <= column && column < width;
        tile[row][quad] = inside ? *(const float4*)&image[(top + row) * width + column] : float4{};
    }
    __syncthreads();

    float sums[STRIP_ROWS][2] = {};
    #pragma unroll
    for (int tap = 0; tap < TAPS; tap++) {
        #pragma unroll
        for (int row = 0; row < STRIP_ROWS; row++) {
            const float* values = (const float*)tile[row] + threadIdx.x + tap;
            sums[row][0] += weights[TAPS - 1 - tap] * values[0];
            sums[row][1] += weights[TAPS - 1 - tap] * values[STRIP_THREADS];
        }
    }

    result += top * width + left + threadIdx.x;
    #pragma unroll
    for (int row = 0; row < STRIP_ROWS; row++) {
        result[row * width] = sums[row][0];
        result[row * width + STRIP_THREADS] = sums[row][1];
    }
}

constexpr int TILE_SIDE = 32, TILE_QUADS = TILE_SIDE / 4, HALF = TILE_SIDE / 2;

extern "C" __global__ void __launch_bounds__(TILE_QUADS * HALF)
convolve_columns(float4* __restrict__ result, const float4* __restrict__ image, int quads, int height)
{
    __shared__ float4 tile[TILE_SIDE + 2 * RADIUS][TILE_QUADS];

    const int quad = blockIdx.x * TILE_QUADS + threadIdx.x, top = blockIdx.y * TILE_SIDE;
    #pragma unroll
    for (int row = threadIdx.y; row < TILE_SIDE + 2 * RADIUS; row += HALF) {
        const int source = top - RADIUS + row;
        tile[row][threadIdx.x] = 0 <= source && source < height ? image[source * quads + quad] : float4{};
    }
    __syncthreads();

    float4 upper = {}, lower = {};
    #pragma unroll
    for (int tap = 0; tap < TAPS; tap++) {
        const float weight = weights[TAPS - 1 - tap];
        add_weighted(upper, weight, tile[threadIdx.y + tap][threadIdx.x]);
        add_weighted(lower, weight, tile[threadIdx.y + HALF + tap][threadIdx.x]);
    }
    result += (top + threadIdx.y) * quads + quad;
    result[0] = upper;
    result[HALF * quads] = lower;
}
