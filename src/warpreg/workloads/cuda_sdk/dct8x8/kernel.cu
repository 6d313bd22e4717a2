// The discrete cosine transform of 8 x 8 tiles, its inverse, and quantization, in three ways.
// Matrix: Y = C X C^T by one routine that is used twice, a product by C^T whose result is stored transposed.
// Fast: a thread sends eight numbers through the flow graph of Loeffler, Ligtenberg and Moschytz (1989).
// Short: the same division into even and odd halves in fixed point, on 16-bit numbers.
// The last two give a warp a strip of four tiles: a lane takes a column from global memory, and after an exchange in
// shared memory a row, which it stores as vectors.

constexpr int SIDE = 8;

__constant__ float cosines[SIDE][SIDE];  // a row a frequency
__constant__ short quanta[SIDE][SIDE];

// ---- Products of matrices, a thread an element ----

typedef float Tile[SIDE][SIDE + 1];

// This thread's element of (`tile` C^T)^T, or of (`tile` C)^T.
template <bool inverse>
__device__ float turned_product(const Tile& tile)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < SIDE; k++)
        sum = fmaf(tile[threadIdx.x][k], inverse ? cosines[k][threadIdx.y] : cosines[threadIdx.y][k], sum);
    return sum;
}

template <bool inverse>
__device__ void transform_by_matrix(float* result, int width, cudaTextureObject_t image)
{
    __shared__ Tile tile, halfway;

    const int column = blockIdx.x * SIDE + threadIdx.x, row = blockIdx.y * SIDE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = tex2D<float>(image, column + 0.5f, row + 0.5f);
    __syncthreads();
    halfway[threadIdx.y][threadIdx.x] = turned_product<inverse>(tile);
    __syncthreads();
    result[row * width + column] = turned_product<inverse>(halfway);
}

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
forward_matrix(float* result, int width, cudaTextureObject_t image)
{
    transform_by_matrix<false>(result, width, image);
}

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
inverse_matrix(float* result, int width, cudaTextureObject_t coefficients)
{
    transform_by_matrix<true>(result, width, coefficients);
}

// ---- Flow graphs, a thread eight numbers ----

constexpr int STRIP = 32;      // columns of a strip, one a lane
constexpr int FAST_STRIPS = 2;
constexpr float SQRT_2 = 1.41421356f, SQRT_EIGHTH = 0.35355339f;

// (x, y) turned by an angle whose cosine and sine come with a factor, by three products.
__device__ void rotate(float& x, float& y, float cosine, float sine)
{
    const float both = cosine * (x + y);
    const float turned = fmaf(sine - cosine, y, both);
    y = fmaf(-cosine - sine, x, both);
    x = turned;
}

constexpr float COS_1 = 0.98078528f, SIN_1 = 0.19509032f;  // of 1, 3 and 6 sixteenths of pi
constexpr float COS_3 = 0.83146961f, SIN_3 = 0.55557023f;
constexpr float COS_6 = 0.38268343f, SIN_6 = 0.92387953f;

__device__ void butterfly(float& x, float& y)
{
    const float difference = x - y;
    x += y;
    y = difference;
}

// From places to frequencies, times the square root of 8.
struct Forward {
    static __device__ void apply(float (&v)[SIDE])
    {
        #pragma unroll
        for (int k = 0; k < SIDE / 2; k++)
            butterfly(v[k], v[SIDE - 1 - k]);

        butterfly(v[0], v[3]);
        butterfly(v[1], v[2]);
        butterfly(v[0], v[1]);
        rotate(v[2], v[3], SQRT_2 * COS_6, SQRT_2 * SIN_6);

        rotate(v[4], v[7], COS_3, SIN_3);
        rotate(v[5], v[6], COS_1, SIN_1);
        butterfly(v[4], v[6]);
        butterfly(v[7], v[5]);
        butterfly(v[7], v[4]);

        const float even[] = {v[0], v[2], v[1], v[3]};
        const float odd[] = {v[7], SQRT_2 * v[5], SQRT_2 * v[6], v[4]};
        #pragma unroll
        for (int k = 0; k < SIDE / 2; k++) {
            v[2 * k] = even[k];
            v[2 * k + 1] = odd[k];
        }
    }
};

// The same graph from its end to its beginning.
struct Inverse {
    static __device__ void apply(float (&v)[SIDE])
    {
        float even[] = {v[0], v[4], v[2], v[6]};
        butterfly(even[0], even[1]);
        rotate(even[2], even[3], SQRT_2 * COS_6, -SQRT_2 * SIN_6);
        butterfly(even[0], even[3]);
        butterfly(even[1], even[2]);

        float odd[] = {v[7], SQRT_2 * v[3], SQRT_2 * v[5], v[1]};
        butterfly(odd[3], odd[0]);
        butterfly(odd[3], odd[1]);
        butterfly(odd[0], odd[2]);
        rotate(odd[0], odd[3], COS_3, -SIN_3);
        rotate(odd[1], odd[2], COS_1, -SIN_1);

        #pragma unroll
        for (int k = 0; k < SIDE / 2; k++) {
            v[k] = even[k] + odd[3 - k];
            v[SIDE - 1 - k] = even[k] - odd[3 - k];
        }
    }
};

template <typename Direction>
__device__ void transform_strip(float* result, const float* image, int width)
{
    __shared__ float strips[FAST_STRIPS][SIDE][STRIP + 1];

    auto& strip = strips[threadIdx.y];
    const int lane = threadIdx.x;
    const int corner = (blockIdx.y * FAST_STRIPS + threadIdx.y) * SIDE * width + blockIdx.x * STRIP;

    float v[SIDE];
    #pragma unroll
    for (int row = 0; row < SIDE; row++)
        v[row] = image[corner + row * width + lane];
    Direction::apply(v);
    #pragma unroll
    for (int row = 0; row < SIDE; row++)
        strip[row][lane] = SQRT_EIGHTH * v[row];
    __syncthreads();

    const int row = lane % SIDE, left = lane - row;
    #pragma unroll
    for (int k = 0; k < SIDE; k++)
        v[k] = SQRT_EIGHTH * strip[row][left + k];
    Direction::apply(v);
    float4* target = (float4*)&result[corner + row * width + left];
    target[0] = {v[0], v[1], v[2], v[3]};
    target[1] = {v[4], v[5], v[6], v[7]};
}

extern "C" __global__ void __launch_bounds__(STRIP * FAST_STRIPS)
forward_fast(float* __restrict__ result, const float* __restrict__ image, int width)
{
    transform_strip<Forward>(result, image, width);
}

extern "C" __global__ void __launch_bounds__(STRIP * FAST_STRIPS)
inverse_fast(float* __restrict__ result, const float* __restrict__ coefficients, int width)
{
    transform_strip<Inverse>(result, coefficients, width);
}

// ---- Flow graphs in fixed point ----

constexpr int SHORT_STRIPS = 4;

// Cosines and sines with 15 or 16 bits behind the point; those of odd frequencies with 13.
constexpr int HALF_SQRT = 23170, EVEN_COS = 30274, EVEN_SIN = 12540;
constexpr int ODD_COS_1 = 8035, ODD_SIN_1 = 1598, ODD_COS_3 = 6811, ODD_SIN_3 = 4551;

// Rounded to the nearest multiple of 2^BITS, and divided by it.
template <int BITS>
__device__ int descaled(int x)
{
    return (x + (1 << (BITS - 1))) >> BITS;
}

// x cosine + y sine, and x sine - y cosine.
struct Mirrored {
    int first, second;

    __device__ Mirrored(int x, int y, int cosine, int sine)
        : first(x * cosine + y * sine), second(x * sine - y * cosine) {}
};

struct ShortForward {
    static __device__ void apply(int (&v)[SIDE])
    {
        int sum[SIDE / 2], difference[SIDE / 2];
        #pragma unroll
        for (int k = 0; k < SIDE / 2; k++) {
            sum[k] = v[k] + v[SIDE - 1 - k];
            difference[k] = v[k] - v[SIDE - 1 - k];
        }

        const int outer = sum[0] + sum[3], inner = sum[1] + sum[2];
        const Mirrored middle(sum[0] - sum[3], sum[1] - sum[2], EVEN_COS, EVEN_SIN);
        v[0] = descaled<16>((outer + inner) * HALF_SQRT);
        v[4] = descaled<16>((outer - inner) * HALF_SQRT);
        v[2] = descaled<16>(middle.first);
        v[6] = descaled<16>(middle.second);

        const int turned = descaled<13>((difference[1] + difference[2]) * HALF_SQRT);
        const int other = descaled<13>((difference[1] - difference[2]) * HALF_SQRT);
        const Mirrored ends(4 * difference[0] + turned, 4 * difference[3] + other, ODD_COS_1, ODD_SIN_1);
        const Mirrored inside(4 * difference[0] - turned, 4 * difference[3] - other, ODD_SIN_3, ODD_COS_3);
        v[1] = descaled<16>(ends.first);
        v[7] = descaled<16>(ends.second);
        v[5] = descaled<16>(inside.first);
        v[3] = descaled<16>(inside.second);
    }
};

struct ShortInverse {
    static __device__ void apply(int (&v)[SIDE])
    {
        const int sum = (v[0] + v[4]) * HALF_SQRT, difference = (v[0] - v[4]) * HALF_SQRT;
        const Mirrored middle(v[2], v[6], EVEN_COS, EVEN_SIN);
        const int even[] = {sum + middle.first, difference + middle.second, difference - middle.second,
                            sum - middle.first};

        const int turned = descaled<13>((v[3] + v[5]) * HALF_SQRT), other = descaled<13>((v[3] - v[5]) * HALF_SQRT);
        const Mirrored ends(4 * v[1] + turned, 4 * v[7] + other, ODD_COS_1, ODD_SIN_1);
        const Mirrored inside(4 * v[1] - turned, 4 * v[7] - other, ODD_SIN_3, ODD_COS_3);
        const int odd[] = {ends.first, inside.second, inside.first, ends.second};

        #pragma unroll
        for (int k = 0; k < SIDE / 2; k++) {
            v[k] = descaled<16>(even[k] + odd[k]);
            v[SIDE - 1 - k] = descaled<16>(even[k] - odd[k]);
        }
    }
};

// Eight numbers of a row, as one vector.
union ShortRow {
    int4 vector;
    short numbers[SIDE];
};

template <typename Direction>
__device__ void transform_short_strip(short* data, int width)
{
    // Rows of 80 bytes: vectors stay aligned, and those of eight rows lie in different banks.
    __shared__ alignas(16) short strips[SHORT_STRIPS][SIDE][STRIP + SIDE];

    auto& strip = strips[threadIdx.y];
    const int lane = threadIdx.x;
    data += (blockIdx.y * SHORT_STRIPS + threadIdx.y) * SIDE * width + blockIdx.x * STRIP;

    int v[SIDE];
    #pragma unroll
    for (int row = 0; row < SIDE; row++)
        v[row] = data[row * width + lane];
    Direction::apply(v);
    #pragma unroll
    for (int row = 0; row < SIDE; row++)
        strip[row][lane] = v[row];
    __syncthreads();

    const int row = lane % SIDE, left = lane - row;
    ShortRow line;
    line.vector = *(const int4*)&strip[row][left];
    #pragma unroll
    for (int k = 0; k < SIDE; k++)
        v[k] = line.numbers[k];
    Direction::apply(v);
    #pragma unroll
    for (int k = 0; k < SIDE; k++)
        line.numbers[k] = v[k];
    *(int4*)&data[row * width + left] = line.vector;
}

extern "C" __global__ void __launch_bounds__(STRIP * SHORT_STRIPS) forward_short(short* data, int width)
{
    transform_short_strip<ShortForward>(data, width);
}

extern "C" __global__ void __launch_bounds__(STRIP * SHORT_STRIPS) inverse_short(short* data, int width)
{
    transform_short_strip<ShortInverse>(data, width);
}

// ---- Quantization: to the nearest multiple of the quantum, halves away from zero ----

extern "C" __global__ void __launch_bounds__(SIDE * SIDE) quantize_float(float* coefficients, int width)
{
    const float quantum = quanta[threadIdx.y][threadIdx.x];
    float& place = coefficients[(blockIdx.y * SIDE + threadIdx.y) * width + blockIdx.x * SIDE + threadIdx.x];
    place = quantum * roundf(place / quantum);
}

extern "C" __global__ void __launch_bounds__(SIDE * SIDE) quantize_short(short* coefficients, int width)
{
    const int quantum = quanta[threadIdx.y][threadIdx.x];
    short& place = coefficients[(blockIdx.y * SIDE + threadIdx.y) * width + blockIdx.x * SIDE + threadIdx.x];
    const int value = place;
    const int multiple = (abs(value) + quantum / 2) / quantum * quantum;
    place = value < 0 ? -multiple : multiple;
}
