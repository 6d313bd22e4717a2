// Prices of European options by the formula of Black and Scholes, with the normal distribution after Abramowitz and
// Stegun, 26.2.17. A thread prices two neighbours. As spot * density(d1) = discounted strike * density(d2), one density
// serves both tails; the put follows from the call by put-call parity.

constexpr float INVERSE_SQRT_2PI = 0.39894228f;

// The share of the normal distribution beyond |d|, over its density at d.
__device__ float tail(float d)
{
    const float t = __fdividef(1.0f, fmaf(0.2316419f, fabsf(d), 1.0f));
    float ratio = 1.330274429f;
    ratio = fmaf(ratio, t, -1.821255978f);
    ratio = fmaf(ratio, t, 1.781477937f);
    ratio = fmaf(ratio, t, -0.356563782f);
    ratio = fmaf(ratio, t, 0.319381530f);
    return ratio * t;
}

// `amount` times the distribution at d, where `weight` is `amount` times the density there.
__device__ float below(float d, float amount, float weight)
{
    const float beyond = weight * tail(d);
    return d > 0.0f ? amount - beyond : beyond;
}

struct Prices {
    float call, put;
};

__device__ Prices priced(float spot, float strike, float years, float rate, float volatility)
{
    const float variance = volatility * volatility * years;
    const float inverse_spread = rsqrtf(variance), spread = variance * inverse_spread;
    const float discounted = strike * __expf(-rate * years);
    const float d1 = fmaf(__logf(__fdividef(spot, discounted)), inverse_spread, 0.5f * spread);
    const float weight = spot * INVERSE_SQRT_2PI * __expf(-0.5f * d1 * d1);
    const float call = below(d1, spot, weight) - below(d1 - spread, discounted, weight);
    return {call, call + (discounted - spot)};
}

extern "C" __global__ void __launch_bounds__(128)
black_scholes(float2* __restrict__ call, float2* __restrict__ put, const float2* __restrict__ spot,
              const float2* __restrict__ strike, const float2* __restrict__ years, float rate, float volatility,
              unsigned int pairs)
{
    const unsigned int pair = blockDim.x * blockIdx.x + threadIdx.x;
    if (pair >= pairs)
        return;
    const float2 s = spot[pair], k = strike[pair], t = years[pair];
    const Prices left = priced(s.x, k.x, t.x, rate, volatility);
    const Prices right = priced(s.y, k.y, t.y, rate, volatility);
    call[pair] = {left.call, right.call};
    put[pair] = {left.put, right.put};
}
