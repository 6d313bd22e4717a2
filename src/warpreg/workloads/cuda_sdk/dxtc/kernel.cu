// DXT1 compression of an image: each block of 4 x 4 colours becomes two colours of 16 bits and sixteen indices of two
// bits into a palette of these two and one or two between them. A block of 64 threads compresses one block of colours.
// The first sixteen threads sort the colours along the line that fits them best, the principal axis of their
// covariance, by power iteration. A partition of the sorted colours into clusters, one for each palette entry, gives
// the best pair of end colours by least squares; the threads try all of them, sixteen or three each, and keep the best.
// (Simon Brown's cluster fit; Castano, "High quality DXT compression using CUDA", 2007.)

typedef unsigned int uint;
typedef unsigned short ushort;

#define COLOURS 16
#define THREADS 64
#define PARTITIONS_OF_4 992
#define PARTITIONS_OF_3 160
#define POWER_STEPS 8
#define HALF_WARP 0xffffu
#define LARGEST 3.402823466e38f
#define LOW_BITS 0x55555555u

__constant__ float metric[3];
// Of palette entries 0 to 3, the weight of the first end colour in ninths or quarters: 3 or 2 times alpha.
__constant__ float alpha_of_4[4];
__constant__ float alpha_of_3[4];
// alpha^2, beta^2 and alpha beta of each entry, a byte each from bit 16, 8 and 0.
__constant__ int products_of_4[4];
__constant__ int products_of_3[4];

__device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ float3 operator*(float3 a, float3 b) { return make_float3(a.x * b.x, a.y * b.y, a.z * b.z); }
__device__ float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// ---- By sixteen threads: sorting along the line of best fit

__device__ void sum_colours(const float3* colours, float3* sums)
{
    const int t = threadIdx.x;
    sums[t] = colours[t];
    __syncwarp(HALF_WARP);
    #pragma unroll
    for (int distance = COLOURS / 2; distance > 0; distance /= 2) {
        const float3 sum = sums[t] + sums[t ^ distance];
        __syncwarp(HALF_WARP);
        sums[t] = sum;
        __syncwarp(HALF_WARP);
    }
}

// The eigenvector of the largest eigenvalue of a symmetric matrix, given by its upper triangle, row by row.
__device__ float3 principal_axis(const float* matrix)
{
    float3 v = make_float3(1.0f, 1.0f, 1.0f);
    for (int i = 0; i < POWER_STEPS; ++i) {
        const float x = v.x * matrix[0] + v.y * matrix[1] + v.z * matrix[2];
        const float y = v.x * matrix[1] + v.y * matrix[3] + v.z * matrix[4];
        const float z = v.x * matrix[2] + v.y * matrix[4] + v.z * matrix[5];
        const float largest = fmaxf(fmaxf(x, y), z);
        v = make_float3(x, y, z) * (1.0f / largest);
    }
    return v;
}

__device__ float3 best_fit_line(const float3* colours, float3 sum)
{
    __shared__ float covariance[COLOURS * 6];

    const int t = threadIdx.x;
    const float3 difference = colours[t] - sum * (1.0f / COLOURS);
    float* mine = covariance + 6 * t;
    mine[0] = difference.x * difference.x * metric[0] * metric[0];
    mine[1] = difference.x * difference.y * metric[0] * metric[1];
    mine[2] = difference.x * difference.z * metric[0] * metric[2];
    mine[3] = difference.y * difference.y * metric[1] * metric[1];
    mine[4] = difference.y * difference.z * metric[1] * metric[2];
    mine[5] = difference.z * difference.z * metric[2] * metric[2];
    __syncwarp(HALF_WARP);
    for (int distance = COLOURS / 2; distance > 0; distance /= 2) {
        if (t < distance)
            #pragma unroll
            for (int i = 0; i < 6; ++i)
                mine[i] += mine[6 * distance + i];
        __syncwarp(HALF_WARP);
    }
    return principal_axis(covariance);
}

__device__ void rank_colours(const float* places, int* ranks)
{
    const int t = threadIdx.x;
    int rank = 0;
    #pragma unroll
    for (int i = 0; i < COLOURS; ++i)
        rank += places[i] < places[t];
    ranks[t] = rank;
    __syncwarp(HALF_WARP);
    // Of colours at one place, later ones come after earlier ones.
    for (int i = 0; i < COLOURS - 1; ++i) {
        if (t > i && ranks[t] == ranks[i])
            ++ranks[t];
        __syncwarp(HALF_WARP);
    }
}

__device__ void load_sorted(const uint* image, float3* colours, float3* sums, int* ranks)
{
    __shared__ float places[COLOURS];

    const int t = threadIdx.x;
    if (t < COLOURS) {
        const uint colour = image[blockIdx.x * COLOURS + t];
        colours[t].x = (colour & 0xff) * (1.0f / 255.0f);
        colours[t].y = ((colour >> 8) & 0xff) * (1.0f / 255.0f);
        colours[t].z = ((colour >> 16) & 0xff) * (1.0f / 255.0f);
        __syncwarp(HALF_WARP);
        sum_colours(colours, sums);
        const float3 axis = best_fit_line(colours, sums[0]);
        places[t] = dot(colours[t], axis);
        __syncwarp(HALF_WARP);
        rank_colours(places, ranks);
        const float3 mine = colours[t];
        __syncwarp(HALF_WARP);
        colours[ranks[t]] = mine;
    }
}

// ---- Trying partitions

// `colour` rounded to five, six and five bits, which `packed` gets, and back.
__device__ float3 round_colour(float3 colour, ushort* packed)
{
    const float r = rintf(__saturatef(colour.x) * 31.0f);
    const float g = rintf(__saturatef(colour.y) * 63.0f);
    const float b = rintf(__saturatef(colour.z) * 31.0f);
    *packed = ((ushort)r << 11) | ((ushort)g << 5) | (ushort)b;
    return make_float3(r * (1.0f / 31.0f), g * (1.0f / 63.0f), b * (1.0f / 31.0f));
}

// The squared error of the best end colours for a partition, less the squares of the colours. `whole` is the palette's
// unit, 3 or 2, squared.
__device__ float try_partition(const float3* colours, float3 sum, uint partition, const float* alphas,
                               const int* products, float whole, ushort* first, ushort* second)
{
    float3 alpha_x = make_float3(0.0f, 0.0f, 0.0f);
    int sums = 0;
    for (int i = 0; i < COLOURS; ++i) {
        const uint entry = (partition >> (2 * i)) & 3;
        alpha_x = alpha_x + colours[i] * alphas[entry];
        sums += products[entry];
    }
    const float alpha_2 = sums >> 16;
    const float beta_2 = (sums >> 8) & 0xff;
    const float alpha_beta = sums & 0xff;
    const float3 beta_x = sum * whole - alpha_x;
    const float factor = 1.0f / (alpha_2 * beta_2 - alpha_beta * alpha_beta);

    const float3 a = round_colour((alpha_x * beta_2 - beta_x * alpha_beta) * factor, first);
    const float3 b = round_colour((beta_x * alpha_2 - alpha_x * alpha_beta) * factor, second);
    const float3 error = a * a * alpha_2 + b * b * beta_2 + (a * b * alpha_beta - a * alpha_x - b * beta_x) * 2.0f;
    return (1.0f / whole) * dot(error, make_float3(metric[0], metric[1], metric[2]));
}

struct Choice {
    float error;
    uint partition;
    ushort first;
    ushort second;

    __device__ void exchange_ends()
    {
        const ushort end = first;
        first = second;
        second = end;
    }
};

__device__ Choice try_all(const float3* colours, const uint* partitions, float3 sum)
{
    __shared__ uint few[PARTITIONS_OF_3];

    Choice best = {LARGEST, 0, 0, 0};
    for (int place = threadIdx.x; place < PARTITIONS_OF_4; place += THREADS) {
        const uint partition = partitions[place];
        if (place < PARTITIONS_OF_3)
            few[place] = partition;
        ushort first, second;
        const float error = try_partition(colours, sum, partition, alpha_of_4, products_of_4, 9.0f, &first, &second);
        if (error < best.error)
            best = {error, partition, first, second};
    }
    // A palette of four has the larger colour first.
    if (best.first < best.second) {
        best.exchange_ends();
        best.partition ^= LOW_BITS;
    }
    __syncthreads();

    for (int place = threadIdx.x; place < PARTITIONS_OF_3; place += THREADS) {
        const uint partition = few[place];
        ushort first, second;
        const float error = try_partition(colours, sum, partition, alpha_of_3, products_of_3, 4.0f, &first, &second);
        if (error < best.error) {
            best = {error, partition, first, second};
            if (best.first > best.second) {
                best.exchange_ends();
                best.partition ^= (~best.partition >> 1) & LOW_BITS;
            }
        }
    }
    return best;
}

__device__ int least_of_block(float* errors)
{
    __shared__ int indices[THREADS];

    const int t = threadIdx.x;
    indices[t] = t;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance >>= 1) {
        const bool has_other = t + distance < THREADS;
        const float other = has_other ? errors[t + distance] : LARGEST;
        const int index = has_other ? indices[t + distance] : 0;
        const bool is_better = other < errors[t];
        __syncthreads();
        if (is_better) {
            errors[t] = other;
            indices[t] = index;
        }
        __syncthreads();
    }
    return indices[0];
}

// `image` has the colours of a block in a row; `partitions` has 992 partitions, those into three clusters first.
extern "C" __global__ void __launch_bounds__(THREADS)
compress(const uint* partitions, const uint* image, uint2* result)
{
    __shared__ float3 colours[COLOURS];
    __shared__ float3 sums[COLOURS];
    __shared__ int ranks[COLOURS];
    __shared__ float errors[THREADS];

    load_sorted(image, colours, sums, ranks);
    __syncthreads();
    const Choice best = try_all(colours, partitions, sums[0]);
    errors[threadIdx.x] = best.error;
    const int winner = least_of_block(errors);
    if (threadIdx.x != winner)
        return;

    const uint partition = best.first == best.second ? 0 : best.partition;
    uint indices = 0;
    for (int i = 0; i < COLOURS; ++i)
        indices |= ((partition >> (2 * ranks[i])) & 3) << (2 * i);
    result[blockIdx.x] = make_uint2(((uint)best.second << 16) | best.first, indices);
}
