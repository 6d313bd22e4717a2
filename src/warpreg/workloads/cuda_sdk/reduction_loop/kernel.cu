// Sum of n floats, one partial sum per block; launched again with one block on the partial sums.
// A thread walks the vector with the stride of the whole grid and adds two elements in each step; the tree is in shared
// memory down to one warp, then in shuffles.

#define BLOCK 256
#define WARP 32

extern "C" __global__ void __launch_bounds__(BLOCK)
reduce_sum_loop(const float* values, float* sums, unsigned int n)
{
    __shared__ float partial[BLOCK];

    const unsigned int t = threadIdx.x;
    const unsigned int step = 2 * BLOCK * gridDim.x;

    float sum = 0;
#pragma unroll 1
    for (unsigned int i = blockIdx.x * (2 * BLOCK) + t; i < n; i += step) {
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
