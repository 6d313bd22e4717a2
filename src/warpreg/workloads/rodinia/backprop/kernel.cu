// Back propagation through the wide layer of a network: inputs to 16 hidden units.
// A row of the weights holds an input's bias column and 16 weights, 17 numbers in all; row 0 belongs to the bias input.
//
// layer_forward: a block takes 16 rows as one run of 272 numbers, so that loads do not see that rows are odd. From
// shared memory it forms products, which it folds in halves over the rows: 16 sums a block, one for each hidden unit.
// adjust_weights: a thread owns two neighbours of the flat table, in whatever rows they are; the bias input is a row like
// others.

constexpr int UNITS = 16;
constexpr int PITCH = UNITS + 1;
constexpr int ROWS = 16;
constexpr int THREADS = UNITS * ROWS;
constexpr double LEARNING_RATE = 0.3;
constexpr double MOMENTUM = 0.3;

extern "C" __global__ void __launch_bounds__(THREADS)
layer_forward(const float* __restrict__ layer, const float* __restrict__ weights, float* __restrict__ block_sums)
{
    __shared__ float slab[ROWS * PITCH];
    __shared__ float folded[THREADS];

    const int thread = threadIdx.x;
    const int first_row = 1 + blockIdx.x * ROWS;
    const float* run = weights + first_row * PITCH;
#pragma unroll
    for (int at = thread; at < ROWS * PITCH; at += THREADS)
        slab[at] = run[at];
    __syncthreads();

    const int row = thread / UNITS;
    float sum = slab[thread + row + 1] * layer[first_row + row];  // behind `row + 1` bias columns
    for (int width = THREADS / 2; width >= UNITS; width /= 2) {
        folded[thread] = sum;
        __syncthreads();
        if (thread < width)
            sum += folded[thread + width];
        __syncthreads();
    }
    if (thread < UNITS)
        block_sums[blockIdx.x * UNITS + thread] = sum;
}

// The step is computed in double precision and rounded once for the momentum and once for the weight.
__device__ __forceinline__ void correct(int at, const float* layer, const float* delta, float& weight, float& change)
{
    const int row = at / PITCH;
    const int column = at - row * PITCH;
    if (column == 0)
        return;
    const double gradient = static_cast<double>(delta[column]) * layer[row];
    const double step = fma(LEARNING_RATE, gradient, MOMENTUM * change);
    change = static_cast<float>(step);
    weight = static_cast<float>(weight + step);
}

extern "C" __global__ void __launch_bounds__(THREADS)
adjust_weights(int count, const float* __restrict__ layer, const float* __restrict__ delta,
               float* __restrict__ weights, float* __restrict__ changes)
{
    const int at = 2 * (blockIdx.x * THREADS + threadIdx.x);
    if (at + 2 <= count) {
        float2 weight = *reinterpret_cast<const float2*>(weights + at);
        float2 change = *reinterpret_cast<const float2*>(changes + at);
        correct(at, layer, delta, weight.x, change.x);
        correct(at + 1, layer, delta, weight.y, change.y);
        *reinterpret_cast<float2*>(weights + at) = weight;
        *reinterpret_cast<float2*>(changes + at) = change;
    } else if (at < count) {
        correct(at, layer, delta, weights[at], changes[at]);
    }
}
