// Prices of European call options on a binomial tree, one block per option. The leaves are computed to global memory;
// then the tree is walked back in steps of 32 levels. A block takes 256 nodes at a time to shared memory, goes back 32
// levels there between two buffers, and stores the nodes that are still right.

#define TIME_STEPS 16
#define CACHE_DELTA (2 * TIME_STEPS)
#define CACHE_SIZE 256
#define CACHE_STEP (CACHE_SIZE - CACHE_DELTA)
#define MAX_OPTIONS 1024

struct Option {
    float spot;
    float strike;
    float volatility_step;
    float up;
    float down;
};

__constant__ Option options[MAX_OPTIONS];

extern "C" __global__ void __launch_bounds__(CACHE_SIZE) binomial_options(float* values, float* buffer, int steps)
{
    __shared__ float now[CACHE_SIZE + 1];
    __shared__ float before[CACHE_SIZE + 1];

    const int node = threadIdx.x;
    float* level = &buffer[blockIdx.x * (steps + 16)];
    const float spot = options[blockIdx.x].spot;
    const float strike = options[blockIdx.x].strike;
    const float volatility_step = options[blockIdx.x].volatility_step;
    const float up = options[blockIdx.x].up;
    const float down = options[blockIdx.x].down;

    for (int i = node; i <= steps; i += CACHE_SIZE) {
        const float payoff = spot * expf(volatility_step * (2.0f * i - steps)) - strike;
        level[i] = payoff > 0 ? payoff : 0;
    }

    for (int i = steps; i > 0; i -= CACHE_DELTA)
        for (int base = 0; base < i; base += CACHE_STEP) {
            const int start = min(CACHE_SIZE - 1, i - base);
            const int end = start - CACHE_DELTA;

            __syncthreads();
            if (node <= start)
                now[node] = level[base + node];

            for (int k = start - 1; k >= end;) {
                __syncthreads();
                before[node] = up * now[node + 1] + down * now[node];
                k--;
                __syncthreads();
                now[node] = up * before[node + 1] + down * before[node];
                k--;
            }

            __syncthreads();
            if (node <= end)
                level[base + node] = now[node];
        }

    if (threadIdx.x == 0)
        values[blockIdx.x] = now[0];
}
