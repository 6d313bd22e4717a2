// Scalar products of many pairs of vectors. A block takes pair after pair. It keeps 1024 partial sums in shared
// memory, each over every 1024th element, then adds them in a tree. Partial sums outnumber the threads, so the tree's
// first levels are full for several steps.

#define ACCUMULATORS 1024

extern "C" __global__ void __launch_bounds__(256)
scalar_prod(float* products, const float* a, const float* b, int vectors, int elements)
{
    __shared__ float partial[ACCUMULATORS];

    for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
        const int begin = elements * vector;
        const int end = begin + elements;

        for (int slot = threadIdx.x; slot < ACCUMULATORS; slot += blockDim.x) {
            float sum = 0;
            for (int position = begin + slot; position < end; position += ACCUMULATORS)
                sum += a[position] * b[position];
            partial[slot] = sum;
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
