// Exclusive prefix sums of arrays in blocks of 1024 elements, four a thread, and the way from blocks to large arrays.
//
// Sums of threads are scanned in shared memory with distances that halve down to one: after a step, a sum covers the
// threads of its array that lie a multiple of the distance before it. Two rows of shared memory alternate, so that a
// step takes one barrier. Each array leaves its total for the scan one level up.

constexpr int THREADS = 256;

// The sum of ``value`` over the threads of an array up to this one; ``place`` is its number among ``threads``.
__device__ unsigned inclusive_sum(unsigned value, int place, int threads) {
    __shared__ unsigned rows[2][THREADS];
    int row = 0;
    for (int distance = threads / 2; distance > 0; distance /= 2, row ^= 1) {
        rows[row][threadIdx.x] = value;
        __syncthreads();
        if (place >= distance)
            value += rows[row][threadIdx.x - distance];
    }
    return value;
}

// Arrays of four elements for each of ``1 << log_threads`` threads, one or more to a block.
extern "C" __global__ void scan_arrays(const uint4 *values, uint4 *sums, unsigned *totals, int log_threads) {
    int threads = 1 << log_threads, place = threadIdx.x & (threads - 1);
    int thread = blockIdx.x * THREADS + threadIdx.x;
    uint4 four = values[thread];
    unsigned own = four.x + four.y + four.z + four.w;
    unsigned through = inclusive_sum(own, place, threads);

    if (place == threads - 1)
        totals[thread >> log_threads] = through;
    unsigned before = through - own;
    sums[thread] = {before, before + four.x, before + four.x + four.y, through - four.w};
}

// What comes before each block of an array, from the blocks' totals; a block an array.
extern "C" __global__ void scan_totals(unsigned *totals, int count) {
    int place = threadIdx.x;
    totals += blockIdx.x * count;
    unsigned total = place < count ? totals[place] : 0;
    unsigned through = inclusive_sum(total, place, THREADS);
    if (place < count)
        totals[place] = through - total;
}

// The first block of an array stays as it is: block x of the grid is block x + 1 of array y.
extern "C" __global__ void add_what_comes_before(uint4 *sums, const unsigned *before) {
    int block = blockIdx.y * (gridDim.x + 1) + blockIdx.x + 1;
    uint4 &four = sums[block * THREADS + threadIdx.x];
    unsigned shift = before[block];
    four = {four.x + shift, four.y + shift, four.z + shift, four.w + shift};
}
