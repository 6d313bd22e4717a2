// A particle filter that follows a disk through a noisy video, all in double precision.
// Per frame: `likelihood` moves each particle by its own random numbers and weighs it by the pixels of a disk around it,
// with one sum of the weights a block; `sum_weights` adds those up; `normalize_weights` divides and accumulates;
// `find_index` draws the particles of the next frame, a linear search each.
// `find_index_naive` is the search alone, for a filter whose other steps the host does.

#define THREADS 512
#define MODULUS 2147483647
#define MULTIPLIER 1103515245u
#define INCREMENT 12345u
#define PI 3.14159265358979323846
#define BACKGROUND 100
#define FOREGROUND 228

// The next number from 0 to 1 of a linear congruential generator; its products wrap around at 32 bits.
__device__ double uniform(int* seed, int index)
{
    seed[index] = (int)(MULTIPLIER * (unsigned)seed[index] + INCREMENT) % MODULUS;
    return fabs(seed[index] / (double)MODULUS);
}

// A normally distributed number, by Box and Muller.
__device__ double normal(int* seed, int index)
{
    const double u = uniform(seed, index);
    const double v = uniform(seed, index);
    return sqrt(-2 * log(u)) * cos(2 * PI * v);
}

__device__ double likelihood_sum(const unsigned char* video, const int* pixels, int count, int particle)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        const int brightness = video[pixels[particle * count + i]];
        sum += (pow((double)(brightness - BACKGROUND), 2.0) - pow((double)(brightness - FOREGROUND), 2.0)) / 50.0;
    }
    return sum;
}

extern "C" __global__ void likelihood(double* x, double* y, double* drawn_x, double* drawn_y, int* pixels, int* disk,
                                      double* likelihoods, unsigned char* video, double* weights, int particles,
                                      int count, int voxels, int frame, int cols, int frames, int* seed,
                                      double* partial_sums)
{
    __shared__ double buffer[THREADS];
    const int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < particles) {
        x[i] = drawn_x[i];
        y[i] = drawn_y[i];
        weights[i] = 1 / (double)particles;
        x[i] = x[i] + 1.0 + 5.0 * normal(seed, i);
        y[i] = y[i] - 2.0 + 2.0 * normal(seed, i);
    }
    __syncthreads();

    if (i < particles) {
        for (int j = 0; j < count; ++j) {
            const int row = (int)x[i] + disk[j * 2 + 1];
            const int col = (int)y[i] + disk[j * 2];
            pixels[i * count + j] = abs(row * cols * frames + col * frames + frame);
            if (pixels[i * count + j] >= voxels)
                pixels[i * count + j] = 0;
        }
        likelihoods[i] = likelihood_sum(video, pixels, count, i);
        likelihoods[i] = likelihoods[i] / count;
        weights[i] = weights[i] * exp(likelihoods[i]);
    }
    buffer[threadIdx.x] = 0.0;
    __syncthreads();

    if (i < particles)
        buffer[threadIdx.x] = weights[i];
    __syncthreads();

    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half)
            buffer[threadIdx.x] += buffer[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial_sums[blockIdx.x] = buffer[0];
    __syncthreads();
}

// The sums of all blocks, added in one warp: lanes take every 32nd, then halves of the warp fold by shuffles.
extern "C" __global__ void __launch_bounds__(32) sum_weights(double* partial_sums, int blocks)
{
    double sum = 0.0;
    for (int block = threadIdx.x; block < blocks; block += 32)
        sum += partial_sums[block];
#pragma unroll
    for (int reach = 16; reach > 0; reach /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, reach);
    if (threadIdx.x == 0)
        partial_sums[0] = sum;
}

// One thread accumulates all weights. It takes them as they were, since it cannot wait for the divisions of other
// blocks; and every block draws the same number from the seed that only `find_index` moves on.
extern "C" __global__ void normalize_weights(const double* weights, double* normalized, int particles,
                                             const double* partial_sums, double* cumulated, double* positions,
                                             const int* seed)
{
    __shared__ double first;
    __shared__ double sum;
    const int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (threadIdx.x == 0)
        sum = partial_sums[0];
    __syncthreads();

    if (i < particles)
        normalized[i] = weights[i] / sum;
    __syncthreads();

    if (i == 0) {
        const double inverse = 1.0 / sum;
        cumulated[0] = weights[0] * inverse;
        for (int j = 1; j < particles; ++j)
            cumulated[j] = weights[j] * inverse + cumulated[j - 1];
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        int state = seed[0];
        first = 1 / (double)particles * uniform(&state, 0);
    }
    __syncthreads();

    if (i < particles)
        positions[i] = first + i / (double)particles;
}

__device__ __forceinline__ void draw(const double* x, const double* y, const double* cumulated,
                                     const double* positions, double* drawn_x, double* drawn_y, int particles, int i)
{
    int index = -1;
    for (int j = 0; j < particles; ++j) {
        if (cumulated[j] >= positions[i]) {
            index = j;
            break;
        }
    }
    if (index == -1)
        index = particles - 1;
    drawn_x[i] = x[index];
    drawn_y[i] = y[index];
}

extern "C" __global__ void find_index(const double* x, const double* y, const double* cumulated,
                                      const double* positions, double* drawn_x, double* drawn_y, int* seed,
                                      int particles)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i == 0)
        uniform(seed, 0);
    if (i < particles)
        draw(x, y, cumulated, positions, drawn_x, drawn_y, particles, i);
    __syncthreads();
}

extern "C" __global__ void find_index_naive(const double* x, const double* y, const double* cumulated,
                                            const double* positions, double* drawn_x, double* drawn_y, int particles)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < particles)
        draw(x, y, cumulated, positions, drawn_x, drawn_y, particles, i);
}
