// Transforms of 512 complex points, forward and inverse, in three passes of radix 8.
// A block of 64 threads does one transform, 8 points a thread in registers. Between passes the points change threads
// through shared memory, real parts first and imaginary parts after them through the same words. The points of a
// transform lie `stride` apart, so that the same kernel does the rows of an image and its columns.

#define POINTS 512
#define RADIX 8
#define THREADS (POINTS / RADIX)
#define PI 3.14159265f

__device__ __forceinline__ float2 add(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

__device__ __forceinline__ float2 subtract(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

__device__ __forceinline__ float2 multiply(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Multiplied by -i forward, by i backward.
template <int SIGN> __device__ __forceinline__ float2 quarter_turn(float2 a)
{
    return SIGN < 0 ? make_float2(a.y, -a.x) : make_float2(-a.y, a.x);
}

template <int SIGN> __device__ __forceinline__ void
transform_4(float2 a, float2 b, float2 c, float2 d, float2& x0, float2& x1, float2& x2, float2& x3)
{
    const float2 even = add(a, c);
    const float2 even_difference = subtract(a, c);
    const float2 odd = add(b, d);
    const float2 odd_difference = quarter_turn<SIGN>(subtract(b, d));
    x0 = add(even, odd);
    x1 = add(even_difference, odd_difference);
    x2 = subtract(even, odd);
    x3 = subtract(even_difference, odd_difference);
}

template <int SIGN> __device__ __forceinline__ void transform_8(float2 (&v)[RADIX])
{
    const float root = 0.70710678f;
    float2 low[4], high[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        low[i] = add(v[i], v[i + 4]);
        high[i] = subtract(v[i], v[i + 4]);
    }
    high[1] = multiply(high[1], make_float2(root, SIGN * root));
    high[2] = quarter_turn<SIGN>(high[2]);
    high[3] = multiply(high[3], make_float2(-root, SIGN * root));
    transform_4<SIGN>(low[0], low[1], low[2], low[3], v[0], v[2], v[4], v[6]);
    transform_4<SIGN>(high[0], high[1], high[2], high[3], v[1], v[3], v[5], v[7]);
}

// Point k turned by k * numerator / denominator of a circle.
template <int SIGN> __device__ __forceinline__ void twiddle(float2 (&v)[RADIX], int numerator, int denominator)
{
#pragma unroll
    for (int k = 1; k < RADIX; ++k) {
        const float angle = SIGN * 2.0f * PI / denominator * (k * numerator);
        v[k] = multiply(v[k], make_float2(__cosf(angle), __sinf(angle)));
    }
}

__device__ __forceinline__ void
exchange(float2 (&v)[RADIX], float* words, int store, int store_step, int load, int load_step)
{
#pragma unroll
    for (int k = 0; k < RADIX; ++k)
        words[store + k * store_step] = v[k].x;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < RADIX; ++k)
        v[k].x = words[load + k * load_step];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < RADIX; ++k)
        words[store + k * store_step] = v[k].y;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < RADIX; ++k)
        v[k].y = words[load + k * load_step];
    __syncthreads();
}

template <int SIGN> __device__ __forceinline__ void
transform(const float2* __restrict__ input, float2* __restrict__ output, int stride, float scale)
{
    __shared__ float words[RADIX * RADIX * (RADIX + 1)];

    const int thread = threadIdx.x;
    const int slow = thread / RADIX;
    const int fast = thread % RADIX;
    const int first = blockIdx.x / stride * POINTS * stride + blockIdx.x % stride + thread * stride;

    float2 v[RADIX];
#pragma unroll
    for (int k = 0; k < RADIX; ++k)
        v[k] = input[first + k * THREADS * stride];

    transform_8<SIGN>(v);
    twiddle<SIGN>(v, thread, POINTS);
    exchange(v, words, thread, THREADS + 2, slow * (THREADS + 2) + fast, RADIX);

    transform_8<SIGN>(v);
    twiddle<SIGN>(v, fast, THREADS);
    exchange(v, words, slow * RADIX * (RADIX + 1) + fast, RADIX + 1,
             fast * RADIX * (RADIX + 1) + slow * (RADIX + 1), 1);

    transform_8<SIGN>(v);
#pragma unroll
    for (int k = 0; k < RADIX; ++k)
        output[first + k * THREADS * stride] = make_float2(v[k].x * scale, v[k].y * scale);
}

extern "C" __global__ void __launch_bounds__(THREADS)
fft_forward(const float2* __restrict__ input, float2* __restrict__ output, int stride)
{
    transform<-1>(input, output, stride, 1.0f);
}

extern "C" __global__ void __launch_bounds__(THREADS)
fft_inverse(const float2* __restrict__ input, float2* __restrict__ output, int stride)
{
    transform<1>(input, output, stride, 1.0f / POINTS);
}
