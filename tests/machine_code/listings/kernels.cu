// A dozen small kernels, each with one feature of machine code.  `make_listings.py` makes the files beside this one.

__constant__ int table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__device__ int total;

extern "C" __global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void collatz(const int *start, int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int value = start[i], count = 0;
    while (value != 1) {
        value = value % 2 ? 3 * value + 1 : value / 2;
        ++count;
    }
    steps[i] = count;
}

extern "C" __global__ void divide(const float *a, const float *b, float *c)
{
    int i = threadIdx.x;
    c[i] = a[i] / b[i];
}

extern "C" __global__ void divide_whole(const int *a, const int *b, int *c, const unsigned *d, unsigned *e)
{
    int i = threadIdx.x;
    c[i] = a[i] / b[i];
    e[i] = d[i] % 37u;
}

extern "C" __global__ void sum_block(const int *in, int *out)
{
    __shared__ int part[128];
    int i = threadIdx.x;
    part[i] = in[blockIdx.x * 128 + i];
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (i < step)
            part[i] += part[i + step];
        __syncthreads();
    }
    if (i == 0)
        out[blockIdx.x] = part[0];
}

extern "C" __global__ void count(const int *in, int *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[in[i] & 7], 1);
        if (in[i] > 100)
            atomicMax(&total, in[i]);
    }
}

extern "C" __global__ void exchange(const int *in, int *out)
{
    int i = threadIdx.x, value = in[i];
    for (int step = 16; step; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    unsigned odd = __ballot_sync(0xffffffff, in[i] & 1);
    out[i] = value ^ __popc(odd) ^ __clz(in[i] | 1);
}

extern "C" __global__ void doubles(const double *a, const double *b, double *c)
{
    int i = threadIdx.x;
    c[i] = a[i] / b[i] + a[i] * b[i] - sqrt(fabs(b[i]));
}

extern "C" __global__ void wide(const long long *a, const long long *b, long long *c)
{
    int i = threadIdx.x;
    long long x = a[i], y = b[i];
    c[i] = x * y + (x > y ? x - y : y >> 3) + (unsigned long long)x / 7u;
}

extern "C" __global__ void choose(const int *in, int *out)
{
    int i = threadIdx.x, value = in[i];
    switch (value & 7) {
    case 0: value = value * 3 + i; break;
    case 1: value = value - (i << 4); break;
    case 2: value = value ^ 0x55; break;
    case 3: value = __brev(value); break;
    case 4: value = value / (i + 1); break;
    case 5: value = table[value >> 3 & 15]; break;
    case 6: value = -value; break;
    default: value = value & i; break;
    }
    out[i] = value;
}

extern "C" __global__ void local(const int *order, int *out)
{
    int own[16], i = threadIdx.x;
    for (int k = 0; k < 16; ++k)
        own[k] = i * k + 1;
    for (int k = 0; k < 16; ++k)
        own[order[k] & 15] += own[(order[k] + i) & 15];
    int sum = 0;
    for (int k = 0; k < 16; ++k)
        sum = sum * 3 + own[k];
    out[i] = sum;
}

extern "C" __global__ void narrow(const unsigned char *a, const short *b, unsigned char *c, short *d)
{
    int i = threadIdx.x;
    c[i] = (unsigned char)(a[i] * 3 + table[i & 15]);
    d[i] = (short)(b[i] / 5 - a[i]);
}
