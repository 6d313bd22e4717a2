// Prices of European options by the Black-Scholes formula, calls and puts, two options per thread.
// The cumulative normal distribution is the polynomial of fifth degree of Abramowitz and Stegun (26.2.17).

__device__ inline float cumulative_normal(float d)
{
    const float a1 = 0.31938153f;
    const float a2 = -0.356563782f;
    const float a3 = 1.781477937f;
    const float a4 = -1.821255978f;
    const float a5 = 1.330274429f;
    const float inverse_sqrt_2_pi = 0.39894228040143267793994605993438f;

    const float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    const float tail = inverse_sqrt_2_pi * __expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
    return d > 0 ? 1.0f - tail : tail;
}

__device__ inline void price(float& call, float& put, float spot, float strike, float years, float rate,
                             float volatility)
{
    const float sqrt_years = __fdividef(1.0f, rsqrtf(years));
    const float d1 = __fdividef(__logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years,
                                volatility * sqrt_years);
    const float d2 = d1 - volatility * sqrt_years;
    const float n1 = cumulative_normal(d1);
    const float n2 = cumulative_normal(d2);
    const float discounted = strike * __expf(-rate * years);
    call = spot * n1 - discounted * n2;
    put = discounted * (1.0f - n2) - spot * (1.0f - n1);
}

extern "C" __global__ void __launch_bounds__(128)
black_scholes(float2* __restrict__ call, float2* __restrict__ put, const float2* __restrict__ spot,
              const float2* __restrict__ strike, const float2* __restrict__ years, float rate, float volatility,
              int pairs)
{
    const int pair = blockDim.x * blockIdx.x + threadIdx.x;
    if (pair < pairs) {
        float call_x, call_y, put_x, put_y;
        price(call_x, put_x, spot[pair].x, strike[pair].x, years[pair].x, rate, volatility);
        price(call_y, put_y, spot[pair].y, strike[pair].y, years[pair].y, rate, volatility);
        call[pair] = make_float2(call_x, call_y);
        put[pair] = make_float2(put_x, put_y);
    }
}
