// A baseline JPEG encoder, one scan a component: colour conversion with chroma at half the resolution, an integer
// cosine transform of blocks of 8 x 8 with quantisation, and an entropy stage: symbols are counted, and once the host
// has made a Huffman code of the counts, each block's bits are counted, placed by a prefix sum, and packed.

#define SIDE 8
#define PIXELS (SIDE * SIDE)
#define BLOCKS 8
#define DC_SYMBOLS 256
#define SYMBOLS (DC_SYMBOLS + 16)
#define ZERO_RUN 0xf0
#define SCAN_THREADS 256

// Words of a code, least significant bits last, over their lengths; places of a block's coefficients in order of
// frequency; what coefficients are divided by, times eight.
__constant__ unsigned codes[SYMBOLS];
__constant__ unsigned char order[PIXELS];
__constant__ int divisors[PIXELS];

// One thread for 2 x 2 pixels; pixels beyond the image repeat its edge. Weights are in 65536ths.
extern "C" __global__ void __launch_bounds__(256)
convert_colour(const uchar4* __restrict__ image, int width, int height, unsigned char* __restrict__ luma,
               unsigned char* __restrict__ blue, unsigned char* __restrict__ red, int quad_cols, int quad_rows)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= quad_cols || row >= quad_rows)
        return;

    int blue_sum = 0;
    int red_sum = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const int y = 2 * row + i;
            const int x = 2 * col + j;
            const uchar4 pixel = image[min(y, height - 1) * width + min(x, width - 1)];
            const int r = pixel.x;
            const int g = pixel.y;
            const int b = pixel.z;
            luma[y * 2 * quad_cols + x] = (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;
            blue_sum += (-11059 * r - 21709 * g + 32768 * b + 8421375) >> 16;
            red_sum += (32768 * r - 27439 * g - 5329 * b + 8421375) >> 16;
        }
    }
    blue[row * quad_cols + col] = (blue_sum + 2) >> 2;
    red[row * quad_cols + col] = (red_sum + 2) >> 2;
}

// Eight frequencies of eight values, sqrt(8) times too large. Constants are sqrt(2) cos(k pi / 16) in 8192ths; the
// first and the fifth frequency are scaled by `up` bits, the others rounded down by `down` bits.
__device__ __forceinline__ void transform(int (&v)[SIDE], int up, int down)
{
    const int half = 1 << (down - 1);
    const int s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
    const int d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
    const int outer = s0 - s3, inner = s1 - s2;
    v[0] = up >= 0 ? (s0 + s1 + s2 + s3) << up : (s0 + s1 + s2 + s3 + (1 << (-up - 1))) >> -up;
    v[4] = up >= 0 ? (s0 - s1 - s2 + s3) << up : (s0 - s1 - s2 + s3 + (1 << (-up - 1))) >> -up;
    v[2] = (10703 * outer + 4433 * inner + half) >> down;
    v[6] = (4433 * outer - 10703 * inner + half) >> down;
    v[1] = (11363 * d0 + 9633 * d1 + 6436 * d2 + 2260 * d3 + half) >> down;
    v[3] = (9633 * d0 - 2260 * d1 - 11363 * d2 - 6436 * d3 + half) >> down;
    v[5] = (6436 * d0 - 11363 * d1 + 2260 * d2 + 9633 * d3 + half) >> down;
    v[7] = (2260 * d0 - 6436 * d1 + 9633 * d2 - 11363 * d3 + half) >> down;
}

// Eight threads a block of pixels, one a row and then one a column; levels are stored in order of frequency.
extern "C" __global__ void __launch_bounds__(SIDE * BLOCKS)
transform_blocks(const unsigned char* __restrict__ plane, short* __restrict__ levels, int block_cols, int count)
{
    __shared__ int values[BLOCKS][PIXELS + 1];

    const int lane = threadIdx.x;
    const int block = blockIdx.x * BLOCKS + threadIdx.y;
    const bool there = block < count;
    int* mine = values[threadIdx.y];
    int v[SIDE];

    if (there) {
        const int first = (block / block_cols * SIDE + lane) * block_cols * SIDE + block % block_cols * SIDE;
        const uint2 packed = *reinterpret_cast<const uint2*>(plane + first);
#pragma unroll
        for (int i = 0; i < SIDE; ++i)
            v[i] = (int)((i < 4 ? packed.x : packed.y) >> (i % 4 * 8) & 0xff) - 128;
        transform(v, 2, 11);
#pragma unroll
        for (int i = 0; i < SIDE; ++i)
            mine[lane * SIDE + i] = v[i];
    }
    __syncthreads();
    if (there) {
#pragma unroll
        for (int i = 0; i < SIDE; ++i)
            v[i] = mine[i * SIDE + lane];
        transform(v, -2, 15);
#pragma unroll
        for (int i = 0; i < SIDE; ++i) {
            const int divisor = divisors[i * SIDE + lane];
            const int level = (abs(v[i]) + divisor / 2) / divisor;
            mine[i * SIDE + lane] = v[i] < 0 ? -level : level;
        }
    }
    __syncthreads();
    if (there) {
#pragma unroll
        for (int i = 0; i < SIDE; ++i)
            levels[block * PIXELS + i * SIDE + lane] = mine[order[i * SIDE + lane]];
    }
}

// Calls `visit(symbol, extra bits, their count)` for everything that a block writes: the difference of its mean to the
// block before, then each level that is not zero with the zeros before it, and an end if zeros follow.
template <class Visit> __device__ __forceinline__ void for_each_symbol(const short* levels, int block, Visit visit)
{
    const short* mine = levels + block * PIXELS;
    const int difference = mine[0] - (block > 0 ? mine[-PIXELS] : 0);
    const int size = 32 - __clz(abs(difference));
    visit(DC_SYMBOLS + size, (difference - (difference < 0)) & ((1 << size) - 1), size);

    int zeros = 0;
    for (int i = 1; i < PIXELS; ++i) {
        const int level = mine[i];
        if (level == 0) {
            ++zeros;
            continue;
        }
        for (; zeros > 15; zeros -= 16)
            visit(ZERO_RUN, 0, 0);
        const int bits = 32 - __clz(abs(level));
        visit(zeros << 4 | bits, (level - (level < 0)) & ((1 << bits) - 1), bits);
        zeros = 0;
    }
    if (zeros > 0)
        visit(0, 0, 0);
}

extern "C" __global__ void __launch_bounds__(64)
count_symbols(const short* __restrict__ levels, int count, unsigned* __restrict__ counts)
{
    __shared__ unsigned mine[SYMBOLS];
    for (int i = threadIdx.x; i < SYMBOLS; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();

    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block < count)
        for_each_symbol(levels, block, [&](int symbol, unsigned, int) { atomicAdd(&mine[symbol], 1u); });
    __syncthreads();

    for (int i = threadIdx.x; i < SYMBOLS; i += blockDim.x) {
        if (mine[i] > 0)
            atomicAdd(&counts[i], mine[i]);
    }
}

extern "C" __global__ void __launch_bounds__(64)
count_bits(const short* __restrict__ levels, int count, unsigned* __restrict__ lengths)
{
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= count)
        return;
    unsigned length = 0;
    for_each_symbol(levels, block, [&](int symbol, unsigned, int extra) { length += (codes[symbol] & 0xff) + extra; });
    lengths[block] = length;
}

// One block of threads: where each block's bits start; their sum behind the last.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
place_bits(const unsigned* __restrict__ lengths, int count, unsigned* __restrict__ places)
{
    __shared__ unsigned sums[SCAN_THREADS];
    const int thread = threadIdx.x;

    unsigned before = 0;
    for (int base = 0; base < count; base += SCAN_THREADS) {
        const unsigned length = base + thread < count ? lengths[base + thread] : 0;
        sums[thread] = length;
        __syncthreads();
        for (int distance = 1; distance < SCAN_THREADS; distance *= 2) {
            const unsigned other = thread >= distance ? sums[thread - distance] : 0;
            __syncthreads();
            sums[thread] += other;
            __syncthreads();
        }
        if (base + thread < count)
            places[base + thread] = before + sums[thread] - length;
        before += sums[SCAN_THREADS - 1];
        __syncthreads();
    }
    if (thread == 0)
        places[count] = before;
}

// Bits fill 32-bit words from the top. A thread's first and last word may have bits of other threads too.
extern "C" __global__ void __launch_bounds__(64)
pack_bits(const short* __restrict__ levels, int count, const unsigned* __restrict__ places, unsigned* __restrict__ words)
{
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= count)
        return;

    unsigned place = places[block] / 32;
    int filled = places[block] % 32;
    unsigned word = 0;
    auto append = [&](unsigned bits, int length) {
        if (length == 0)
            return;
        const int free = 32 - filled;
        if (length < free) {
            word |= bits << (free - length);
            filled += length;
            return;
        }
        atomicOr(&words[place++], word | bits >> (length - free));
        filled = length - free;
        word = filled > 0 ? bits << (32 - filled) : 0;
    };
    for_each_symbol(levels, block, [&](int symbol, unsigned extra, int size) {
        append(codes[symbol] >> 8, codes[symbol] & 0xff);
        append(extra, size);
    });
    if (filled > 0)
        atomicOr(&words[place], word);
}
