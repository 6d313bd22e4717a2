// Angular correlation of points on the sky: histograms of the angle between the points of two sets, or within one set.
// A block of 256 threads makes one histogram. It keeps 256 points of the first set in shared memory; each thread takes
// a point of the second set and compares it with all of them. The bin of a cosine is found by bisection in constant
// memory and counted in one of 128 histograms in shared memory, 16 a warp, which are added up in the end.

#define BLOCK 256
#define BINS 20
#define A_WARP 16
#define HISTOGRAMS (BLOCK / 32 * A_WARP)

__constant__ float edges[BINS + 1];

struct Point {
    float x;
    float y;
    float z;
};

extern "C" __global__ void __launch_bounds__(BLOCK)
correlate(unsigned long long* histograms, const float* all_x, const float* all_y, const float* all_z, int sets,
          int points)
{
    __shared__ Point tile[BLOCK];
    __shared__ unsigned counts[BINS][HISTOGRAMS];

    const int thread = threadIdx.x;
    const int mine = thread / 32 * A_WARP + thread % A_WARP;
    const bool within = blockIdx.x <= sets;

    for (int count = thread; count < BINS * HISTOGRAMS; count += BLOCK)
        counts[count / HISTOGRAMS][count % HISTOGRAMS] = 0;

    // Set zero is the observed sky. Blocks up to `sets` compare a set with itself, the rest the sky with a random set.
    const int second = within ? blockIdx.x : blockIdx.x - sets;
    const int first = within ? second : 0;
    const float* first_x = all_x + first * points;
    const float* first_y = all_y + first * points;
    const float* first_z = all_z + first * points;
    const float* second_x = all_x + second * points;
    const float* second_y = all_y + second * points;
    const float* second_z = all_z + second * points;

    for (int i = 0; i < points; i += BLOCK) {
        __syncthreads();
        if (i + thread < points) {
            tile[thread].x = first_x[i + thread];
            tile[thread].y = first_y[i + thread];
            tile[thread].z = first_z[i + thread];
        }
        __syncthreads();

        for (int j = (within ? i : 0); j < points; j += BLOCK) {
            const int other = j + thread;
            if (other >= points)
                continue;
            const float x = second_x[other];
            const float y = second_y[other];
            const float z = second_z[other];

            for (int k = 0; k < BLOCK && i + k < points; k++) {
                if (within && other <= i + k)
                    continue;
                const float cosine = fmaf(tile[k].z, z, fmaf(tile[k].y, y, tile[k].x * x));
                int low = 0, high = BINS;
                while (high > low + 1) {
                    const int middle = (low + high) / 2;
                    if (cosine >= edges[middle])
                        high = middle;
                    else
                        low = middle;
                }
                if (cosine < edges[low] && cosine >= edges[high])
                    atomicAdd(&counts[low][mine], 1u);
            }
        }
    }
    __syncthreads();

#pragma unroll
    for (int half = HISTOGRAMS / 2; half > 0; half /= 2) {
        const int histogram = thread % half;
#pragma unroll 1
        for (int bin = thread / half; bin < BINS; bin += BLOCK / half)
            counts[bin][histogram] += counts[bin][histogram + half];
        __syncthreads();
    }
    if (thread < BINS)
        histograms[blockIdx.x * BINS + thread] = counts[thread][0];
}
