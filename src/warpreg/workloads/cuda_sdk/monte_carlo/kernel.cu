// European call options by Monte Carlo integration. The first kernel makes normal numbers of uniform ones by Moro's
// inversion ("The full Monte", Risk 8(2), 1995). The second prices an option a block. The price at the end is a power
// of 2, with the price now and the drift in its exponent. In the sum over threads one half of the block adds up the
// payoffs and the other half their squares.

typedef unsigned int uint;

constexpr uint MOST_OPTIONS = 1024;
constexpr uint THREADS = 256, HALF = THREADS / 2;
constexpr float LOG2_E = 1.44269504f;

struct Option {
    float spot, strike, drift, volatility;
};

__constant__ Option options[MOST_OPTIONS];

// Horner's scheme, the highest power first.
template <int COUNT>
__device__ float polynomial(const float (&coefficients)[COUNT], float x)
{
    float value = coefficients[0];
    #pragma unroll
    for (int place = 1; place < COUNT; place++)
        value = fmaf(value, x, coefficients[place]);
    return value;
}

// The number that a normal variable is below with the given probability. By symmetry only the upper half is computed.
__device__ float inverse_normal(float probability)
{
    constexpr float UPPER[] = {-25.44106049637f, 41.39119773534f, -18.61500062529f, 2.50662823884f};
    constexpr float LOWER[] = {3.13082909833f, -21.06224101826f, 23.08336743743f, -8.47351093090f, 1.0f};
    constexpr float TAIL[] = {3.960315187e-7f,    2.888167364e-7f,      3.21767881768e-5f,
                              3.951896511919e-4f, 3.8405729373609e-3f,  2.76438810333863e-2f,
                              0.1607979714918209f, 0.9761690190917186f, 0.3374754822726147f};

    const float distance = probability - 0.5f;
    if (fabsf(distance) >= 0.42f) {
        const float beyond = fminf(probability, 1.0f - probability);
        return copysignf(polynomial(TAIL, __logf(-__logf(beyond))), distance);
    }
    const float square = distance * distance;
    return distance * __fdividef(polynomial(UPPER, square), polynomial(LOWER, square));
}

extern "C" __global__ void __launch_bounds__(128)
make_normal(float2* __restrict__ samples, const float2* __restrict__ uniform, uint pairs)
{
    for (uint pair = blockIdx.x * blockDim.x + threadIdx.x; pair < pairs; pair += gridDim.x * blockDim.x) {
        const float2 probabilities = uniform[pair];
        samples[pair] = {inverse_normal(probabilities.x), inverse_normal(probabilities.y)};
    }
}

// Mean payoff of the option and half the width of its confidence interval of 95 %.
extern "C" __global__ void __launch_bounds__(THREADS)
price_options(float2* __restrict__ values, const float* __restrict__ samples, uint paths)
{
    __shared__ float sums[2][THREADS];

    const Option option = options[blockIdx.x];
    const float slope = LOG2_E * option.volatility;
    const float start = fmaf(LOG2_E, option.drift, log2f(option.spot));

    float sum = 0.0f, squares = 0.0f;
    #pragma unroll 4
    for (uint path = threadIdx.x; path < paths; path += THREADS) {
        const float payoff = fmaxf(exp2f(fmaf(slope, samples[path], start)) - option.strike, 0.0f);
        sum += payoff;
        squares = fmaf(payoff, payoff, squares);
    }
    sums[0][threadIdx.x] = sum;
    sums[1][threadIdx.x] = squares;

    float* half = sums[threadIdx.x / HALF];
    const uint lane = threadIdx.x % HALF;
    for (uint left = HALF; left > 0; left /= 2) {
        __syncthreads();
        if (lane < left)
            half[lane] += half[lane + left];
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        const float count = paths, mean = sums[0][0] / count;
        const float variance = (sums[1][0] - mean * sums[0][0]) / (count - 1.0f);
        values[blockIdx.x] = {mean, 1.96f * sqrtf(variance / count)};
    }
}
