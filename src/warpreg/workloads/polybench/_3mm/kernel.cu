// C = A B for matrices stored row by row, without tiling: one kernel for the three products of G = (A B)(C D).
//
// Threads are numbered along the elements of C, row after row, so that only the last block has idle ones. A thread owns
// an element and leaves it in memory: it takes four products at a time and adds their sum to the element there.

constexpr int AT_ONCE = 4;

extern "C" __global__ void multiply(float *c, const float *a, const float *b, int rows, int inner, int cols) {
    int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= rows * cols)
        return;
    a += element / cols * inner;
    b += element % cols;
    c += element;

    *c = 0;
    int rest = inner;
#pragma unroll 1
    for (; rest >= AT_ONCE; rest -= AT_ONCE) {
        float sum = 0;
        for (int k = 0; k < AT_ONCE; ++k, ++a, b += cols)
            sum += *a * *b;
        *c += sum;
    }
    for (; rest > 0; --rest, ++a, b += cols)
        *c += *a * *b;
}
