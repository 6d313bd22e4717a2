// The one-dimensional Haar wavelet transform. A block takes two elements a thread and goes down as many levels as its
// elements allow, level after level in shared memory; details go straight to their place in the result. Longer signals
// take further launches on the approximations that are left.

__device__ inline void split(float& approximation, float& detail, float first, float second)
{
    const float inverse_sqrt_2 = 0.70710678118654752440f;
    approximation = (first + second) * inverse_sqrt_2;
    detail = (first - second) * inverse_sqrt_2;
}

extern "C" __global__ void __launch_bounds__(512)
dwt_haar1d(const float* in, float* out, float* approximations, int levels, int length, int block_length)
{
    extern __shared__ float shared[];

    const int thread = threadIdx.x;
    const int block = blockIdx.x;
    const int first = block * block_length * 2;

    const float low = in[first + thread];
    const float high = in[first + thread + block_length];
    shared[thread] = low;
    shared[thread + block_length] = high;
    __syncthreads();

    float approximation, detail;
    split(approximation, detail, shared[2 * thread], shared[2 * thread + 1]);
    out[block * block_length + thread + length / 2] = detail;

    if (levels == 1) {
        approximations[block * block_length + thread] = approximation;
        return;
    }

    // Pad one word in 32, so that strides of powers of two fall into different banks.
    __syncthreads();
    shared[thread + (thread >> 5)] = approximation;

    int active = block_length >> 1;
    int target = length / 4 + block * active;
    int spacing = 1;
    for (int level = 1; level < levels; level++) {
        __syncthreads();
        if (thread < active) {
            int place0 = (2 * thread) * spacing;
            int place1 = place0 + spacing;
            place0 += place0 >> 5;
            place1 += place1 >> 5;
            split(approximation, detail, shared[place0], shared[place1]);
            out[target + thread] = detail;
            shared[place0] = approximation;
        }
        spacing <<= 1;
        active >>= 1;
        target = (length >> (level + 2)) + block * active;
    }
    if (thread == 0)
        approximations[block] = shared[0];
}
