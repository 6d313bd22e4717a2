// D = alpha A B C + beta D in two products, for matrices stored row by row, without tiling.
//
// A thread owns an element of a result and leaves it in memory, to which it adds one product after the other.

__device__ void add_products(float *element, float scale, const float *row, const float *column, int inner,
                             int stride) {
    for (; inner > 0; --inner, ++row, column += stride)
        *element += scale * *row * *column;
}

extern "C" __global__ void multiply(float alpha, const float *a, const float *b, float *product, int ni, int nj,
                                    int nk) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ni || col >= nj)
        return;
    float *element = product + row * nj + col;
    *element = 0;
    add_products(element, alpha, a + row * nk, b + col, nk, nj);
}

extern "C" __global__ void multiply_and_add(float beta, const float *product, const float *c, float *d, int ni, int nj,
                                            int nl) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ni || col >= nl)
        return;
    float *element = d + row * nl + col;
    *element *= beta;
    add_products(element, 1, product + row * nj, c + col, nj, nl);
}
