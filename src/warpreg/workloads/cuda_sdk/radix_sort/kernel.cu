// Radix sort of keys with values, four bits at a time from the lowest. Each pass has four steps: blocks sort 1024
// elements by the four bits in shared memory, one bit after the other, by the prefix sums of a predicate; half-blocks
// of 512 find where each of the sixteen digits begins and how often it occurs; the counts of all half-blocks, digit by
// digit, are scanned; half-blocks copy their elements, digit by digit in a row, to where they belong.
// (Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs", 2009.)

typedef unsigned int uint;

#define THREADS 256
#define WARP 32
#define WARPS (THREADS / WARP)
#define DIGIT_BITS 4
#define DIGITS (1 << DIGIT_BITS)

// The sum of `value` over lanes up to this one, through shared memory of two warps' width, the lower half of it zero.
__device__ uint scan_warp(uint value, volatile uint* sums)
{
    const uint place = 2 * threadIdx.x - (threadIdx.x & (WARP - 1));
    sums[place] = 0;
    const uint mine = place + WARP;
    sums[mine] = value;
    #pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2) {
        const uint other = sums[mine - distance];
        __syncwarp();
        sums[mine] = value = value + other;
        __syncwarp();
    }
    return value;
}

// Sums over all elements of the block before each of the thread's four; all threads take part.
__device__ uint4 scan_block(uint4 elements)
{
    __shared__ uint sums[2 * THREADS];

    const uint first = elements.x;
    const uint second = first + elements.y;
    const uint third = second + elements.z;
    const uint all = third + elements.w;

    uint before = scan_warp(all, sums);
    __syncthreads();
    const uint warp = threadIdx.x / WARP;
    if ((threadIdx.x & (WARP - 1)) == WARP - 1)
        sums[warp] = before;
    __syncthreads();
    if (threadIdx.x < WARP) {
        const uint of_warp = threadIdx.x < WARPS ? sums[threadIdx.x] : 0;
        __syncwarp();
        const uint scanned = scan_warp(of_warp, sums);
        __syncwarp();
        sums[threadIdx.x] = scanned - of_warp;
    }
    __syncthreads();
    before += sums[warp] - all;
    __syncthreads();
    return make_uint4(before, before + first, before + second, before + third);
}

// Where each of the thread's four elements goes if those with the predicate come first.
__device__ uint4 rank_block(uint4 has)
{
    __shared__ uint with_predicate;

    const uint4 before = scan_block(has);
    if (threadIdx.x == THREADS - 1)
        with_predicate = before.w + has.w;
    __syncthreads();

    const uint i = threadIdx.x * 4;
    uint4 rank;
    rank.x = has.x ? before.x : with_predicate + i - before.x;
    rank.y = has.y ? before.y : with_predicate + i + 1 - before.y;
    rank.z = has.z ? before.z : with_predicate + i + 2 - before.z;
    rank.w = has.w ? before.w : with_predicate + i + 3 - before.w;
    return rank;
}

// Gives every thread its next four elements; ranks are spread over four regions, which keeps banks apart.
__device__ uint4 exchange(uint4 elements, uint4 rank, uint* area)
{
    area[(rank.x & 3) * THREADS + (rank.x >> 2)] = elements.x;
    area[(rank.y & 3) * THREADS + (rank.y >> 2)] = elements.y;
    area[(rank.z & 3) * THREADS + (rank.z >> 2)] = elements.z;
    area[(rank.w & 3) * THREADS + (rank.w >> 2)] = elements.w;
    __syncthreads();
    const uint4 next = make_uint4(area[threadIdx.x], area[threadIdx.x + THREADS], area[threadIdx.x + 2 * THREADS],
                                  area[threadIdx.x + 3 * THREADS]);
    __syncthreads();
    return next;
}

extern "C" __global__ void __launch_bounds__(THREADS)
sort_blocks(uint4* out_keys, uint4* out_values, const uint4* in_keys, const uint4* in_values, uint first_bit)
{
    __shared__ uint area[4 * THREADS];

    const uint i = blockIdx.x * THREADS + threadIdx.x;
    uint4 keys = in_keys[i];
    uint4 values = in_values[i];
    for (uint bit = first_bit; bit < first_bit + DIGIT_BITS; ++bit) {
        const uint4 zero = make_uint4(!((keys.x >> bit) & 1), !((keys.y >> bit) & 1), !((keys.z >> bit) & 1),
                                      !((keys.w >> bit) & 1));
        const uint4 rank = rank_block(zero);
        keys = exchange(keys, rank, area);
        values = exchange(values, rank, area);
    }
    out_keys[i] = keys;
    out_values[i] = values;
}

// Of each half-block: where a digit begins, in `starts`, and how often it occurs, in `counts`, a row a digit.
extern "C" __global__ void __launch_bounds__(THREADS)
find_digits(const uint2* keys, uint* counts, uint* starts, uint first_bit, uint half_blocks)
{
    __shared__ uint digits[2 * THREADS];
    __shared__ uint begins[DIGITS];

    const uint t = threadIdx.x;
    const uint2 pair = keys[blockIdx.x * THREADS + t];
    digits[2 * t] = (pair.x >> first_bit) & (DIGITS - 1);
    digits[2 * t + 1] = (pair.y >> first_bit) & (DIGITS - 1);
    if (t < DIGITS)
        begins[t] = 0;
    __syncthreads();

    if (t > 0 && digits[t] != digits[t - 1])
        begins[digits[t]] = t;
    if (digits[t + THREADS] != digits[t + THREADS - 1])
        begins[digits[t + THREADS]] = t + THREADS;
    __syncthreads();
    if (t < DIGITS)
        starts[blockIdx.x * DIGITS + t] = begins[t];
    __syncthreads();

    // From where a digit ends its beginning is subtracted; digits that do not occur have neither.
    if (t > 0 && digits[t] != digits[t - 1])
        begins[digits[t - 1]] = t - begins[digits[t - 1]];
    if (digits[t + THREADS] != digits[t + THREADS - 1])
        begins[digits[t + THREADS - 1]] = t + THREADS - begins[digits[t + THREADS - 1]];
    if (t == THREADS - 1)
        begins[digits[2 * THREADS - 1]] = 2 * THREADS - begins[digits[2 * THREADS - 1]];
    __syncthreads();
    if (t < DIGITS)
        counts[t * half_blocks + blockIdx.x] = begins[t];
}

// Exclusive sums of blocks of 1024 numbers, and the blocks' own sums if they are wanted.
extern "C" __global__ void __launch_bounds__(THREADS)
scan_counts(uint4* numbers, uint* block_sums, uint n)
{
    const uint i = blockIdx.x * THREADS + threadIdx.x;
    const uint4 mine = 4 * i < n ? numbers[i] : make_uint4(0, 0, 0, 0);
    const uint4 before = scan_block(mine);
    if (4 * i < n)
        numbers[i] = before;
    if (block_sums && threadIdx.x == THREADS - 1)
        block_sums[blockIdx.x] = before.w + mine.w;
}

extern "C" __global__ void __launch_bounds__(THREADS)
add_block_sums(uint4* numbers, const uint* block_sums, uint n)
{
    __shared__ uint sum;
    if (threadIdx.x == 0)
        sum = block_sums[blockIdx.x];
    __syncthreads();

    const uint i = blockIdx.x * THREADS + threadIdx.x;
    if (4 * i < n) {
        uint4 mine = numbers[i];
        mine.x += sum;
        mine.y += sum;
        mine.z += sum;
        mine.w += sum;
        numbers[i] = mine;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
reorder(uint* out_keys, uint* out_values, const uint2* in_keys, const uint2* in_values, const uint* starts,
        const uint* offsets, uint first_bit, uint half_blocks)
{
    __shared__ uint2 keys_of_pairs[THREADS];
    __shared__ uint2 values_of_pairs[THREADS];
    __shared__ uint to[DIGITS];
    __shared__ uint from[DIGITS];

    const uint t = threadIdx.x;
    keys_of_pairs[t] = in_keys[blockIdx.x * THREADS + t];
    values_of_pairs[t] = in_values[blockIdx.x * THREADS + t];
    if (t < DIGITS) {
        to[t] = offsets[t * half_blocks + blockIdx.x];
        from[t] = starts[blockIdx.x * DIGITS + t];
    }
    __syncthreads();

    const uint* keys = (const uint*)keys_of_pairs;
    const uint* values = (const uint*)values_of_pairs;
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
        const uint place = t + half * THREADS;
        const uint digit = (keys[place] >> first_bit) & (DIGITS - 1);
        const uint target = to[digit] + place - from[digit];
        out_keys[target] = keys[place];
        out_values[target] = values[place];
    }
}
