// C = alpha A B + beta C, one thread per element of C, straight from global memory.
// The sum is kept in C itself, as a compiler must where C might overlap A or B.

extern "C" __global__ void __launch_bounds__(256)
gemm(int ni, int nj, int nk, float alpha, float beta, float* a, float* b, float* c)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nj) {
        c[i * nj + j] *= beta;
        for (int k = 0; k < nk; k++)
            c[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
    }
}
