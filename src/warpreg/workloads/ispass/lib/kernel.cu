// Monte Carlo in a LIBOR market model: forward rates of interest move by one interval at a time, then swaptions are
// valued on them. One thread a path.
//
// The derivatives of a path's value by its first rates come from the adjoint, which goes back over the same steps. It
// undoes them: only the factors by which rates grew are kept, packed without those of rates that have come to rest, and
// each rate is divided by them to be what it was. The portfolio needs no arrays, since maturities ascend: one sweep
// over the bonds meets every swaption in turn, and the adjoint sweeps back with the bond and bits that tell which paid.

constexpr int MOST_RATES = 80;
constexpr int MOST_STEPS = 40;
constexpr int MOST_OPTIONS = 32;
constexpr int MOST_GROWTHS = MOST_STEPS * (2 * MOST_RATES - MOST_STEPS - 1) / 2;

constexpr float FIRST_RATE = 0.05f;
constexpr float NOTIONAL = 100;

__constant__ int rates, steps, options;
__constant__ float interval;
__constant__ float volatilities[MOST_RATES];
__constant__ int maturities[MOST_OPTIONS];
__constant__ float swap_rates[MOST_OPTIONS];

__device__ float discount(float rate) { return __fdividef(1, 1 + interval * rate); }

// Leaves the rates after all steps, and the factors by which they grew unless ``growths`` is null; returns how many.
__device__ int simulate(float *rate, float *growths, const float *normals, int path, int paths) {
    for (int i = 0; i < rates; ++i)
        rate[i] = FIRST_RATE;
    int kept = 0;
    for (int step = 0; step < steps; ++step) {
        float shock = sqrtf(interval) * normals[step * paths + path];
        double drift = 0;
#pragma unroll 8
        for (int i = step + 1; i < rates; ++i) {
            float volatility = volatilities[i - step - 1], scaled = interval * volatility;
            drift += scaled * rate[i] * discount(rate[i]);
            float growth = __expf(scaled * float(drift) + volatility * (shock - scaled / 2));
            rate[i] *= growth;
            if (growths)
                growths[kept++] = growth;
        }
    }
    return kept;
}

// What a sweep over the bonds finds: the discount to today of what the swaptions pay, the last bond, and who pays.
struct Portfolio {
    double today, bond;
    float payment;
    unsigned paying;
};

__device__ Portfolio portfolio(const float *rate) {
    Portfolio all = {1, 1, 0, 0};
    for (int i = 0; i < steps; ++i)
        all.today *= discount(rate[i]);

    double annuity = 0;
    for (int i = steps, option = 0; i < rates; ++i) {
        all.bond *= discount(rate[i]);
        annuity += interval * all.bond;
        for (; option < options && maturities[option] == i - steps + 1; ++option) {
            float loss = 1 - all.bond - swap_rates[option] * annuity;
            if (loss > 0) {
                all.payment += NOTIONAL * loss;
                all.paying |= 1u << option;
            }
        }
    }
    return all;
}

// Leaves the derivatives of the portfolio's value by every rate after the last step.
__device__ void portfolio_backwards(const float *rate, float *slopes, Portfolio all) {
    double by_bond = 0, by_annuity = 0, bond = all.bond;
    for (int i = rates - 1, option = options; i >= steps; --i) {
        for (; option > 0 && maturities[option - 1] == i - steps + 1; --option)
            if (all.paying >> (option - 1) & 1) {
                by_bond -= NOTIONAL * all.today;
                by_annuity -= NOTIONAL * all.today * swap_rates[option - 1];
            }
        by_bond = (by_bond + interval * by_annuity) * discount(rate[i]);
        slopes[i] = -interval * bond * by_bond;
        bond *= 1 + interval * rate[i];
    }
    for (int i = 0; i < steps; ++i)
        slopes[i] = -interval * discount(rate[i]) * all.today * all.payment;
}

// Takes rates and derivatives by them from after the last step to before the first.
__device__ void simulate_backwards(float *rate, float *slopes, const float *growths, int kept) {
    for (int step = steps - 1; step >= 0; --step) {
        double by_drift = 0;
#pragma unroll 8
        for (int i = rates - 1; i > step; --i) {
            float growth = growths[--kept], scaled = interval * volatilities[i - step - 1];
            by_drift += scaled * slopes[i] * rate[i];
            rate[i] = __fdividef(rate[i], growth);
            float factor = discount(rate[i]);
            slopes[i] = slopes[i] * growth + scaled * factor * factor * float(by_drift);
        }
    }
}

extern "C" __global__ void paths_and_adjoints(const float *normals, float *values, float *derivatives, int paths) {
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;
    float rate[MOST_RATES], slopes[MOST_RATES], growths[MOST_GROWTHS];
    int kept = simulate(rate, growths, normals, path, paths);
    Portfolio all = portfolio(rate);
    values[path] = all.today * all.payment;

    portfolio_backwards(rate, slopes, all);
    simulate_backwards(rate, slopes, growths, kept);
    derivatives[path] = slopes[rates - 1];
}

extern "C" __global__ void paths_only(const float *normals, float *values, int paths) {
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;
    float rate[MOST_RATES];
    simulate(rate, nullptr, normals, path, paths);
    Portfolio all = portfolio(rate);
    values[path] = all.today * all.payment;
}
