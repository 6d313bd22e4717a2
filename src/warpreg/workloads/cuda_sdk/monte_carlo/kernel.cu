// Prices of European call options by Monte Carlo integration. First uniform numbers become normally distributed ones by
// Moro's inversion, rational in the middle and a polynomial of a logarithm of a logarithm in the tails. Then one block
// per option runs over all paths and adds up payoffs and their squares.

#define THREADS 256
#define MAX_OPTIONS 2048

struct Option {
    float spot;
    float strike;
    float drift;
    float volatility;
};

struct Value {
    float expected;
    float confidence;
};

__constant__ Option options[MAX_OPTIONS];

__device__ inline float inverse_normal(float p)
{
    const float a1 = 2.50662823884f;
    const float a2 = -18.61500062529f;
    const float a3 = 41.39119773534f;
    const float a4 = -25.44106049637f;
    const float b1 = -8.4735109309f;
    const float b2 = 23.08336743743f;
    const float b3 = -21.06224101826f;
    const float b4 = 3.13082909833f;
    const float c1 = 0.337475482272615f;
    const float c2 = 0.976169019091719f;
    const float c3 = 0.160797971491821f;
    const float c4 = 2.76438810333863e-02f;
    const float c5 = 3.8405729373609e-03f;
    const float c6 = 3.951896511919e-04f;
    const float c7 = 3.21767881768e-05f;
    const float c8 = 2.888167364e-07f;
    const float c9 = 3.960315187e-07f;

    const float y = p - 0.5f;
    float z;
    if (fabsf(y) < 0.42f) {
        z = y * y;
        z = y * (((a4 * z + a3) * z + a2) * z + a1) / ((((b4 * z + b3) * z + b2) * z + b1) * z + 1.0f);
    } else {
        z = y > 0 ? __logf(-__logf(1.0f - p)) : __logf(-__logf(p));
        z = c1 + z * (c2 + z * (c3 + z * (c4 + z * (c5 + z * (c6 + z * (c7 + z * (c8 + z * c9)))))));
        if (y < 0)
            z = -z;
    }
    return z;
}

extern "C" __global__ void __launch_bounds__(128) make_normal(float* samples, const float* uniform, unsigned paths)
{
    const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned threads = gridDim.x * blockDim.x;
    for (unsigned path = lane; path < paths; path += threads)
        samples[path] = inverse_normal(uniform[path]);
}

__device__ inline float payoff(float spot, float strike, float sample, float drift, float volatility)
{
    const float call = spot * __expf(drift + volatility * sample) - strike;
    return call > 0 ? call : 0;
}

extern "C" __global__ void __launch_bounds__(THREADS) price_options(Value* values, const float* samples, int paths)
{
    __shared__ float sum[THREADS];
    __shared__ float square_sum[THREADS];

    const float spot = options[blockIdx.x].spot;
    const float strike = options[blockIdx.x].strike;
    const float drift = options[blockIdx.x].drift;
    const float volatility = options[blockIdx.x].volatility;

    float expected = 0, squares = 0;
    for (int path = threadIdx.x; path < paths; path += blockDim.x) {
        const float call = payoff(spot, strike, samples[path], drift, volatility);
        expected += call;
        squares += call * call;
    }
    sum[threadIdx.x] = expected;
    square_sum[threadIdx.x] = squares;

    for (int stride = THREADS / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride) {
            sum[threadIdx.x] += sum[threadIdx.x + stride];
            square_sum[threadIdx.x] += square_sum[threadIdx.x + stride];
        }
    }
    if (threadIdx.x == 0) {
        const float n = (float)paths;
        const float total = sum[0];
        const float deviation = sqrtf((n * square_sum[0] - total * total) / (n * (n - 1)));
        Value value = {total / n, 1.96f * deviation / sqrtf(n)};
        values[blockIdx.x] = value;
    }
}
