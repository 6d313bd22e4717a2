// D = alpha A B C + beta D in two products, for matrices stored row by row, without tiling.
//
// Threads are numbered along the elements of a result, row after row, so that only the last block has idle ones. A
// thread owns an element and leaves it in memory: it takes four products at a time and adds their sum to it there.

constexpr int AT_ONCE = 4;

// Adds to ``element`` the scaled product of a row and a column of ``inner`` elements, the column's ``stride`` apart.
__device__ void add_product(float *element, float scale, const float *row, const float *column, int inner, int stride) {
    int k = 0;
#pragma unroll 1
    for (; k <= inner - AT_ONCE; k += AT_ONCE) {
        float sum = 0;
        for (int i = k; i < k + AT_ONCE; ++i, column += stride)
            sum += row[i] * *column;
        *element += scale * sum;
    }
    for (; k < inner; ++k, column += stride)
        *element += scale * row[k] * *column;
}

extern "C" __global__ void multiply(float alpha, const float *a, const float *b, float *product, int ni, int nj,
                                    int nk) {
    int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element < ni * nj) {
        product[element] = 0;
        add_product(product + element, alpha, a + element / nj * nk, b + element % nj, nk, nj);
    }
}

extern "C" __global__ void multiply_and_add(float beta, const float *product, const float *c, float *d, int ni, int nj,
                                            int nl) {
    int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element < ni * nl) {
        d[element] *= beta;
        add_product(d + element, 1, product + element / nl * nj, c + element % nl, nj, nl);
    }
}
