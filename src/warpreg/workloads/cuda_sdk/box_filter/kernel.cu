// A box filter by running sums: each thread walks along one row, or down one column, and adds the pixel that comes into
// the window and subtracts the one that leaves it. Beyond the image its outermost pixels are repeated. Rows are read
// through a texture, which clamps coordinates; columns of colours come from global memory, coalesced, with loops of
// their own for the two ends of the window. Colours are packed into 8 bits a channel between the passes.

#define WHITE 255.0f
#define LEVEL (1.0f / WHITE)

__device__ unsigned int pack(float4 colour)
{
    const unsigned int r = __saturatef(colour.x) * WHITE;
    const unsigned int g = __saturatef(colour.y) * WHITE;
    const unsigned int b = __saturatef(colour.z) * WHITE;
    const unsigned int a = __saturatef(colour.w) * WHITE;
    return (a << 24) | (b << 16) | (g << 8) | r;
}

__device__ float4 unpack(unsigned int packed)
{
    return make_float4((packed & 0xff) * LEVEL, ((packed >> 8) & 0xff) * LEVEL, ((packed >> 16) & 0xff) * LEVEL,
                       (packed >> 24) * LEVEL);
}

__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ float4 operator-(float4 a, float4 b) { return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); }
__device__ float4 operator*(float4 a, float s) { return make_float4(a.x * s, a.y * s, a.z * s, a.w * s); }

extern "C" __global__ void box_rows(cudaTextureObject_t image, float* out, int width, int height, int radius)
{
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height)
        return;
    const float scale = 1.0f / (2 * radius + 1);
    float sum = 0.0f;
    for (int x = -radius; x <= radius; ++x)
        sum += tex2D<float>(image, x, y);
    out[y * width] = sum * scale;
    for (int x = 1; x < width; ++x) {
        sum += tex2D<float>(image, x + radius, y);
        sum -= tex2D<float>(image, x - radius - 1, y);
        out[y * width + x] = sum * scale;
    }
}

extern "C" __global__ void box_columns(cudaTextureObject_t image, float* out, int width, int height, int radius)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    const float scale = 1.0f / (2 * radius + 1);
    float sum = 0.0f;
    for (int y = -radius; y <= radius; ++y)
        sum += tex2D<float>(image, x, y);
    out[x] = sum * scale;
    for (int y = 1; y < height; ++y) {
        sum += tex2D<float>(image, x, y + radius);
        sum -= tex2D<float>(image, x, y - radius - 1);
        out[y * width + x] = sum * scale;
    }
}

extern "C" __global__ void box_rows_rgba(cudaTextureObject_t image, unsigned int* out, int width, int height,
                                         int radius)
{
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height)
        return;
    const float scale = 1.0f / (2 * radius + 1);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int x = -radius; x <= radius; ++x)
        sum = sum + tex2D<float4>(image, x, y);
    out[y * width] = pack(sum * scale);
    for (int x = 1; x < width; ++x) {
        sum = sum + tex2D<float4>(image, x + radius, y);
        sum = sum - tex2D<float4>(image, x - radius - 1, y);
        out[y * width + x] = pack(sum * scale);
    }
}

extern "C" __global__ void box_columns_rgba(const unsigned int* in, unsigned int* out, int width, int height,
                                            int radius)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    in += x;
    out += x;
    const float scale = 1.0f / (2 * radius + 1);

    const float4 first = unpack(in[0]);
    float4 sum = first * radius;
    for (int y = 0; y <= radius; ++y)
        sum = sum + unpack(in[y * width]);
    out[0] = pack(sum * scale);
    for (int y = 1; y <= radius; ++y) {
        sum = sum + unpack(in[(y + radius) * width]);
        sum = sum - first;
        out[y * width] = pack(sum * scale);
    }
    for (int y = radius + 1; y < height - radius; ++y) {
        sum = sum + unpack(in[(y + radius) * width]);
        sum = sum - unpack(in[(y - radius - 1) * width]);
        out[y * width] = pack(sum * scale);
    }
    const float4 last = unpack(in[(height - 1) * width]);
    for (int y = height - radius; y < height; ++y) {
        sum = sum + last;
        sum = sum - unpack(in[(y - radius - 1) * width]);
        out[y * width] = pack(sum * scale);
    }
}
