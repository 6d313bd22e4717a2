// C = A B for matrices stored row by row, without tiling: one kernel for the three products of G = (A B)(C D).
//
// A thread owns an element of C and leaves it in memory, to which it adds one product after the other.

extern "C" __global__ void multiply(float *c, const float *a, const float *b, int rows, int inner, int cols) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols)
        return;
    a += row * inner;
    b += col;
    c += row * cols + col;

    *c = 0;
    for (; inner > 0; --inner, ++a, b += cols)
        *c += *a * *b;
}
