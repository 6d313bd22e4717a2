// An image convolved with 17 weights along its rows, then along its columns, through textures that clamp coordinates.
//
// A thread owns two results that are neighbours along the direction of the convolution. They need 18 pixels between
// them: each is fetched once and added to both sums as it comes, with the weights of its two distances.

constexpr int RADIUS = 8;
constexpr int WEIGHTS = 2 * RADIUS + 1;

__constant__ float weights[WEIGHTS];

// The sums at (x, y) and one step further; the weight of a pixel at distance d is weights[RADIUS - d].
template <int DX, int DY>
__device__ float2 convolved(cudaTextureObject_t image, int x, int y) {
    float centre_x = x + 0.5f, centre_y = y + 0.5f;
    float2 sums = {};
#pragma unroll
    for (int d = -RADIUS; d <= RADIUS + 1; ++d) {
        float pixel = tex2D<float>(image, centre_x + d * DX, centre_y + d * DY);
        if (d <= RADIUS)
            sums.x += pixel * weights[RADIUS - d];
        if (d > -RADIUS)
            sums.y += pixel * weights[RADIUS + 1 - d];
    }
    return sums;
}

extern "C" __global__ void convolve_rows(cudaTextureObject_t image, float *result, int width, int height) {
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float2 sums = convolved<1, 0>(image, x, y);
    result += y * width + x;
    result[0] = sums.x;
    if (x + 1 < width)
        result[1] = sums.y;
}

extern "C" __global__ void convolve_columns(cudaTextureObject_t image, float *result, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height)
        return;
    float2 sums = convolved<0, 1>(image, x, y);
    result += y * width + x;
    result[0] = sums.x;
    if (y + 1 < height)
        result[width] = sums.y;
}
