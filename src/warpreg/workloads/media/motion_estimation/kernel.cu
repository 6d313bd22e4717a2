// Where each macroblock of 16 x 16 pixels of a frame has moved from, as an H.264 encoder looks for it.
// full_search: whole pixels, one thread for each of 16 x 16 vectors, and how to divide the macroblock.
// interpolate: the frame before at half pixels.   refine: the best vectors to a quarter of a pixel.
// A vector costs the sum of absolute differences of its pixels and its bits. Quadrants count row by row.

#define SIDE 16
#define HALF 8
#define REACH 8
#define WINDOW (SIDE + 2 * REACH - 1)
#define PARTS 9
#define WARPS 8

__device__ __forceinline__ int bits(int number)
{
    const int code = number > 0 ? 2 * number - 1 : -2 * number;
    return 2 * (31 - __clz(code + 1)) + 1;
}

// Parts: the whole; upper, lower half; left, right half; the quadrants.
extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
full_search(cudaTextureObject_t frame, cudaTextureObject_t before, int penalty, int* __restrict__ modes,
            short2* __restrict__ vectors)
{
    __shared__ unsigned char current[SIDE][SIDE];
    __shared__ unsigned char window[WINDOW][WINDOW + 1];
    __shared__ unsigned best[WARPS][PARTS];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int thread = ty * SIDE + tx;
    const int left = blockIdx.x * SIDE;
    const int top = blockIdx.y * SIDE;

    current[ty][tx] = tex2D<unsigned char>(frame, left + tx, top + ty);
    for (int i = ty; i < WINDOW; i += SIDE) {
        for (int j = tx; j < WINDOW; j += SIDE)
            window[i][j] = tex2D<unsigned char>(before, left + j - REACH, top + i - REACH);
    }
    __syncthreads();

    unsigned quadrants[4];
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        unsigned west = 0;
        unsigned east = 0;
        for (int row = part * HALF; row < (part + 1) * HALF; ++row) {
#pragma unroll
            for (int col = 0; col < HALF; ++col) {
                west = __usad(current[row][col], window[ty + row][tx + col], west);
                east = __usad(current[row][col + HALF], window[ty + row][tx + col + HALF], east);
            }
        }
        quadrants[2 * part] = west;
        quadrants[2 * part + 1] = east;
    }

    const unsigned vector_cost = penalty * (bits(4 * (tx - REACH)) + bits(4 * (ty - REACH)));
    unsigned keys[PARTS] = {
        quadrants[0] + quadrants[1] + quadrants[2] + quadrants[3],
        quadrants[0] + quadrants[1], quadrants[2] + quadrants[3],
        quadrants[0] + quadrants[2], quadrants[1] + quadrants[3],
        quadrants[0], quadrants[1], quadrants[2], quadrants[3],
    };
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
        unsigned key = (keys[part] + vector_cost) << 8 | thread;
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
            key = min(key, __shfl_xor_sync(0xffffffffu, key, distance));
        if (thread % 32 == 0)
            best[thread / 32][part] = key;
    }
    __syncthreads();

    if (thread < PARTS) {
        unsigned key = best[0][thread];
        for (int warp = 1; warp < WARPS; ++warp)
            key = min(key, best[warp][thread]);
        best[0][thread] = key;
    }
    __syncthreads();

    if (thread < 4) {
        const unsigned* chosen = best[0];
        const int whole = (chosen[0] >> 8) + penalty;
        const int rows = (chosen[1] >> 8) + (chosen[2] >> 8) + 3 * penalty;
        const int cols = (chosen[3] >> 8) + (chosen[4] >> 8) + 3 * penalty;
        const int quarters = (chosen[5] >> 8) + (chosen[6] >> 8) + (chosen[7] >> 8) + (chosen[8] >> 8) + 5 * penalty;
        int mode = 0;
        int least = whole;
        int part = 0;
        if (rows < least) {
            mode = 1;
            least = rows;
            part = 1 + thread / 2;
        }
        if (cols < least) {
            mode = 2;
            least = cols;
            part = 3 + thread % 2;
        }
        if (quarters < least) {
            mode = 3;
            part = 5 + thread;
        }
        const int candidate = chosen[part] & 0xff;
        const int macroblock = blockIdx.y * gridDim.x + blockIdx.x;
        vectors[4 * macroblock + thread] = make_short2(4 * (candidate % SIDE - REACH), 4 * (candidate / SIDE - REACH));
        if (thread == 0)
            modes[macroblock] = mode;
    }
}

__device__ __forceinline__ int six_taps(int a, int b, int c, int d, int e, int f)
{
    return a - 5 * b + 20 * c + 20 * d - 5 * e + f;
}

__device__ __forceinline__ unsigned char to_byte(int value)
{
    return (unsigned char)min(max(value, 0), 255);
}

// Four planes: whole pixels, half a pixel to the right, half a pixel down, and both.
extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
interpolate(cudaTextureObject_t before, unsigned char* __restrict__ planes, int width, int height)
{
    const int x = blockIdx.x * SIDE + threadIdx.x;
    const int y = blockIdx.y * SIDE + threadIdx.y;
    if (x >= width || y >= height)
        return;

    int across[6], down[6];
#pragma unroll
    for (int i = 0; i < 6; ++i) {
        int row[6];
#pragma unroll
        for (int j = 0; j < 6; ++j)
            row[j] = tex2D<unsigned char>(before, x + j - 2, y + i - 2);
        across[i] = six_taps(row[0], row[1], row[2], row[3], row[4], row[5]);
        down[i] = row[2];
    }
    const int both = six_taps(across[0], across[1], across[2], across[3], across[4], across[5]);

    const int plane = width * height;
    const int pixel = y * width + x;
    planes[pixel] = down[2];
    planes[plane + pixel] = to_byte((across[2] + 16) >> 5);
    planes[2 * plane + pixel] = to_byte((six_taps(down[0], down[1], down[2], down[3], down[4], down[5]) + 16) >> 5);
    planes[3 * plane + pixel] = to_byte((both + 512) >> 10);
}

// A sample at half pixels.
__device__ __forceinline__ int half_sample(cudaTextureObject_t planes, int x, int y)
{
    return tex2DLayered<unsigned char>(planes, x >> 1, y >> 1, (x & 1) + 2 * (y & 1));
}

// A sample at quarters of pixels: between two half pixels the mean of both; in the middle of four the mean of the two
// that lie half a pixel off in one direction only.
__device__ __forceinline__ int quarter_sample(cudaTextureObject_t planes, int x, int y)
{
    const int left = x >> 1;
    const int top = y >> 1;
    const int right = (x + 1) >> 1;
    const int bottom = (y + 1) >> 1;
    const bool falling = (x & 1) && (y & 1) && !((left + top) & 1);
    const int first = half_sample(planes, falling ? right : left, top);
    const int second = half_sample(planes, falling ? left : right, bottom);
    return (first + second + 1) >> 1;
}

// A block is a macroblock: 64 threads a quadrant, one a pixel.
extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
refine(cudaTextureObject_t frame, cudaTextureObject_t planes, int penalty, const int* __restrict__ modes,
       short2* __restrict__ vectors, int* __restrict__ costs)
{
    __shared__ int sums[9][WARPS];

    const int thread = threadIdx.x;
    const int quadrant = thread / 64;
    const int macroblock = blockIdx.y * gridDim.x + blockIdx.x;
    const int x = blockIdx.x * SIDE + quadrant % 2 * HALF + thread % HALF;
    const int y = blockIdx.y * SIDE + quadrant / 2 * HALF + thread % 64 / HALF;
    const int pixel = tex2D<unsigned char>(frame, x, y);
    const int mode = modes[macroblock];
    short2 vector = vectors[4 * macroblock + quadrant];
    int least = 0;

    for (int step = 2; step > 0; --step) {
        for (int candidate = 0; candidate < 9; ++candidate) {
            const int from_x = 4 * x + vector.x + step * (candidate % 3 - 1);
            const int from_y = 4 * y + vector.y + step * (candidate / 3 - 1);
            int difference = abs(pixel - quarter_sample(planes, from_x, from_y));
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2)
                difference += __shfl_xor_sync(0xffffffffu, difference, distance);
            if (thread % 32 == 0)
                sums[candidate][thread / 32] = difference;
        }
        __syncthreads();

        int key = 0x7fffffff;
        for (int candidate = 0; candidate < 9; ++candidate) {
            int cost = penalty * (bits(vector.x + step * (candidate % 3 - 1))
                                  + bits(vector.y + step * (candidate / 3 - 1)));
#pragma unroll
            for (int other = 0; other < 4; ++other) {
                const bool together = mode == 0 || (mode == 1 && other / 2 == quadrant / 2)
                                   || (mode == 2 && other % 2 == quadrant % 2) || other == quadrant;
                if (together)
                    cost += sums[candidate][2 * other] + sums[candidate][2 * other + 1];
            }
            key = min(key, cost << 4 | candidate);
        }
        least = key >> 4;
        vector.x += step * ((key & 15) % 3 - 1);
        vector.y += step * ((key & 15) / 3 - 1);
        __syncthreads();
    }

    if (thread % 64 == 0) {
        vectors[4 * macroblock + quadrant] = vector;
        costs[4 * macroblock + quadrant] = least;
    }
}
