// Matrix product with 4 x 4 results a thread, tiles of 64 x 8 and 8 x 64 in shared memory.
extern "C" __global__ void gemm_blocked(const float *a, const float *b, float *c, int n) {
    __shared__ float left[8][64];
    __shared__ float right[8][64];
    int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += 8) {
        for (int part = 0; part < 2; ++part) {
            int i = threadIdx.x + part * 256;
            left[i & 7][i >> 3] = a[(row + (i >> 3)) * n + k + (i & 7)];
            right[i >> 6][i & 63] = b[(k + (i >> 6)) * n + column + (i & 63)];
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < 8; ++step)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += left[step][ty * 4 + i] * right[step][tx * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) c[(row + ty * 4 + i) * n + column + tx * 4 + j] = sum[i][j];
}
