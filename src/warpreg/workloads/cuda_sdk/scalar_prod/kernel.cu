// Scalar products of pairs of vectors. A block takes every n-th pair. A warp takes runs of 128 elements, 32 after 32: a
// lane has a sum for each of the four places in a run and goes through all runs once for each, so that every step waits
// for its own two loads. The block adds the threads' sums in a tree of shared memory that takes four at a time.

constexpr int THREADS = 256, WARP = 32, PLACES = 4;
constexpr int RUN = PLACES * WARP, STEP = THREADS * PLACES;

// The sum of one value a thread, known to thread 0.
__device__ float added_up(float value)
{
    __shared__ float sums[THREADS];

    sums[threadIdx.x] = value;
    for (int left = THREADS / 4; left > 0; left /= 4) {
        __syncthreads();
        const float* mine = &sums[threadIdx.x];
        if (threadIdx.x < left)
            sums[threadIdx.x] = (mine[0] + mine[left]) + (mine[2 * left] + mine[3 * left]);
    }
    return sums[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(THREADS)
scalar_prod(float* __restrict__ products, const float* __restrict__ a, const float* __restrict__ b, int pairs,
            int length)
{
    const int first = threadIdx.x / WARP * RUN + threadIdx.x % WARP;
    for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
        const float *left = a + pair * length, *right = b + pair * length;
        float total = 0.0f;
        #pragma unroll 1
        for (int place = 0; place < PLACES; place++) {
            float sum = 0.0f;
            for (int element = first + place * WARP; element < length; element += STEP)
                sum = fmaf(left[element], right[element], sum);
            total += sum;
        }
        total = added_up(total);
        if (threadIdx.x == 0)
            products[pair] = total;
        __syncthreads();
    }
}
