// A recursive filter of second order that is near a Gaussian, whatever its width: one thread runs down a column and up
// again, and adds both ways. The image is transposed by tiles of 16 x 16 in shared memory, filtered again, and
// transposed back. Colours are packed into 8 bits a channel. A filter of first order is there too.
// (Deriche, "Recursively implementing the Gaussian and its derivatives", 1993.)

#define TILE 16
#define WHITE 255.0f
#define LEVEL (1.0f / WHITE)

__device__ unsigned int pack(float4 colour)
{
    const unsigned int r = __saturatef(fabsf(colour.x)) * WHITE;
    const unsigned int g = __saturatef(fabsf(colour.y)) * WHITE;
    const unsigned int b = __saturatef(fabsf(colour.z)) * WHITE;
    const unsigned int a = __saturatef(fabsf(colour.w)) * WHITE;
    return (a << 24) | (b << 16) | (g << 8) | r;
}

__device__ float4 unpack(unsigned int packed)
{
    return make_float4((packed & 0xff) * LEVEL, ((packed >> 8) & 0xff) * LEVEL, ((packed >> 16) & 0xff) * LEVEL,
                       (packed >> 24) * LEVEL);
}

__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ float4 operator-(float4 a, float4 b) { return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); }
__device__ float4 operator*(float s, float4 a) { return make_float4(s * a.x, s * a.y, s * a.z, s * a.w); }

extern "C" __global__ void transpose(unsigned int* out, const unsigned int* in, int width, int height)
{
    __shared__ unsigned int tile[TILE][TILE + 1];

    unsigned int x = blockIdx.x * TILE + threadIdx.x;
    unsigned int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();

    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

// y[n] = x[n] + a (y[n - 1] - x[n]), down and up again.
extern "C" __global__ void smooth_first_order(const unsigned int* in, unsigned int* out, int width, int height, float a)
{
    const unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    in += x;
    out += x;

    float4 before = unpack(*in);
    for (int y = 0; y < height; ++y) {
        const float4 here = unpack(*in);
        before = here + a * (before - here);
        *out = pack(before);
        in += width;
        out += width;
    }

    in -= width;
    out -= width;
    before = unpack(*in);
    for (int y = height - 1; y >= 0; --y) {
        const float4 here = unpack(*out);
        before = here + a * (before - here);
        *out = pack(before);
        out -= width;
    }
}

// Down: y[n] = a0 x[n] + a1 x[n-1] - b1 y[n-1] - b2 y[n-2]; up: y[n] = a2 x[n+1] + a3 x[n+2] - b1 y[n+1] - b2 y[n+2].
// Beyond the image its outermost pixels are repeated; `down_gain` and `up_gain` are what the filters make of constants.
extern "C" __global__ void smooth(const unsigned int* in, unsigned int* out, int width, int height, float a0, float a1,
                                  float a2, float a3, float b1, float b2, float down_gain, float up_gain)
{
    const unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    in += x;
    out += x;

    float4 input_1 = unpack(*in);
    float4 output_2 = down_gain * input_1;
    float4 output_1 = output_2;
    for (int y = 0; y < height; ++y) {
        const float4 input = unpack(*in);
        const float4 output = a0 * input + a1 * input_1 - b1 * output_1 - b2 * output_2;
        *out = pack(output);
        in += width;
        out += width;
        input_1 = input;
        output_2 = output_1;
        output_1 = output;
    }

    in -= width;
    out -= width;
    input_1 = unpack(*in);
    float4 input_2 = input_1;
    output_1 = up_gain * input_1;
    output_2 = output_1;
    for (int y = height - 1; y >= 0; --y) {
        const float4 input = unpack(*in);
        const float4 output = a2 * input_1 + a3 * input_2 - b1 * output_1 - b2 * output_2;
        input_2 = input_1;
        input_1 = input;
        output_2 = output_1;
        output_1 = output;
        *out = pack(unpack(*out) + output);
        in -= width;
        out -= width;
    }
}
