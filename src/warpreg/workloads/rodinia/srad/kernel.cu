// Speckle reducing anisotropic diffusion: each pixel takes from its neighbours what their diffusion coefficients let
// through, and these are small where the image varies by more than its noise.
//
// Neither version stores derivatives: who needs a difference takes it from the image, which lies in two buffers in
// turn. Without tiles, a kernel stores coefficients and another one uses them; a thread of the sums has 16 pixels.
// In tiles, both steps are one kernel: a block computes the coefficients of its 16 x 16 pixels and of those to the south
// and east, 17 x 17, from 19 x 19 pixels in shared memory.

constexpr int THREADS = 512;
constexpr int SHARE = 16;
constexpr int TILE = 16;
constexpr int COEFFICIENTS = TILE + 1;
constexpr int WINDOW = TILE + 3;

// With a pixel and its neighbours; noise is the squared coefficient of variation of the image.
__device__ __forceinline__ float
coefficient(float here, float north, float south, float west, float east, float noise)
{
    const float up = north - here, down = south - here, left = west - here, right = east - here;
    const float per_pixel = 1.0f / here;
    const double laplacian = (up + down + left + right) * per_pixel;
    const double gradient = (up * up + down * down + left * left + right * right) * per_pixel * per_pixel;
    // In double precision, as the difference of two numbers of one size.
    const float spread = static_cast<float>(gradient / 2 - laplacian * laplacian / 16);
    const float level = static_cast<float>(1 + laplacian / 4);
    const float variation = spread / (level * level);
    return __saturatef(1.0f / (1.0f + (variation - noise) / (noise * (1.0f + noise))));
}

extern "C" __global__ void __launch_bounds__(THREADS)
expand(int pixels, float* __restrict__ image)
{
    const int at = blockIdx.x * THREADS + threadIdx.x;
    if (at < pixels)
        image[at] = expf(image[at] / 255.0f);
}

extern "C" __global__ void __launch_bounds__(THREADS)
compress(int pixels, float* __restrict__ image)
{
    const int at = blockIdx.x * THREADS + threadIdx.x;
    if (at < pixels)
        image[at] = logf(image[at]) * 255.0f;
}

// Sums of a block in its first thread, x and y apart: halves are folded onto each other.
__device__ __forceinline__ float2 folded(float2 mine)
{
    __shared__ float2 others[THREADS / 2];

#pragma unroll
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x >= half && threadIdx.x < 2 * half)
            others[threadIdx.x - half] = mine;
        __syncthreads();
        if (threadIdx.x < half) {
            mine.x += others[threadIdx.x].x;
            mine.y += others[threadIdx.x].y;
        }
        __syncthreads();
    }
    return mine;
}

// Sums of the pixels and of their squares over 16 numbers a thread, which are loaded together.
extern "C" __global__ void __launch_bounds__(THREADS)
sum_pixels(int pixels, const float* __restrict__ image, float2* __restrict__ sums)
{
    float part[SHARE];
    const int first = blockIdx.x * THREADS * SHARE + threadIdx.x;
#pragma unroll
    for (int i = 0; i < SHARE; ++i)
        part[i] = first + i * THREADS < pixels ? image[first + i * THREADS] : 0.0f;

    float2 mine = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < SHARE; ++i) {
        mine.x += part[i];
        mine.y += part[i] * part[i];
    }
    mine = folded(mine);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = mine;
}

// One block adds up what the blocks of `sum_pixels` left.
extern "C" __global__ void __launch_bounds__(THREADS)
sum_blocks(int count, float2* __restrict__ sums)
{
    float2 mine = make_float2(0.0f, 0.0f);
    for (int at = threadIdx.x; at < count; at += THREADS) {
        mine.x += sums[at].x;
        mine.y += sums[at].y;
    }
    mine = folded(mine);
    if (threadIdx.x == 0)
        sums[0] = mine;
}

extern "C" __global__ void __launch_bounds__(THREADS)
conductance(int rows, int cols, float noise, const float* __restrict__ image, float* __restrict__ coefficients)
{
    const int at = blockIdx.x * THREADS + threadIdx.x;
    const int row = at / cols, col = at % cols;
    if (row >= rows)
        return;
    const float north = image[row > 0 ? at - cols : at];
    const float south = image[row + 1 < rows ? at + cols : at];
    const float west = image[col > 0 ? at - 1 : at];
    const float east = image[col + 1 < cols ? at + 1 : at];
    coefficients[at] = coefficient(image[at], north, south, west, east, noise);
}

// What flows to the north and west passes this pixel's coefficient, to the south and east the neighbour's.
extern "C" __global__ void __launch_bounds__(THREADS)
diffuse(int rows, int cols, double rate, const float* __restrict__ coefficients, const float* __restrict__ image,
        float* __restrict__ later)
{
    const int at = blockIdx.x * THREADS + threadIdx.x;
    const int row = at / cols, col = at % cols;
    if (row >= rows)
        return;
    const int north = row > 0 ? at - cols : at, south = row + 1 < rows ? at + cols : at;
    const int west = col > 0 ? at - 1 : at, east = col + 1 < cols ? at + 1 : at;
    const float here = image[at];
    const float gain = coefficients[at] * (image[north] - here + (image[west] - here))
                     + coefficients[south] * (image[south] - here) + coefficients[east] * (image[east] - here);
    later[at] = static_cast<float>(here + rate * gain);
}

extern "C" __global__ void __launch_bounds__(TILE * TILE)
diffuse_tile(int rows, int cols, float noise, float rate, const float* __restrict__ image, float* __restrict__ later)
{
    __shared__ float pixels[WINDOW][WINDOW];
    __shared__ float coefficients[COEFFICIENTS][COEFFICIENTS];

    const int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    const int thread = threadIdx.y * TILE + threadIdx.x;
    for (int cell = thread; cell < WINDOW * WINDOW; cell += TILE * TILE) {
        const int y = cell / WINDOW, x = cell % WINDOW;
        const int row = min(max(top + y - 1, 0), rows - 1), col = min(max(left + x - 1, 0), cols - 1);
        pixels[y][x] = image[row * cols + col];
    }
    __syncthreads();

    for (int cell = thread; cell < COEFFICIENTS * COEFFICIENTS; cell += TILE * TILE) {
        const int y = cell / COEFFICIENTS, x = cell % COEFFICIENTS;
        coefficients[y][x] = coefficient(pixels[y + 1][x + 1], pixels[y][x + 1], pixels[y + 2][x + 1],
                                         pixels[y + 1][x], pixels[y + 1][x + 2], noise);
    }
    __syncthreads();

    // A difference across the image's edge is zero, whatever the coefficient beyond it.
    const int y = threadIdx.y, x = threadIdx.x;
    const float here = pixels[y + 1][x + 1];
    const float around = pixels[y][x + 1] + pixels[y + 1][x] - 2.0f * here;
    const float gain = coefficients[y][x] * around + coefficients[y + 1][x] * (pixels[y + 2][x + 1] - here)
                     + coefficients[y][x + 1] * (pixels[y + 1][x + 2] - here);
    later[(top + y) * cols + left + x] = here + rate * gain;
}
