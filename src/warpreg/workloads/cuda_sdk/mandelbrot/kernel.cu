// Escape counts of the Mandelbrot iteration z -> z*z + c, one pixel per thread.
// A count is the number of iterations after which |z| exceeds 2, or `limit` if it never does.

extern "C" __global__ void mandelbrot(int* __restrict__ counts, int width, int height, float left, float top,
                                      float pixel, int limit)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height)
        return;

    const float cx = left + pixel * col;
    const float cy = top - pixel * row;
    float x = 0.0f, y = 0.0f, xx = 0.0f, yy = 0.0f;
    int count = 0;
    while (count < limit && xx + yy <= 4.0f) {
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        ++count;
    }
    counts[row * width + col] = count;
}
