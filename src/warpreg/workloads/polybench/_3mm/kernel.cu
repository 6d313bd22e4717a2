// G = (A B)(C D) in three launches, one thread per element, straight from global memory.
// The original has one kernel per product, alike but for the names of their extents; so has this file.

extern "C" __global__ void __launch_bounds__(256)
first_product(int ni, int nj, int nk, int nl, int nm, float* a, float* b, float* e)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nj) {
        e[i * nj + j] = 0.0f;
        for (int k = 0; k < nk; k++)
            e[i * nj + j] += a[i * nk + k] * b[k * nj + j];
    }
}

extern "C" __global__ void __launch_bounds__(256)
second_product(int ni, int nj, int nk, int nl, int nm, float* c, float* d, float* f)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nj && j < nl) {
        f[i * nl + j] = 0.0f;
        for (int k = 0; k < nm; k++)
            f[i * nl + j] += c[i * nm + k] * d[k * nl + j];
    }
}

extern "C" __global__ void __launch_bounds__(256)
third_product(int ni, int nj, int nk, int nl, int nm, float* e, float* f, float* g)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nl) {
        g[i * nl + j] = 0.0f;
        for (int k = 0; k < nj; k++)
            g[i * nl + j] += e[i * nj + k] * f[k * nl + j];
    }
}
