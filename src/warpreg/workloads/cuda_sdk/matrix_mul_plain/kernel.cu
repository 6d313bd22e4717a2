// C = A B for matrices stored row by row, straight from global memory, without any optimization.
//
// A thread owns an element of C and sums its products one after the other. Threads beyond the edges compute the last row
// or column once more and store nothing, so that no warp diverges before the end.

extern "C" __global__ void matrix_mul_plain(float *c, const float *a, const float *b, int rows, int inner, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    const float *left = a + min(row, rows - 1) * inner, *right = b + min(col, cols - 1);

    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < inner; ++k)
        sum += left[k] * right[k * cols];

    if (row < rows && col < cols)
        c[row * cols + col] = sum;
}
