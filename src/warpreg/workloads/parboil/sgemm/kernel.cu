// C = beta C + alpha A B^T in single precision, all matrices column by column. A block of 16 x 8 threads computes a tile
// of 128 rows and 16 columns: a thread owns one row and sixteen sums in registers; in each step it loads eight elements
// of its row of A, and the block a tile of B to shared memory that all of its threads read.

#define TILE_N 16
#define TILE_HEIGHT 8
#define TILE_M (TILE_N * TILE_HEIGHT)

extern "C" __global__ void __launch_bounds__(TILE_M)
sgemm_nt(const float* a, int lda, const float* b, int ldb, float* c, int ldc, int k, float alpha, float beta)
{
    float sums[TILE_N];
    #pragma unroll
    for (int i = 0; i < TILE_N; i++)
        sums[i] = 0.0f;

    const int thread = threadIdx.y * TILE_N + threadIdx.x;
    const int m = blockIdx.x * TILE_M + thread;
    const int n = blockIdx.y * TILE_N + threadIdx.x;
    __shared__ float tile[TILE_HEIGHT][TILE_N];

    for (int i = 0; i < k; i += TILE_HEIGHT) {
        tile[threadIdx.y][threadIdx.x] = b[n + (i + threadIdx.y) * ldb];
        __syncthreads();
        #pragma unroll 1
        for (int j = 0; j < TILE_HEIGHT; j++) {
            const float element = a[m + (i + j) * lda];
            #pragma unroll
            for (int column = 0; column < TILE_N; column++)
                sums[column] += element * tile[j][column];
        }
        __syncthreads();
    }

    const int target = m + blockIdx.y * TILE_N * ldc;
    for (int i = 0; i < TILE_N; i++)
        c[target + i * ldc] = c[target + i * ldc] * beta + alpha * sums[i];
}
