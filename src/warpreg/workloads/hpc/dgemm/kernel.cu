// C = alpha * A * B + beta * C in double precision for row-major matrices of any shape: A is m x k, B is k x n.
// A block of 16 x 16 threads computes a 64 x 64 tile of C, 4 x 4 elements a thread, 16 apart. Along k it copies 64 x 16
// elements of A and 16 x 64 of B to shared memory, after it has loaded the next ones to registers.

#define THREADS 16
#define EACH 4
#define TILE (THREADS * EACH)
#define DEPTH 16

extern "C" __global__ void __launch_bounds__(THREADS * THREADS)
dgemm(const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ c, int m, int n, int k,
      double alpha, double beta)
{
    __shared__ double a_tile[DEPTH][TILE + 1];
    __shared__ double b_tile[DEPTH][TILE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int first_row = blockIdx.y * TILE;
    const int first_col = blockIdx.x * TILE;

    double sums[EACH][EACH] = {};
    double a_next[EACH], b_next[EACH];

#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int row = first_row + ty + i * THREADS;
        const int col = first_col + tx + i * THREADS;
        a_next[i] = row < m && tx < k ? a[row * k + tx] : 0.0;
        b_next[i] = ty < k && col < n ? b[ty * n + col] : 0.0;
    }

    for (int base = 0; base < k; base += DEPTH) {
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            a_tile[tx][ty + i * THREADS] = a_next[i];
            b_tile[ty][tx + i * THREADS] = b_next[i];
        }
        __syncthreads();

        const int next = base + DEPTH;
        if (next < k) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const int row = first_row + ty + i * THREADS;
                const int col = first_col + tx + i * THREADS;
                a_next[i] = row < m && next + tx < k ? a[row * k + next + tx] : 0.0;
                b_next[i] = next + ty < k && col < n ? b[(next + ty) * n + col] : 0.0;
            }
        }

#pragma unroll 4
        for (int depth = 0; depth < DEPTH; ++depth) {
            double a_values[EACH], b_values[EACH];
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                a_values[i] = a_tile[depth][ty + i * THREADS];
                b_values[i] = b_tile[depth][tx + i * THREADS];
            }
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
#pragma unroll
                for (int j = 0; j < EACH; ++j)
                    sums[i][j] += a_values[i] * b_values[j];
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int row = first_row + ty + i * THREADS;
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const int col = first_col + tx + j * THREADS;
            if (row < m && col < n)
                c[row * n + col] = alpha * sums[i][j] + beta * c[row * n + col];
        }
    }
}
