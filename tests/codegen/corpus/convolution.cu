// Rows of a separable filter of radius 4: the filter in constant memory, the row with its borders in shared memory.
__constant__ float taps[9] = {0.02f, 0.05f, 0.12f, 0.19f, 0.24f, 0.19f, 0.12f, 0.05f, 0.02f};

extern "C" __global__ void convolve_rows(const float *in, float *out, int width) {
    __shared__ float row[4][64 + 8];
    int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    const float *source = in + y * width;
    row[threadIdx.y][threadIdx.x + 4] = source[x];
    if (threadIdx.x < 4) {
        row[threadIdx.y][threadIdx.x] = x >= 4 ? source[x - 4] : 0.0f;
        row[threadIdx.y][threadIdx.x + 68] = x + 64 < width ? source[x + 64] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 9; ++k) sum += taps[k] * row[threadIdx.y][threadIdx.x + k];
    out[y * width + x] = sum;
}
