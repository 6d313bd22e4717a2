// Two filters that remove noise and keep edges: each pixel becomes a mean of the 7 x 7 pixels around it, weighted by
// how alike they are. For k nearest neighbours (KNN) that is the difference of the two colours; for non-local means
// (NLM) it is that of the 7 x 7 pixels around each of them. The quick form of NLM computes one set of weights for a
// block of 8 x 8 pixels, a weight a thread, in shared memory. Where many weights are large, the pixel lies in a smooth
// region, and little of the original is mixed in again; elsewhere more. A thread a pixel, through a clamping texture.
// (Buades, Coll and Morel, "A non-local algorithm for image denoising", 2005.)

typedef unsigned int uint;
typedef cudaTextureObject_t Texture;

#define BLOCK 8
#define RADIUS 3
#define AREA ((2 * RADIUS + 1) * (2 * RADIUS + 1))
#define INVERSE_AREA (1.0f / AREA)

#define KNN_WEIGHT_THRESHOLD 0.02f
#define KNN_SHARE_THRESHOLD 0.79f
#define NLM_WEIGHT_THRESHOLD 0.10f
#define NLM_SHARE_THRESHOLD 0.10f

__device__ float difference(float4 a, float4 b)
{
    return (b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z);
}

__device__ float mix(float a, float b, float share) { return a + (b - a) * share; }

__device__ uint pack(float r, float g, float b, float a)
{
    return ((int)(a * 255.0f) << 24) | ((int)(b * 255.0f) << 16) | ((int)(g * 255.0f) << 8) | (int)(r * 255.0f);
}

// A weighted mean that grows pixel by pixel.
struct Mean {
    float3 sum;
    float weights;
    float share;  // of the pixels whose weight is over the threshold

    __device__ Mean() : sum(make_float3(0, 0, 0)), weights(0), share(0) {}

    __device__ void add(float4 colour, float weight, float threshold)
    {
        sum.x += colour.x * weight;
        sum.y += colour.y * weight;
        sum.z += colour.z * weight;
        weights += weight;
        share += weight > threshold ? INVERSE_AREA : 0;
    }

    __device__ uint mixed_with(float4 original, float threshold, float mixture) const
    {
        const float inverse = 1.0f / weights;
        const float part = share > threshold ? mixture : 1.0f - mixture;
        return pack(mix(sum.x * inverse, original.x, part), mix(sum.y * inverse, original.y, part),
                    mix(sum.z * inverse, original.z, part), 0);
    }

    // Red for a pixel in a smooth region, blue for others.
    __device__ uint region(float threshold) const
    {
        const float is_smooth = share > threshold ? 1.0f : 0.0f;
        return pack(is_smooth, 0, 1.0f - is_smooth, 0);
    }
};

__device__ Mean knn_mean(Texture image, float x, float y, float sharpness)
{
    Mean mean;
    const float4 centre = tex2D<float4>(image, x, y);
    for (float i = -RADIUS; i <= RADIUS; i++)
        for (float j = -RADIUS; j <= RADIUS; j++) {
            const float4 colour = tex2D<float4>(image, x + j, y + i);
            const float weight =
                __expf(-(difference(centre, colour) * sharpness + (i * i + j * j) * INVERSE_AREA));
            mean.add(colour, weight, KNN_WEIGHT_THRESHOLD);
        }
    return mean;
}

__device__ Mean nlm_mean(Texture image, float x, float y, float sharpness)
{
    Mean mean;
    for (float i = -RADIUS; i <= RADIUS; i++)
        for (float j = -RADIUS; j <= RADIUS; j++) {
            float unlike = 0;
            for (float n = -RADIUS; n <= RADIUS; n++)
                for (float m = -RADIUS; m <= RADIUS; m++)
                    unlike += difference(tex2D<float4>(image, x + j + m, y + i + n),
                                         tex2D<float4>(image, x + m, y + n));
            const float weight = __expf(-(unlike * sharpness + (i * i + j * j) * INVERSE_AREA));
            mean.add(tex2D<float4>(image, x + j, y + i), weight, NLM_WEIGHT_THRESHOLD);
        }
    return mean;
}

// The block's weights, those of the pixel in its middle, one by each thread.
__device__ void quick_weights(float* weights, Texture image, float x, float y, bool is_inside, float sharpness)
{
    const float centre_x = blockDim.x * blockIdx.x + RADIUS + 0.5f;
    const float centre_y = blockDim.y * blockIdx.y + RADIUS + 0.5f;
    float weight = 0;
    if (is_inside) {
        float unlike = 0;
        for (float n = -RADIUS; n <= RADIUS; n++)
            for (float m = -RADIUS; m <= RADIUS; m++)
                unlike += difference(tex2D<float4>(image, centre_x + m, centre_y + n),
                                     tex2D<float4>(image, x + m, y + n));
        const float distance = (x - centre_x) * (x - centre_x) + (y - centre_y) * (y - centre_y);
        weight = __expf(-(unlike * sharpness + distance * INVERSE_AREA));
    }
    weights[threadIdx.y * BLOCK + threadIdx.x] = weight;
    __syncthreads();
}

__device__ Mean quick_mean(const float* weights, Texture image, float x, float y)
{
    Mean mean;
    int next = 0;
    for (float i = -RADIUS; i <= RADIUS + 1; i++)
        for (float j = -RADIUS; j <= RADIUS + 1; j++)
            mean.add(tex2D<float4>(image, x + j, y + i), weights[next++], NLM_WEIGHT_THRESHOLD);
    return mean;
}

// ---- Kernels: the picture, and which of its regions are smooth

extern "C" __global__ void copy(uint* out, int width, int height, Texture image)
{
    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;
    if (ix >= width || iy >= height)
        return;
    const float4 colour = tex2D<float4>(image, ix + 0.5f, iy + 0.5f);
    out[width * iy + ix] = pack(colour.x, colour.y, colour.z, 0);
}

extern "C" __global__ void knn(uint* out, int width, int height, float sharpness, float mixture, Texture image)
{
    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;
    if (ix >= width || iy >= height)
        return;
    const Mean mean = knn_mean(image, ix + 0.5f, iy + 0.5f, sharpness);
    const float4 original = tex2D<float4>(image, ix + 0.5f, iy + 0.5f);
    out[width * iy + ix] = mean.mixed_with(original, KNN_SHARE_THRESHOLD, mixture);
}

extern "C" __global__ void knn_regions(uint* out, int width, int height, float sharpness, Texture image)
{
    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;
    if (ix >= width || iy >= height)
        return;
    out[width * iy + ix] = knn_mean(image, ix + 0.5f, iy + 0.5f, sharpness).region(KNN_SHARE_THRESHOLD);
}

extern "C" __global__ void nlm(uint* out, int width, int height, float sharpness, float mixture, Texture image)
{
    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;
    if (ix >= width || iy >= height)
        return;
    const Mean mean = nlm_mean(image, ix + 0.5f, iy + 0.5f, sharpness);
    const float4 original = tex2D<float4>(image, ix + 0.5f, iy + 0.5f);
    out[width * iy + ix] = mean.mixed_with(original, NLM_SHARE_THRESHOLD, mixture);
}

extern "C" __global__ void nlm_regions(uint* out, int width, int height, float sharpness, Texture image)
{
    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;
    if (ix >= width || iy >= height)
        return;
    out[width * iy + ix] = nlm_mean(image, ix + 0.5f, iy + 0.5f, sharpness).region(NLM_SHARE_THRESHOLD);
}

extern "C" __global__ void nlm_quick(uint* out, int width, int height, float sharpness, float mixture, Texture image)
{
    __shared__ float weights[BLOCK * BLOCK];

    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;
    const bool is_inside = ix < width && iy < height;
    quick_weights(weights, image, ix + 0.5f, iy + 0.5f, is_inside, sharpness);
    if (is_inside) {
        const Mean mean = quick_mean(weights, image, ix + 0.5f, iy + 0.5f);
        const float4 original = tex2D<float4>(image, ix + 0.5f, iy + 0.5f);
        out[width * iy + ix] = mean.mixed_with(original, NLM_SHARE_THRESHOLD, mixture);
    }
}

extern "C" __global__ void nlm_quick_regions(uint* out, int width, int height, float sharpness, Texture image)
{
    __shared__ float weights[BLOCK * BLOCK];

    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;
    const bool is_inside = ix < width && iy < height;
    quick_weights(weights, image, ix + 0.5f, iy + 0.5f, is_inside, sharpness);
    if (is_inside) {
        const Mean mean = quick_mean(weights, image, ix + 0.5f, iy + 0.5f);
        out[width * iy + ix] = mean.region(NLM_SHARE_THRESHOLD);
    }
}
