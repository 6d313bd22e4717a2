// D = alpha A B C + beta D in two launches, one thread per element, straight from global memory.
// Sums are kept in the result itself, as a compiler must where it might overlap the factors.

extern "C" __global__ void __launch_bounds__(256)
multiply(int ni, int nj, int nk, int nl, float alpha, float beta, float* product, float* a, float* b)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nj) {
        product[i * nj + j] = 0.0f;
        for (int k = 0; k < nk; k++)
            product[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
    }
}

extern "C" __global__ void __launch_bounds__(256)
multiply_and_add(int ni, int nj, int nk, int nl, float alpha, float beta, float* product, float* c, float* d)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nl) {
        d[i * nl + j] *= beta;
        for (int k = 0; k < nj; k++)
            d[i * nl + j] += product[i * nj + k] * c[k * nl + j];
    }
}
