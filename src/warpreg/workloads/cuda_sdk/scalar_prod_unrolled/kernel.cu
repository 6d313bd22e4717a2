// Scalar products of many pairs of vectors, as in scalar-prod: a block keeps 1024 partial sums in shared memory, each
// over every 1024th element, then adds them in a tree. Here a thread works on its four sums at once: it issues the eight
// loads of a stretch of 1024 elements, then multiplies and adds. The last, shorter stretch goes element by element.

#define BLOCK 256
#define ACCUMULATORS 1024
#define OWN (ACCUMULATORS / BLOCK)

extern "C" __global__ void __launch_bounds__(BLOCK)
scalar_prod_unrolled(float* products, const float* a, const float* b, int vectors, int elements)
{
    __shared__ float partial[ACCUMULATORS];

    for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
        const int end = elements * (vector + 1);
        float sum[OWN] = {0};

        int position = elements * vector + threadIdx.x;
#pragma unroll 1
        for (; position + ACCUMULATORS - BLOCK < end; position += ACCUMULATORS) {
            float left[OWN], right[OWN];
#pragma unroll
            for (int k = 0; k < OWN; ++k) {
                left[k] = a[position + k * BLOCK];
                right[k] = b[position + k * BLOCK];
            }
#pragma unroll
            for (int k = 0; k < OWN; ++k)
                sum[k] += left[k] * right[k];
        }
#pragma unroll
        for (int k = 0; k < OWN; ++k) {
            if (position + k * BLOCK < end)
                sum[k] += a[position + k * BLOCK] * b[position + k * BLOCK];
            partial[threadIdx.x + k * BLOCK] = sum[k];
        }

        for (int stride = ACCUMULATORS / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            for (int slot = threadIdx.x; slot < stride; slot += blockDim.x)
                partial[slot] += partial[stride + slot];
        }

        __syncthreads();
        if (threadIdx.x == 0)
            products[vector] = partial[0];
    }
}
