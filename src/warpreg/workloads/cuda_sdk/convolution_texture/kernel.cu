// A separable convolution of an image with 17 weights, along rows, then along columns. Each thread fetches the 17
// pixels of its result through a texture, which repeats the outermost pixels beyond the image; the sums are unrolled by
// templates. Blocks of 16 x 12 threads, a pixel each.

#define RADIUS 8
#define WEIGHTS (2 * RADIUS + 1)

__constant__ float weights[WEIGHTS];

template <int I>
__device__ float row_sum(cudaTextureObject_t image, float x, float y)
{
    return tex2D<float>(image, x + (RADIUS - I), y) * weights[I] + row_sum<I - 1>(image, x, y);
}

template <>
__device__ float row_sum<-1>(cudaTextureObject_t, float, float)
{
    return 0;
}

template <int I>
__device__ float column_sum(cudaTextureObject_t image, float x, float y)
{
    return tex2D<float>(image, x, y + (RADIUS - I)) * weights[I] + column_sum<I - 1>(image, x, y);
}

template <>
__device__ float column_sum<-1>(cudaTextureObject_t, float, float)
{
    return 0;
}

extern "C" __global__ void convolve_rows(float* out, int width, int height, cudaTextureObject_t image)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    out[y * width + x] = row_sum<WEIGHTS - 1>(image, x + 0.5f, y + 0.5f);
}

extern "C" __global__ void convolve_columns(float* out, int width, int height, cudaTextureObject_t image)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    out[y * width + x] = column_sum<WEIGHTS - 1>(image, x + 0.5f, y + 0.5f);
}
