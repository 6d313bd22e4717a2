// Exclusive prefix sums of large arrays. A block of 256 threads scans 1024 elements, four a thread: each thread sums its
// four, the block scans the 256 sums in shared memory by doubling distances, and each thread adds what comes before it.
// For longer arrays the last elements of all blocks are scanned in turn and added to every block.

#define THREADS 256

__device__ inline unsigned scan_inclusive(unsigned value, volatile unsigned* data, unsigned size)
{
    unsigned place = 2 * threadIdx.x - (threadIdx.x & (size - 1));
    data[place] = 0;
    place += size;
    data[place] = value;
    for (unsigned offset = 1; offset < size; offset <<= 1) {
        __syncthreads();
        const unsigned sum = data[place] + data[place - offset];
        __syncthreads();
        data[place] = sum;
    }
    return data[place];
}

__device__ inline unsigned scan_exclusive(unsigned value, volatile unsigned* data, unsigned size)
{
    return scan_inclusive(value, data, size) - value;
}

__device__ inline uint4 scan_four(uint4 values, volatile unsigned* data, unsigned size)
{
    values.y += values.x;
    values.z += values.y;
    values.w += values.z;
    const unsigned before = scan_exclusive(values.w, data, size / 4);
    values.x += before;
    values.y += before;
    values.z += before;
    values.w += before;
    return values;
}

__device__ inline uint4 scan_four_exclusive(uint4 values, volatile unsigned* data, unsigned size)
{
    const uint4 sums = scan_four(values, data, size);
    return make_uint4(sums.x - values.x, sums.y - values.y, sums.z - values.z, sums.w - values.w);
}

extern "C" __global__ void __launch_bounds__(THREADS)
scan_exclusive_shared(uint4* out, const uint4* in, unsigned size)
{
    __shared__ unsigned data[2 * THREADS];
    const unsigned place = blockIdx.x * blockDim.x + threadIdx.x;
    out[place] = scan_four_exclusive(in[place], data, size);
}

// The sums of the blocks before: from the last results and last elements of the first pass.
extern "C" __global__ void __launch_bounds__(THREADS)
scan_block_sums(unsigned* sums, const unsigned* results, const unsigned* elements, unsigned count, unsigned length)
{
    __shared__ unsigned data[2 * THREADS];
    const unsigned place = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned last = 0;
    if (place < count)
        last = results[4 * THREADS - 1 + 4 * THREADS * place] + elements[4 * THREADS - 1 + 4 * THREADS * place];
    const unsigned before = scan_exclusive(last, data, length);
    if (place < count)
        sums[place] = before;
}

extern "C" __global__ void __launch_bounds__(THREADS) add_block_sums(uint4* data, const unsigned* sums)
{
    __shared__ unsigned sum;
    const unsigned place = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        sum = sums[blockIdx.x];
    __syncthreads();
    uint4 four = data[place];
    four.x += sum;
    four.y += sum;
    four.z += sum;
    four.w += sum;
    data[place] = four;
}
