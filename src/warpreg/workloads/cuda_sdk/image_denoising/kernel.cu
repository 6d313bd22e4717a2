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
};

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
    const float x = ix + 0.5f;
    const float y = iy + 0.5f;
    if (ix >= width || iy >= height)
        return;

    Mean mean;
    const float4 centre = tex2D<float4>(image, x, y);
    for (float i = -RADIUS; i <= RADIUS; i++)
        for (float j = -RADIUS; j <= RADIUS; j++) {
            const float4 colour = tex2D<float4>(image, x + j, y + i);
            const float weight =
                __expf(-(difference(centre, colour) * sharpness + (i * i + j * j) * INVERSE_AREA));
            mean.add(colour, weight, KNN_WEIGHT_THRESHOLD);
        }
    out[width * iy + ix] = mean.mixed_with(centre, KNN_SHARE_THRESHOLD, mixture);
}

extern "C" __global__ void nlm(uint* out, int width, int height, float sharpness, float mixture, Texture image)
{
    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;
    const float x = ix + 0.5f;
    const float y = iy + 0.5f;
    if (ix >= width || iy >= height)
        return;

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
    out[width * iy + ix] = mean.mixed_with(tex2D<float4>(image, x, y), NLM_SHARE_THRESHOLD, mixture);
}

extern "C" __global__ void nlm_quick(uint* out, int width, int height, float sharpness, float mixture, Texture image)
{
    __shared__ float weights[BLOCK * BLOCK];

    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;
    const float x = ix + 0.5f;
    const float y = iy + 0.5f;
    // The weights are those of the pixel in the middle of the block.
    const float centre_x = blockDim.x * blockIdx.x + RADIUS + 0.5f;
    const float centre_y = blockDim.y * blockIdx.y + RADIUS + 0.5f;

    if (ix < width && iy < height) {
        float unlike = 0;
        for (float n = -RADIUS; n <= RADIUS; n++)
            for (float m = -RADIUS; m <= RADIUS; m++)
                unlike += difference(tex2D<float4>(image, centre_x + m, centre_y + n),
                                     tex2D<float4>(image, x + m, y + n));
        const float distance = (x - centre_x) * (x - centre_x) + (y - centre_y) * (y - centre_y);
        weights[threadIdx.y * BLOCK + threadIdx.x] = __expf(-(unlike * sharpness + distance * INVERSE_AREA));
    } else {
        weights[threadIdx.y * BLOCK + threadIdx.x] = 0;
    }
    __syncthreads();

    if (ix < width && iy < height) {
        Mean mean;
        int next = 0;
        for (float i = -RADIUS; i <= RADIUS + 1; i++)
            for (float j = -RADIUS; j <= RADIUS + 1; j++)
                mean.add(tex2D<float4>(image, x + j, y + i), weights[next++], NLM_WEIGHT_THRESHOLD);
        out[width * iy + ix] = mean.mixed_with(tex2D<float4>(image, x, y), NLM_SHARE_THRESHOLD, mixture);
    }
}
