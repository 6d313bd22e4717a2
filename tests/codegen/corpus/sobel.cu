// Edges of an image of bytes: clamped borders, integer gradients, the result saturated to a byte.
__device__ int pixel(const unsigned char *image, int x, int y, int width, int height) {
    x = min(max(x, 0), width - 1);
    y = min(max(y, 0), height - 1);
    return image[y * width + x];
}

extern "C" __global__ void sobel(const unsigned char *in, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int a = pixel(in, x - 1, y - 1, width, height), b = pixel(in, x, y - 1, width, height);
    int c = pixel(in, x + 1, y - 1, width, height), d = pixel(in, x - 1, y, width, height);
    int f = pixel(in, x + 1, y, width, height), g = pixel(in, x - 1, y + 1, width, height);
    int h = pixel(in, x, y + 1, width, height), i = pixel(in, x + 1, y + 1, width, height);
    int gx = c + 2 * f + i - a - 2 * d - g, gy = g + 2 * h + i - a - 2 * b - c;
    out[y * width + x] = (unsigned char)min(abs(gx) + abs(gy), 255);
}
