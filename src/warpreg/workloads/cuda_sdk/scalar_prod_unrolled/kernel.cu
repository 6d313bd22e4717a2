// Scalar products of pairs of vectors. A block takes every n-th pair. A warp takes runs of 128 elements, 32 after 32: a
// lane has a sum for each of the four places in a run and goes through all runs once, so that the eight loads of a run
// are under way together. The block adds the threads' sums in a tree of shared memory that takes four at a time.

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
scalar_prod_unrolled(float* __restrict__ products, const float* __restrict__ a, const float* __restrict__ b, int pairs,
                     int length)
{
    const int first = threadIdx.x / WARP * RUN + threadIdx.x % WARP;
    for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
        const float *left = a + pair * length, *right = b + pair * length;
        float sums[PLACES] = {};
        int element = first;
        #pragma unroll 1
        for (; element + (PLACES - 1) * WARP < length; element += STEP) {
            float x[PLACES], y[PLACES];
            #pragma unroll
            for (int place = 0; place < PLACES; place++) {
                x[place] = left[element + place * WARP];
                y[place] = right[element + place * WARP];
            }
            #pragma unroll
            for (int place = 0; place < PLACES; place++)
                sums[place] = fmaf(x[place], y[place], sums[place]);
        }
        // Where the vectors end within a run, a lane has up to three elements more.
        #pragma unroll
        for (int place = 0; place < PLACES - 1; place++)
            if (element + place * WARP < length)
                sums[place] = fmaf(left[element + place * WARP], right[element + place * WARP], sums[place]);

        const float product = added_up(sums[0] + sums[1] + sums[2] + sums[3]);
        if (threadIdx.x == 0)
            products[pair] = product;
        __syncthreads();
    }
}
