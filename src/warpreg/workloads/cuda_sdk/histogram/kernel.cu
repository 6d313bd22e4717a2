// Histogram of bytes into 256 bins. Each block counts in shared memory over a grid-stride loop, four bytes per load,
// then adds its bins to the result.

#define BINS 256u

extern "C" __global__ void histogram(const unsigned int* __restrict__ words, unsigned int* __restrict__ bins,
                                     unsigned int bytes)
{
    __shared__ unsigned int local[BINS];

    for (unsigned int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        local[bin] = 0;
    __syncthreads();

    const unsigned int first = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int full_words = bytes / 4;
    for (unsigned int i = first; i < full_words; i += gridDim.x * blockDim.x) {
        const unsigned int word = words[i];
        atomicAdd(&local[word & 0xffu], 1u);
        atomicAdd(&local[(word >> 8) & 0xffu], 1u);
        atomicAdd(&local[(word >> 16) & 0xffu], 1u);
        atomicAdd(&local[word >> 24], 1u);
    }
    if (first < bytes % 4)
        atomicAdd(&local[reinterpret_cast<const unsigned char*>(words)[4 * full_words + first]], 1u);
    __syncthreads();

    for (unsigned int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        atomicAdd(&bins[bin], local[bin]);
}
