// Monte Carlo in a LIBOR market model: a thread simulates a path of forward rates and values a portfolio of swaptions
// on it. The first kernel also differentiates the value backwards through the path (its adjoint), for which it keeps
// the rates of every step; the second does without. Model and portfolio lie in constant memory, the rates of a path in
// local arrays. As in code with unsuffixed constants, some of the arithmetic is in double precision.

#define MAX_RATES 80
#define MAX_STEPS 40
#define MAX_OPTIONS 15
#define HISTORY ((MAX_STEPS + 1) * MAX_RATES)

__constant__ int rates;
__constant__ int steps;
__constant__ int options;
__constant__ float interval;
__constant__ int maturities[MAX_OPTIONS];
__constant__ float swap_rates[MAX_OPTIONS];
__constant__ float volatilities[MAX_RATES];

__device__ __forceinline__ void load_normals(float* normals, const float* all, int path, int paths)
{
    for (int n = 0; n < steps; n++)
        normals[n] = all[n * paths + path];
}

__device__ __forceinline__ void simulate(float* rate, const float* normals)
{
    for (int n = 0; n < steps; n++) {
        const float shock = sqrtf(interval) * normals[n];
        float drift = 0.0f;
        for (int i = n + 1; i < rates; i++) {
            const float volatility = volatilities[i - n - 1];
            const float scaled = interval * volatility;
            drift += __fdividef(scaled * rate[i], 1.0 + interval * rate[i]);
            rate[i] *= __expf(scaled * drift + volatility * (shock - 0.5 * scaled));
        }
    }
}

// Like simulate, but keeps the rates before each step and the sums of drifts, one row a step.
__device__ __forceinline__ void simulate_keeping(float* rate, const float* normals, float* history)
{
    for (int i = 0; i < rates; i++)
        history[i] = rate[i];
    for (int n = 0; n < steps; n++) {
        const float shock = sqrtf(interval) * normals[n];
        float drift = 0.0f;
        for (int i = n + 1; i < rates; i++) {
            const float volatility = volatilities[i - n - 1];
            const float scaled = interval * volatility;
            drift += __fdividef(scaled * rate[i], 1.0 + interval * rate[i]);
            rate[i] *= __expf(scaled * drift + volatility * (shock - 0.5 * scaled));
            history[(n + 1) * rates + i] = rate[i];
        }
    }
}

// The adjoint of simulate: turns derivatives by the last rates into derivatives by the first, in place.
__device__ __forceinline__ void simulate_backwards(float* adjoint, const float* history)
{
    for (int n = steps - 1; n >= 0; n--) {
        float drift_adjoint = 0.0f;
        for (int i = rates - 1; i > n; i--) {
            const float scaled = interval * volatilities[i - n - 1];
            const float before = history[n * rates + i];
            const float after = history[(n + 1) * rates + i];
            drift_adjoint += scaled * after * adjoint[i];
            const float discount = __fdividef(1.0, 1.0 + interval * before);
            adjoint[i] = adjoint[i] * __fdividef(after, before) + drift_adjoint * scaled * discount * discount;
        }
    }
}

__device__ __forceinline__ float portfolio(const float* rate)
{
    float bond = 1.0f, annuity = 0.0f;
    float bonds[MAX_RATES], annuities[MAX_RATES];
    for (int n = steps; n < rates; n++) {
        bond = bond / (1.0 + interval * rate[n]);
        annuity = annuity + interval * bond;
        bonds[n - steps] = bond;
        annuities[n - steps] = annuity;
    }
    float value = 0.0f;
    for (int i = 0; i < options; i++) {
        const int last = maturities[i] - 1;
        const float swap = bonds[last] + swap_rates[i] * annuities[last] - 1.0;
        if (swap < 0)
            value += -100.0 * swap;
    }
    for (int n = 0; n < steps; n++)
        value = value / (1.0 + interval * rate[n]);
    return value;
}

// The value and, in `adjoint`, its derivatives by the rates at the end of the path.
__device__ __forceinline__ float portfolio_with_adjoint(const float* rate, float* adjoint)
{
    float bond = 1.0f, annuity = 0.0f;
    float bonds[MAX_RATES], annuities[MAX_RATES], bond_adjoints[MAX_RATES], annuity_adjoints[MAX_RATES];
    for (int n = steps; n < rates; n++) {
        bond = bond / (1.0 + interval * rate[n]);
        annuity = annuity + interval * bond;
        bonds[n - steps] = bond;
        annuities[n - steps] = annuity;
        bond_adjoints[n - steps] = 0.0f;
        annuity_adjoints[n - steps] = 0.0f;
    }
    float value = 0.0f;
    for (int i = 0; i < options; i++) {
        const int last = maturities[i] - 1;
        const float swap = bonds[last] + swap_rates[i] * annuities[last] - 1.0;
        if (swap < 0) {
            value += -100.0 * swap;
            bond_adjoints[last] += -100.0f;
            annuity_adjoints[last] += -100.0f * swap_rates[i];
        }
    }
    float bond_adjoint = 0.0f, annuity_adjoint = 0.0f;
    for (int n = rates - 1; n >= steps; n--) {
        annuity_adjoint += annuity_adjoints[n - steps];
        bond_adjoint += bond_adjoints[n - steps] + interval * annuity_adjoint;
        const float discount = 1.0 / (1.0 + interval * rate[n]);
        adjoint[n] = -bond_adjoint * interval * bonds[n - steps] * discount;
        bond_adjoint *= discount;
    }
    float discounts = 1.0f;
    for (int n = 0; n < steps; n++)
        discounts = discounts / (1.0 + interval * rate[n]);
    value = discounts * value;
    for (int n = 0; n < steps; n++)
        adjoint[n] = -interval * value / (1.0 + interval * rate[n]);
    for (int n = steps; n < rates; n++)
        adjoint[n] = discounts * adjoint[n];
    return value;
}

extern "C" __global__ void paths_and_adjoints(const float* all_normals, float* values, float* last_derivatives,
                                              int paths)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int threads = blockDim.x * gridDim.x;
    float rate[MAX_RATES], history[HISTORY], normals[MAX_STEPS], adjoint[MAX_RATES];

    for (int path = thread; path < paths; path += threads) {
        load_normals(normals, all_normals, path, paths);
        for (int i = 0; i < rates; i++)
            rate[i] = 0.05f;
        simulate_keeping(rate, normals, history);
        values[path] = portfolio_with_adjoint(rate, adjoint);
        simulate_backwards(adjoint, history);
        last_derivatives[path] = adjoint[rates - 1];
    }
}

extern "C" __global__ void paths_only(const float* all_normals, float* values, int paths)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int threads = blockDim.x * gridDim.x;
    float rate[MAX_RATES], normals[MAX_STEPS];

    for (int path = thread; path < paths; path += threads) {
        load_normals(normals, all_normals, path, paths);
        for (int i = 0; i < rates; i++)
            rate[i] = 0.05f;
        simulate(rate, normals);
        values[path] = portfolio(rate);
    }
}
