// C = alpha A B + beta C for matrices stored row by row, without tiling.
//
// Threads are numbered along the elements of C, row after row, so that only the last block has idle ones. A thread owns
// an element and leaves it in memory: it takes four products at a time and adds their scaled sum to the element there.

constexpr int AT_ONCE = 4;

extern "C" __global__ void gemm(float alpha, const float *a, const float *b, float beta, float *c, int rows, int cols,
                                int inner) {
    int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= rows * cols)
        return;
    const float *left = a + element / cols * inner, *end = left + inner;
    const float *right = b + element % cols;

    c[element] *= beta;
    for (; end - left >= AT_ONCE; left += AT_ONCE, right += AT_ONCE * cols) {
        float sum = 0;
        for (int k = 0; k < AT_ONCE; ++k)
            sum += left[k] * right[k * cols];
        c[element] += alpha * sum;
    }
    for (; left < end; ++left, right += cols)
        c[element] += alpha * *left * *right;
}
