// C = A * B for row-major matrices of any shape: A is m x k, B is k x n.
// A block of 32 x 32 threads computes one 32 x 32 tile of C and walks along k, one shared tile of A and B at a time.

#define TILE 32

extern "C" __global__ void __launch_bounds__(TILE * TILE)
matrix_mul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;

    float sum = 0.0f;
    for (int base = 0; base < k; base += TILE) {
        a_tile[ty][tx] = row < m && base + tx < k ? a[row * k + base + tx] : 0.0f;
        b_tile[ty][tx] = base + ty < k && col < n ? b[(base + ty) * n + col] : 0.0f;
        __syncthreads();

#pragma unroll
        for (int i = 0; i < TILE; ++i)
            sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
