// Noise is taken out of an image by means over 7 x 7 neighbours, weighted by how alike they are to the pixel: as single
// pixels (knn), as windows of 7 x 7 pixels (nlm), or as windows once for a block of 8 x 8 pixels (nlm_quick).
//
// knn takes neighbours in opposite pairs, which have a distance in common. nlm compares the seven neighbours of a row
// at once, so that a pixel of the own window is fetched once for seven windows. The quick form compares with the window
// around the fourth pixel of the fourth row: that lies within the block, whose pixels wait in shared memory.

constexpr int SIDE = 8;
constexpr int RADIUS = 3;
constexpr int WIDTH = 2 * RADIUS + 1;
constexpr float AREA = WIDTH * WIDTH;

// What a weight must exceed to count, and how many must count for a region to be smooth.
struct Smooth {
    float weight, count;
};
constexpr Smooth KNN = {0.02f, 0.79f * AREA};
constexpr Smooth NLM = {0.10f, 0.10f * AREA};

__device__ float3 operator+(float3 a, float3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ float3 operator-(float3 a, float3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ float3 operator*(float scale, float3 a) { return {scale * a.x, scale * a.y, scale * a.z}; }
__device__ float squared(float3 a) { return a.x * a.x + a.y * a.y + a.z * a.z; }

__device__ float3 colour(cudaTextureObject_t image, int x, int y) {
    float4 texel = tex2D<float4>(image, x + 0.5f, y + 0.5f);
    return {texel.x, texel.y, texel.z};
}

__device__ float weight_of(float unlike, float sharpness, int dx, int dy) {
    return __expf(-(unlike * sharpness + (dx * dx + dy * dy) / AREA));
}

// The pixels around one, by weight.
struct Neighbours {
    float3 sum;
    float weight;
    int alike;

    __device__ void add(float3 pixel, float by, float threshold) {
        sum = sum + by * pixel;
        weight += by;
        alike += by > threshold;
    }
};

__device__ int2 own_pixel() {
    return {int(blockIdx.x * SIDE + threadIdx.x), int(blockIdx.y * SIDE + threadIdx.y)};
}

__device__ void store(uchar4 *out, int2 at, int width, int height, float3 pixel) {
    if (at.x < width && at.y < height) {
        float3 levels = 255 * pixel;
        out[at.y * width + at.x] = make_uchar4(levels.x, levels.y, levels.z, 0);
    }
}

// The mean, with more of the pixel itself where the region is not smooth.
__device__ float3 mixed(Neighbours around, float3 pixel, float count, float mixture) {
    float3 mean = (1 / around.weight) * around.sum;
    return mean + (around.alike > count ? mixture : 1 - mixture) * (pixel - mean);
}

// Red where the region is smooth, blue elsewhere.
__device__ float3 region(int alike, float count) {
    bool is_smooth = alike > count;
    return {float(is_smooth), 0, float(!is_smooth)};
}

__device__ Neighbours by_pixels(cudaTextureObject_t image, int2 at, float sharpness) {
    float3 pixel = colour(image, at.x, at.y);
    Neighbours around = {pixel, 1, 1};
    for (int dy = 0; dy <= RADIUS; ++dy)
        for (int dx = dy ? -RADIUS : 1; dx <= RADIUS; ++dx) {
            float3 after = colour(image, at.x + dx, at.y + dy), before = colour(image, at.x - dx, at.y - dy);
            around.add(after, weight_of(squared(after - pixel), sharpness, dx, dy), KNN.weight);
            around.add(before, weight_of(squared(before - pixel), sharpness, dx, dy), KNN.weight);
        }
    return around;
}

__device__ Neighbours by_windows(cudaTextureObject_t image, int2 at, float sharpness) {
    Neighbours around = {};
#pragma unroll 1
    for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
        float unlike[WIDTH] = {};
#pragma unroll 1
        for (int y = at.y - RADIUS; y <= at.y + RADIUS; ++y)
#pragma unroll 1
            for (int x = at.x - RADIUS; x <= at.x + RADIUS; ++x) {
                float3 pixel = colour(image, x, y);
#pragma unroll
                for (int neighbour = 0; neighbour < WIDTH; ++neighbour)
                    unlike[neighbour] += squared(colour(image, x + neighbour - RADIUS, y + dy) - pixel);
            }
#pragma unroll
        for (int neighbour = 0; neighbour < WIDTH; ++neighbour) {
            int dx = neighbour - RADIUS;
            float weight = weight_of(unlike[neighbour], sharpness, dx, dy);
            around.add(colour(image, at.x + dx, at.y + dy), weight, NLM.weight);
        }
    }
    return around;
}

// Leaves the weights of the block's pixels, and returns how many of them are over the threshold.
__device__ int weigh_block(float (&weights)[SIDE][SIDE], cudaTextureObject_t image, int2 at, bool is_inside,
                           float sharpness) {
    __shared__ float3 block[SIDE][SIDE];
    int column = threadIdx.x, row = threadIdx.y;
    block[row][column] = colour(image, at.x, at.y);
    __syncthreads();

    float unlike = 0;
    for (int y = 0; y < WIDTH; ++y)
        for (int x = 0; x < WIDTH; ++x)
            unlike += squared(block[y][x] - colour(image, at.x + x - RADIUS, at.y + y - RADIUS));

    float weight = is_inside ? weight_of(unlike, sharpness, column - RADIUS, row - RADIUS) : 0;
    weights[row][column] = weight;
    return __syncthreads_count(weight > NLM.weight);
}

extern "C" __global__ void copy(cudaTextureObject_t image, uchar4 *out, int width, int height) {
    int2 at = own_pixel();
    store(out, at, width, height, colour(image, at.x, at.y));
}

extern "C" __global__ void knn(cudaTextureObject_t image, uchar4 *out, int width, int height, float sharpness,
                               float mixture) {
    int2 at = own_pixel();
    Neighbours around = by_pixels(image, at, sharpness);
    store(out, at, width, height, mixed(around, colour(image, at.x, at.y), KNN.count, mixture));
}

extern "C" __global__ void knn_regions(cudaTextureObject_t image, uchar4 *out, int width, int height, float sharpness) {
    int2 at = own_pixel();
    store(out, at, width, height, region(by_pixels(image, at, sharpness).alike, KNN.count));
}

extern "C" __global__ void nlm(cudaTextureObject_t image, uchar4 *out, int width, int height, float sharpness,
                               float mixture) {
    int2 at = own_pixel();
    Neighbours around = by_windows(image, at, sharpness);
    store(out, at, width, height, mixed(around, colour(image, at.x, at.y), NLM.count, mixture));
}

extern "C" __global__ void nlm_regions(cudaTextureObject_t image, uchar4 *out, int width, int height, float sharpness) {
    int2 at = own_pixel();
    store(out, at, width, height, region(by_windows(image, at, sharpness).alike, NLM.count));
}

extern "C" __global__ void nlm_quick(cudaTextureObject_t image, uchar4 *out, int width, int height, float sharpness,
                                     float mixture) {
    __shared__ float weights[SIDE][SIDE];
    int2 at = own_pixel();
    Neighbours around = {};
    around.alike = weigh_block(weights, image, at, at.x < width && at.y < height, sharpness);
    for (int y = 0; y < SIDE; ++y)
        for (int x = 0; x < SIDE; ++x) {
            around.sum = around.sum + weights[y][x] * colour(image, at.x + x - RADIUS, at.y + y - RADIUS);
            around.weight += weights[y][x];
        }
    store(out, at, width, height, mixed(around, colour(image, at.x, at.y), NLM.count, mixture));
}

extern "C" __global__ void nlm_quick_regions(cudaTextureObject_t image, uchar4 *out, int width, int height,
                                             float sharpness) {
    __shared__ float weights[SIDE][SIDE];
    int2 at = own_pixel();
    int alike = weigh_block(weights, image, at, at.x < width && at.y < height, sharpness);
    store(out, at, width, height, region(alike, NLM.count));
}
