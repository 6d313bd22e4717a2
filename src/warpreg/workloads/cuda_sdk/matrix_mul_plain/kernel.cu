// C = A B for matrices stored row by row, straight from global memory.
//
// A thread owns an element of C. Its sum is made of two halves of the inner extent that run side by side, which halves
// the chain of dependent additions. Threads beyond the edges compute the last row or column once more and store
// nothing, so that no warp diverges before the end.

extern "C" __global__ void matrix_mul_plain(float *c, const float *a, const float *b, int rows, int inner, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    const float *left = a + min(row, rows - 1) * inner, *right = b + min(col, cols - 1);

    int half = inner / 2;
    float near = 0, far = 0;
    for (int k = 0; k < half; ++k) {
        near += left[k] * right[k * cols];
        far += left[half + k] * right[(half + k) * cols];
    }
    if (inner % 2)
        far += left[inner - 1] * right[(inner - 1) * cols];

    if (row < rows && col < cols)
        c[row * cols + col] = near + far;
}
