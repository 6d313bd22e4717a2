// Sparse matrix times vector in CSR form: one thread a row, and one warp a row.
extern "C" __global__ void spmv_thread(const int *starts, const int *columns, const float *values, const float *x,
                                       float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i & 255] * x[columns[i & 255]];
    y[row] = sum;
}

extern "C" __global__ void spmv_warp(const int *starts, const int *columns, const float *values, const float *x,
                                     float *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i & 255] * x[columns[i & 255]];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) y[row] = sum;
}
