// The discrete cosine transform of 8 x 8 blocks of an image and its inverse, three times, and quantization between.
//
// By matrices: a block of 8 x 8 threads transforms one block of the image, fetched through a texture, by two products
// with the matrix of cosines in constant memory.
// Fast: 8 x 4 x 2 threads transform 32 x 16 pixels in shared memory; a thread transforms one row of eight, then one
// column, by a flow graph in registers.
// Short: 8 x 4 x 4 threads transform 32 x 32 pixels of 16 bits in the same way, in fixed point (Chen, Smith and
// Fralick, "A fast computational algorithm for the discrete cosine transform", 1977).

#define SIDE 8
#define AREA (SIDE * SIDE)

__constant__ float cosines[AREA];
__constant__ short quanta[AREA];

// ---- By matrices

template <bool INVERSE>
__device__ void transform_by_matrix(float* out, int width, int offset_x, int offset_y, cudaTextureObject_t image)
{
    __shared__ float first[AREA];
    __shared__ float second[AREA];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int x = (blockIdx.x + offset_x) * SIDE + tx;
    const int y = (blockIdx.y + offset_y) * SIDE + ty;
    first[ty * SIDE + tx] = tex2D<float>(image, x + 0.5f, y + 0.5f);
    __syncthreads();

    float sum = 0;
    #pragma unroll
    for (int i = 0; i < SIDE; ++i)
        sum += (INVERSE ? cosines[i * SIDE + ty] : cosines[ty * SIDE + i]) * first[i * SIDE + tx];
    second[ty * SIDE + tx] = sum;
    __syncthreads();

    sum = 0;
    #pragma unroll
    for (int i = 0; i < SIDE; ++i)
        sum += second[ty * SIDE + i] * (INVERSE ? cosines[i * SIDE + tx] : cosines[tx * SIDE + i]);
    first[ty * SIDE + tx] = sum;
    __syncthreads();

    out[y * width + x] = first[ty * SIDE + tx];
}

extern "C" __global__ void forward_matrix(float* out, int width, int offset_x, int offset_y, cudaTextureObject_t image)
{
    transform_by_matrix<false>(out, width, offset_x, offset_y, image);
}

extern "C" __global__ void inverse_matrix(float* out, int width, int offset_x, int offset_y, cudaTextureObject_t image)
{
    transform_by_matrix<true>(out, width, offset_x, offset_y, image);
}

// ---- Fast, in single precision. Cosines of k pi / 16, times the square root of two.

#define C1 1.38703984532214746182f
#define C2 1.30656296487637652786f
#define C3 1.17587560241935871697f
#define C5 0.78569495838710218127f
#define C6 0.54119610014619698439f
#define C7 0.27589937928294301233f
#define NORM 0.35355339059327376220f

#define FAST_WIDTH 32
#define FAST_HEIGHT 16
#define FAST_STRIDE (FAST_WIDTH + 1)

__device__ void forward_eight(float* v, int step)
{
    const float sum_07 = v[0] + v[7 * step], difference_07 = v[0] - v[7 * step];
    const float sum_16 = v[step] + v[6 * step], difference_16 = v[step] - v[6 * step];
    const float sum_25 = v[2 * step] + v[5 * step], difference_25 = v[2 * step] - v[5 * step];
    const float sum_34 = v[3 * step] + v[4 * step], difference_34 = v[3 * step] - v[4 * step];
    const float outer_sum = sum_07 + sum_34, outer_difference = sum_07 - sum_34;
    const float inner_sum = sum_16 + sum_25, inner_difference = sum_16 - sum_25;

    v[0] = NORM * (outer_sum + inner_sum);
    v[2 * step] = NORM * (C2 * outer_difference + C6 * inner_difference);
    v[4 * step] = NORM * (outer_sum - inner_sum);
    v[6 * step] = NORM * (C6 * outer_difference - C2 * inner_difference);

    v[step] = NORM * (C1 * difference_07 + C3 * difference_16 + C5 * difference_25 + C7 * difference_34);
    v[3 * step] = NORM * (C3 * difference_07 - C7 * difference_16 - C1 * difference_25 - C5 * difference_34);
    v[5 * step] = NORM * (C5 * difference_07 - C1 * difference_16 + C7 * difference_25 + C3 * difference_34);
    v[7 * step] = NORM * (C7 * difference_07 - C5 * difference_16 + C3 * difference_25 - C1 * difference_34);
}

__device__ void inverse_eight(float* v, int step)
{
    const float sum_04 = v[0] + v[4 * step], difference_04 = v[0] - v[4 * step];
    const float turned_26 = C2 * v[2 * step] + C6 * v[6 * step];
    const float turned_62 = C6 * v[2 * step] - C2 * v[6 * step];
    const float even_07 = sum_04 + turned_26, even_34 = sum_04 - turned_26;
    const float even_16 = difference_04 + turned_62, even_25 = difference_04 - turned_62;
    const float odd_07 = C1 * v[step] + C3 * v[3 * step] + C5 * v[5 * step] + C7 * v[7 * step];
    const float odd_16 = C3 * v[step] - C7 * v[3 * step] - C1 * v[5 * step] - C5 * v[7 * step];
    const float odd_25 = C5 * v[step] - C1 * v[3 * step] + C7 * v[5 * step] + C3 * v[7 * step];
    const float odd_34 = C7 * v[step] - C5 * v[3 * step] + C3 * v[5 * step] - C1 * v[7 * step];

    v[0] = NORM * (even_07 + odd_07);
    v[step] = NORM * (even_16 + odd_16);
    v[2 * step] = NORM * (even_25 + odd_25);
    v[3 * step] = NORM * (even_34 + odd_34);
    v[4 * step] = NORM * (even_34 - odd_34);
    v[5 * step] = NORM * (even_25 - odd_25);
    v[6 * step] = NORM * (even_16 - odd_16);
    v[7 * step] = NORM * (even_07 - odd_07);
}

typedef void Eight(float* v, int step);

template <Eight transform>
__device__ void transform_fast(float* out, const float* in, int stride)
{
    __shared__ float area[FAST_HEIGHT * FAST_STRIDE];

    const int column = threadIdx.y * SIDE + threadIdx.x;
    const int row = threadIdx.z * SIDE;
    const int place = (blockIdx.y * FAST_HEIGHT + row) * stride + blockIdx.x * FAST_WIDTH + column;
    float* mine = area + row * FAST_STRIDE + column;

    #pragma unroll
    for (int i = 0; i < SIDE; ++i)
        mine[i * FAST_STRIDE] = in[place + i * stride];
    __syncthreads();
    transform(area + (row + threadIdx.x) * FAST_STRIDE + column - threadIdx.x, 1);
    __syncthreads();
    transform(mine, FAST_STRIDE);
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < SIDE; ++i)
        out[place + i * stride] = mine[i * FAST_STRIDE];
}

extern "C" __global__ void forward_fast(float* out, const float* in, int stride)
{
    transform_fast<forward_eight>(out, in, stride);
}

extern "C" __global__ void inverse_fast(float* out, const float* in, int stride)
{
    transform_fast<inverse_eight>(out, in, stride);
}

// ---- Short. Even coefficients are sums of products with cosines of 15 bits; odd ones go through values with two
// fractional bits, and cosines of 13.

#define HALF_SQRT 23170  // 2^16 / (2 sqrt 2) = 2^15 sqrt(1/2)
#define EVEN_COS 30274   // 2^15 cos(pi / 8)
#define EVEN_SIN 12540   // 2^15 sin(pi / 8)
#define ODD_COS_1 8035   // 2^13 cos(pi / 16)
#define ODD_SIN_1 1598   // 2^13 sin(pi / 16)
#define ODD_COS_3 6811   // 2^13 cos(3 pi / 16)
#define ODD_SIN_3 4551   // 2^13 sin(3 pi / 16)

#define SHORT_SIDE 32
#define SHORT_STRIDE (SHORT_SIDE + 2)

__device__ short whole(int x) { return (x + (1 << 15)) >> 16; }
__device__ int quarters(int x) { return (x + (1 << 12)) >> 13; }

__device__ void forward_eight_short(const int (&in)[SIDE], short (&out)[SIDE])
{
    const int outer_sum = in[0] + in[7] + (in[3] + in[4]), outer_difference = in[0] + in[7] - (in[3] + in[4]);
    const int inner_sum = in[1] + in[6] + (in[2] + in[5]), inner_difference = in[1] + in[6] - (in[2] + in[5]);
    out[0] = whole((outer_sum + inner_sum) * HALF_SQRT);
    out[2] = whole(outer_difference * EVEN_COS + inner_difference * EVEN_SIN);
    out[4] = whole((outer_sum - inner_sum) * HALF_SQRT);
    out[6] = whole(outer_difference * EVEN_SIN - inner_difference * EVEN_COS);

    const int turned_sum = quarters((in[1] - in[6] + (in[2] - in[5])) * HALF_SQRT);
    const int turned_difference = quarters((in[1] - in[6] - (in[2] - in[5])) * HALF_SQRT);
    const int first = (in[0] - in[7]) * 4, last = (in[3] - in[4]) * 4;
    const int a = first + turned_sum, b = last + turned_difference;
    const int c = first - turned_sum, d = last - turned_difference;
    out[1] = whole(a * ODD_COS_1 + b * ODD_SIN_1);
    out[3] = whole(c * ODD_COS_3 - d * ODD_SIN_3);
    out[5] = whole(c * ODD_SIN_3 + d * ODD_COS_3);
    out[7] = whole(a * ODD_SIN_1 - b * ODD_COS_1);
}

__device__ void inverse_eight_short(const int (&in)[SIDE], short (&out)[SIDE])
{
    const int sum_04 = (in[0] + in[4]) * HALF_SQRT, difference_04 = (in[0] - in[4]) * HALF_SQRT;
    const int turned_26 = in[2] * EVEN_COS + in[6] * EVEN_SIN;
    const int turned_62 = in[2] * EVEN_SIN - in[6] * EVEN_COS;
    const int sum_35 = quarters((in[3] + in[5]) * HALF_SQRT);
    const int difference_35 = quarters((in[3] - in[5]) * HALF_SQRT);
    const int a = in[1] * 4 + sum_35, b = in[7] * 4 + difference_35;
    const int c = in[1] * 4 - sum_35, d = in[7] * 4 - difference_35;
    const int odd_07 = a * ODD_COS_1 + b * ODD_SIN_1;
    const int odd_34 = a * ODD_SIN_1 - b * ODD_COS_1;
    const int odd_25 = c * ODD_SIN_3 + d * ODD_COS_3;
    const int odd_16 = c * ODD_COS_3 - d * ODD_SIN_3;

    out[0] = whole(sum_04 + turned_26 + odd_07);
    out[1] = whole(difference_04 + turned_62 + odd_16);
    out[2] = whole(difference_04 - turned_62 + odd_25);
    out[3] = whole(sum_04 - turned_26 + odd_34);
    out[4] = whole(sum_04 - turned_26 - odd_34);
    out[5] = whole(difference_04 - turned_62 - odd_25);
    out[6] = whole(difference_04 + turned_62 - odd_16);
    out[7] = whole(sum_04 + turned_26 - odd_07);
}

typedef void EightShort(const int (&in)[SIDE], short (&out)[SIDE]);

template <EightShort transform>
__device__ void transform_column(short* v)
{
    int in[SIDE];
    short out[SIDE];
    #pragma unroll
    for (int i = 0; i < SIDE; ++i)
        in[i] = v[i * SHORT_STRIDE];
    transform(in, out);
    #pragma unroll
    for (int i = 0; i < SIDE; ++i)
        v[i * SHORT_STRIDE] = out[i];
}

// Two neighbours of a row lie in one word.
template <EightShort transform>
__device__ void transform_row(int* v)
{
    int in[SIDE];
    short out[SIDE];
    #pragma unroll
    for (int i = 0; i < SIDE / 2; ++i) {
        const int pair = v[i];
        in[2 * i] = (short)pair;
        in[2 * i + 1] = pair >> 16;
    }
    transform(in, out);
    #pragma unroll
    for (int i = 0; i < SIDE / 2; ++i)
        v[i] = (out[2 * i] & 0xffff) | (out[2 * i + 1] << 16);
}

template <EightShort transform>
__device__ void transform_short(short* data, int stride)
{
    __shared__ __align__(4) short area[SHORT_SIDE * SHORT_STRIDE];

    const int column = threadIdx.y * SIDE + threadIdx.x;
    const int row = threadIdx.z * SIDE;
    // Threads of a warp take even columns first, then odd ones, so that no two meet in a bank.
    const int spread = (column * 2 | column >> 4) & (SHORT_SIDE - 1);
    // Half of the threads move the data, two neighbours each.
    const bool moves = column < SHORT_SIDE / 2;
    int* words = (int*)(data + (blockIdx.y * SHORT_SIDE + row) * stride + blockIdx.x * SHORT_SIDE + column * 2);
    int* mine = (int*)(area + row * SHORT_STRIDE + column * 2);

    if (moves)
        #pragma unroll
        for (int i = 0; i < SIDE; ++i)
            mine[i * (SHORT_STRIDE / 2)] = words[i * (stride / 2)];
    __syncthreads();
    transform_column<transform>(area + row * SHORT_STRIDE + spread);
    __syncthreads();
    transform_row<transform>((int*)(area + column * SHORT_STRIDE + row));
    __syncthreads();
    if (moves)
        #pragma unroll
        for (int i = 0; i < SIDE; ++i)
            words[i * (stride / 2)] = mine[i * (SHORT_STRIDE / 2)];
}

extern "C" __global__ void forward_short(short* data, int stride)
{
    transform_short<forward_eight_short>(data, stride);
}

extern "C" __global__ void inverse_short(short* data, int stride)
{
    transform_short<inverse_eight_short>(data, stride);
}

// ---- Quantization, a coefficient a thread

extern "C" __global__ void quantize_float(float* data, int stride)
{
    float* mine = data + (blockIdx.y * SIDE + threadIdx.y) * stride + blockIdx.x * SIDE + threadIdx.x;
    const float quantum = quanta[threadIdx.y * SIDE + threadIdx.x];
    *mine = roundf(*mine / quantum) * quantum;
}

extern "C" __global__ void quantize_short(short* data, int stride)
{
    short* mine = data + (blockIdx.y * SIDE + threadIdx.y) * stride + blockIdx.x * SIDE + threadIdx.x;
    short coefficient = *mine;
    const short quantum = quanta[threadIdx.y * SIDE + threadIdx.x];
    if (coefficient < 0) {
        coefficient = -coefficient;
        coefficient += quantum >> 1;
        coefficient /= quantum;
        coefficient = -coefficient;
    } else {
        coefficient += quantum >> 1;
        coefficient /= quantum;
    }
    *mine = coefficient * quantum;
}
