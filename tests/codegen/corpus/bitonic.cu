// Bitonic sort of 512 keys and their values in shared memory.
extern "C" __global__ void bitonic_sort(unsigned *keys, unsigned *values, int ascending) {
    __shared__ unsigned key[512];
    __shared__ unsigned value[512];
    unsigned base = blockIdx.x * 512;
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < 512; i += blockDim.x) {
        key[i] = keys[base + i];
        value[i] = values[base + i];
    }
#pragma unroll 1
    for (unsigned size = 2; size <= 512; size *= 2) {
#pragma unroll 1
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
#pragma unroll 1
            for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
                unsigned at = 2 * i - (i & (stride - 1));
                bool up = ((i & (size / 2)) == 0) == (ascending != 0);
                unsigned a = key[at], b = key[at + stride];
                if ((a > b) == up) {
                    key[at] = b;
                    key[at + stride] = a;
                    unsigned held = value[at];
                    value[at] = value[at + stride];
                    value[at + stride] = held;
                }
            }
        }
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < 512; i += blockDim.x) {
        keys[base + i] = key[i];
        values[base + i] = value[i];
    }
}
