// Small kernels that between them use what CUDA compilers make of ordinary code.  The references are in references.py.

#ifdef __clang__  // without CUDA's headers
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define THREAD_X __nvvm_read_ptx_sreg_tid_x()
#define THREAD_Y __nvvm_read_ptx_sreg_tid_y()
#define BLOCK_X __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCK_Y __nvvm_read_ptx_sreg_ctaid_y()
#define WIDTH_X __nvvm_read_ptx_sreg_ntid_x()
#define WIDTH_Y __nvvm_read_ptx_sreg_ntid_y()
#define ADD_ATOMICALLY(p, v) __nvvm_atom_add_gen_i(p, v)
#define ONES(x) __builtin_popcount(x)
#define ROOT(x) __nvvm_sqrt_rn_f(x)
#define FUSED(a, b, c) __nvvm_fma_rn_d(a, b, c)
#define LEADING_ZEROS(x) ((x) ? __builtin_clz(x) : 32)
#else
#define THREAD_X threadIdx.x
#define THREAD_Y threadIdx.y
#define BLOCK_X blockIdx.x
#define BLOCK_Y blockIdx.y
#define WIDTH_X blockDim.x
#define WIDTH_Y blockDim.y
#define ADD_ATOMICALLY(p, v) atomicAdd(p, v)
#define ONES(x) __popc(x)
#define LEADING_ZEROS(x) __clz(x)
#define ROOT(x) __fsqrt_rn(x)
#define FUSED(a, b, c) __fma_rn(a, b, c)
#endif

#define INDEX (BLOCK_X * WIDTH_X + THREAD_X)
#define KERNEL extern "C" __global__ void

KERNEL saxpy(float a, const float *x, float *y, int n)
{
    int i = INDEX;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// A tree in shared memory, then one atomic a block.
KERNEL block_sum(const int *x, int *total, int n)
{
    __shared__ int partial[128];
    int i = INDEX, t = THREAD_X;
    partial[t] = i < n ? x[i] : 0;
    for (int step = 64; step > 0; step >>= 1) {
        __syncthreads();
        if (t < step)
            partial[t] += partial[t + step];
    }
    if (t == 0)
        ADD_ATOMICALLY(total, partial[0]);
}

// A padded tile of 8x8, so that columns lie in different banks.
KERNEL transpose(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[8][9];
    int c = BLOCK_X * 8 + THREAD_X, r = BLOCK_Y * 8 + THREAD_Y;
    if (r < rows && c < columns)
        tile[THREAD_Y][THREAD_X] = in[r * columns + c];
    __syncthreads();
    r = BLOCK_X * 8 + THREAD_Y, c = BLOCK_Y * 8 + THREAD_X;
    if (r < columns && c < rows)
        out[r * rows + c] = tile[THREAD_X][THREAD_Y];
}

__constant__ float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

KERNEL stencil(const float *in, float *out, int n)
{
    int i = INDEX;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = -2; k <= 2; k++) {
        int at = i + k < 0 ? 0 : i + k >= n ? n - 1 : i + k;
        sum += weights[k + 2] * in[at];
    }
    out[i] = sum;
}

// Each thread takes its own number of turns.
KERNEL collatz(const unsigned long long *start, int *steps, int n)
{
    int i = INDEX;
    if (i >= n)
        return;
    unsigned long long value = start[i];
    int count = 0;
    while (value != 1) {
        value = value & 1 ? 3 * value + 1 : value >> 1;
        count++;
    }
    steps[i] = count;
}

KERNEL polynomial(const double *x, double *y, int n)
{
    int i = INDEX;
    if (i >= n)
        return;
    double v = x[i];
    y[i] = FUSED(v, FUSED(v, FUSED(v, 0.125, -0.5), 2.0), 1.0 / v);
}

KERNEL bits(const unsigned *x, unsigned *y, int n)
{
    int i = INDEX;
    if (i >= n)
        return;
    unsigned v = x[i], by = i % 31 + 1, rotated = v << by | v >> (32 - by);
    y[i] = (rotated ^ (v * 2654435761u)) + ONES(v) * 1000u + LEADING_ZEROS(v);
}

KERNEL divisions(const long long *a, const int *b, const float *f, long long *quotient, int *rest, float *root, int n)
{
    int i = INDEX;
    if (i >= n)
        return;
    quotient[i] = a[i] / b[i];
    rest[i] = b[i] % 7 + (int)(((unsigned long long)a[i]) % 1000u);
    root[i] = ROOT(f[i]) / f[n - 1 - i];
}

KERNEL choose(const int *what, const int *a, int *out, int n)
{
    int i = INDEX;
    if (i >= n)
        return;
    int v = a[i];
    switch (what[i]) {
    case 0: v = v + 7; break;
    case 1: v = v * v; break;
    case 2: v = v ^ 0x5555;  // and the next
    case 3: v = -v; break;
    case 4: v = v / 3; break;
    case 5: v = v << 3; break;
    case 6: v = v > 100 ? 100 : v; break;
    default: v = 0;
    }
    out[i] = v;
}

struct Affine {
    float scale[3];
    short shift;
    char sign;
    double bias;
};

__device__ __noinline__ float applied(float x, float scale, int shift)
{
    return x * scale + (float)shift;
}

KERNEL affine(Affine map, const float *x, float *y, int n)
{
    int i = INDEX;
    if (i < n)
        y[i] = (float)map.bias + (float)map.sign * applied(x[i], map.scale[i % 3], map.shift);
}

// The eight least of sixteen, sorted in an array of the thread's own: indexed at run time, so in local memory.
KERNEL least(const unsigned char *x, unsigned char *y, int n)
{
    int i = INDEX;
    if (i >= n)
        return;
    unsigned char mine[16];
    for (int k = 0; k < 16; k++) {
        int at = k;
        unsigned char v = x[16 * i + k];
        while (at > 0 && mine[at - 1] > v) {
            mine[at] = mine[at - 1];
            at--;
        }
        mine[at] = v;
    }
    for (int k = 0; k < 8; k++)
        y[8 * i + k] = mine[k];
}
