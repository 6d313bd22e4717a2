// One radix-4 pass of a complex FFT; twiddles come from the special function unit.
__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

extern "C" __global__ void fft_radix4(const float2 *in, float2 *out, int n, int span) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int quarter = n / 4;
    if (i >= quarter) return;
    int k = i & (span - 1);
    float angle = -1.5707963f * (float)k / (float)span;
    float2 w1 = make_float2(__cosf(angle), __sinf(angle));
    float2 w2 = times(w1, w1);
    float2 w3 = times(w2, w1);
    float2 a = in[i], b = times(in[i + quarter], w1);
    float2 c = times(in[i + 2 * quarter], w2), d = times(in[i + 3 * quarter], w3);
    float2 s = make_float2(a.x + c.x, a.y + c.y), t = make_float2(a.x - c.x, a.y - c.y);
    float2 u = make_float2(b.x + d.x, b.y + d.y), v = make_float2(b.y - d.y, d.x - b.x);
    int at = ((i - k) << 2) + k;
    out[at] = make_float2(s.x + u.x, s.y + u.y);
    out[at + span] = make_float2(t.x + v.x, t.y + v.y);
    out[at + 2 * span] = make_float2(s.x - u.x, s.y - u.y);
    out[at + 3 * span] = make_float2(t.x - v.x, t.y - v.y);
}
