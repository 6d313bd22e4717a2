// A histogram of 64 bins. Each thread counts in bytes of its own in shared memory, 64 of them, so that no atomics are
// needed; it must stop before a byte can overflow. Then the block adds up the threads' counts, and a second kernel the
// blocks' histograms. Threads that share a bank take turns through the permuted place of their bytes.

#define BINS 64
#define THREADS 64
#define MERGE_THREADS 256

__device__ inline void count_byte(unsigned char* base, unsigned value)
{
    base[value * THREADS]++;
}

__device__ inline void count_word(unsigned char* base, unsigned word)
{
    count_byte(base, word >> 2 & 0x3FU);
    count_byte(base, word >> 10 & 0x3FU);
    count_byte(base, word >> 18 & 0x3FU);
    count_byte(base, word >> 26 & 0x3FU);
}

extern "C" __global__ void __launch_bounds__(THREADS) histogram64(unsigned* partial, const uint4* data, unsigned words4)
{
    // Bits 4 and 5 of the thread's number trade places with bits 0 to 3: four neighbours share a word, and banks differ.
    const unsigned place = (threadIdx.x & ~(THREADS - 1)) | (threadIdx.x & 0x0FU) << 2 | (threadIdx.x & 0x30U) >> 4;
    __shared__ unsigned char counts[THREADS * BINS];
    unsigned char* base = counts + place;

    #pragma unroll
    for (unsigned i = 0; i < BINS / 4; i++)
        ((unsigned*)counts)[threadIdx.x + i * THREADS] = 0;
    __syncthreads();

    for (unsigned position = blockIdx.x * blockDim.x + threadIdx.x; position < words4;
         position += blockDim.x * gridDim.x) {
        const uint4 four = data[position];
        count_word(base, four.x);
        count_word(base, four.y);
        count_word(base, four.z);
        count_word(base, four.w);
    }
    __syncthreads();

    // A thread adds up one bin, starting at its own word, so that banks differ.
    if (threadIdx.x < BINS) {
        unsigned char* bin = counts + threadIdx.x * THREADS;
        unsigned sum = 0;
        unsigned word = 4 * (threadIdx.x & 15);
        #pragma unroll
        for (unsigned i = 0; i < THREADS / 4; i++) {
            sum += bin[word + 0] + bin[word + 1] + bin[word + 2] + bin[word + 3];
            word = (word + 4) & (THREADS - 1);
        }
        partial[blockIdx.x * BINS + threadIdx.x] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(MERGE_THREADS)
merge_histograms(unsigned* histogram, const unsigned* partial, unsigned count)
{
    __shared__ unsigned data[MERGE_THREADS];

    unsigned sum = 0;
    for (unsigned i = threadIdx.x; i < count; i += MERGE_THREADS)
        sum += partial[blockIdx.x + i * BINS];
    data[threadIdx.x] = sum;

    for (unsigned stride = MERGE_THREADS / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride)
            data[threadIdx.x] += data[threadIdx.x + stride];
    }
    if (threadIdx.x == 0)
        histogram[blockIdx.x] = data[0];
}
