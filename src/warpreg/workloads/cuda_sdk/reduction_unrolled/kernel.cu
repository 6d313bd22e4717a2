// Sum of n floats, one partial sum per block; launched again with one block on the partial sums.
// A thread walks the vector with the stride of the whole grid, four steps at a time: it issues the eight loads of four
// steps, then adds what they bring. What is left goes step by step. The tree is in shared memory down to one warp, then
// in shuffles.

#define BLOCK 256
#define WARP 32
#define UNROLLED 4

extern "C" __global__ void __launch_bounds__(BLOCK)
reduce_sum_unrolled(const float* values, float* sums, unsigned int n)
{
    __shared__ float partial[BLOCK];

    const unsigned int t = threadIdx.x;
    const unsigned int step = 2 * BLOCK * gridDim.x;
    const unsigned int reach = (UNROLLED - 1) * step + BLOCK;

    float sum = 0;
    unsigned int i = blockIdx.x * (2 * BLOCK) + t;
#pragma unroll 1
    for (; i + reach < n; i += UNROLLED * step) {
        float first[UNROLLED], second[UNROLLED];
#pragma unroll
        for (int k = 0; k < UNROLLED; ++k) {
            first[k] = values[i + k * step];
            second[k] = values[i + k * step + BLOCK];
        }
#pragma unroll
        for (int k = 0; k < UNROLLED; ++k) {
            sum += first[k];
            sum += second[k];
        }
    }
#pragma unroll 1
    for (; i < n; i += step) {
        sum += values[i];
        if (i + BLOCK < n)
            sum += values[i + BLOCK];
    }
    partial[t] = sum;
    __syncthreads();

#pragma unroll
    for (unsigned int stride = BLOCK / 2; stride >= WARP; stride /= 2) {
        if (t < stride)
            partial[t] = sum = sum + partial[t + stride];
        __syncthreads();
    }

    if (t < WARP) {
#pragma unroll
        for (unsigned int stride = WARP / 2; stride > 0; stride /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, stride);
        if (t == 0)
            sums[blockIdx.x] = sum;
    }
}
