// C = A B for row-major A (m x k), column-major B (k x n), row-major C; a warp makes a 16 x 16 tile of C.
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

template <typename T, typename Sum, int Inner>
__device__ void gemm(const T* a, const T* b, Sum* c, int n, int k) {
    int row = blockIdx.y * 16, column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, Inner, Sum> sum;
    wmma::fill_fragment(sum, Sum(0));
    for (int at = 0; at < k; at += Inner) {
        wmma::fragment<wmma::matrix_a, 16, 16, Inner, T, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, Inner, T, wmma::col_major> right;
        wmma::load_matrix_sync(left, a + row * k + at, k);
        wmma::load_matrix_sync(right, b + column * k + at, k);
        wmma::mma_sync(sum, left, right, sum);
    }
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] * Sum(2);
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void half_gemm(const half* a, const half* b, float* c, int n, int k) {
    gemm<half, float, 16>(a, b, c, n, k);
}

extern "C" __global__ void byte_gemm(const signed char* a, const signed char* b, int* c, int n, int k) {
    gemm<signed char, int, 16>(a, b, c, n, k);
}

extern "C" __global__ void bfloat_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
    gemm<__nv_bfloat16, float, 16>(a, b, c, n, k);
}
