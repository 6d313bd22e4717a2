// DXT1 compression of an image: each tile of 4 x 4 colours becomes two end colours of 16 bits and 16 indices into the
// palette that they span. A block of 64 threads compresses a tile. Colours are sorted along their principal axis, which
// a half-warp finds by shuffles and three squarings of their covariance. Then every cut of the sorted colours into
// clusters is tried, for palettes of four and of three colours in one list, in which a warp has one kind at a time. A
// thread keeps all sixteen colours in registers, as differences from their mean: these add up to zero, so one of the
// two weighted sums of least squares is the other's negative.

typedef unsigned int uint;

constexpr int COLOURS = 16, WARP = 32, THREADS = 64;
constexpr uint OF_4 = 992, OF_3 = 160;  // partitions for a palette of four, of which the first are those for three
constexpr uint HALF_WARP = (1 << COLOURS) - 1, ALL = 0xffffffffu;
constexpr uint LOW_BITS = 0x55555555u;

// Entry e of a palette is (alpha first + beta second) / unit: alpha, alpha^2, beta^2 and alpha beta, for three and
// four.
__constant__ float4 weights[2][4];

__device__ float3 operator+(float3 a, float3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ float3 operator-(float3 a, float3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ float3 operator*(float s, float3 a) { return {s * a.x, s * a.y, s * a.z}; }
__device__ float3 operator*(float3 a, float3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
__device__ float sum(float3 a) { return a.x + a.y + a.z; }

// The sum over the colours, a lane each, known to all of them.
__device__ float3 over_colours(float3 a)
{
    #pragma unroll
    for (int distance = COLOURS / 2; distance > 0; distance /= 2) {
        const float3 other = {__shfl_xor_sync(HALF_WARP, a.x, distance), __shfl_xor_sync(HALF_WARP, a.y, distance),
                              __shfl_xor_sync(HALF_WARP, a.z, distance)};
        a = a + other;
    }
    return a;
}

// A symmetric matrix: its diagonal, and what couples y with z, z with x and x with y.
struct Symmetric {
    float3 diagonal, coupling;

    __device__ Symmetric squared() const
    {
        const float3 c = coupling, p = c * c;
        const float3 across = {c.y * c.z, c.z * c.x, c.x * c.y};
        const float trace = sum(diagonal);
        const float3 pair_traces = {trace - diagonal.x, trace - diagonal.y, trace - diagonal.z};
        return {diagonal * diagonal + float3{p.y + p.z, p.z + p.x, p.x + p.y}, c * pair_traces + across};
    }

    __device__ float3 row_sums() const
    {
        const float3 c = coupling;
        return diagonal + float3{c.y + c.z, c.z + c.x, c.x + c.y};
    }
};

// Eight steps of power iteration from (1, 1, 1), as three squarings of the covariance; zero for a single colour.
__device__ float3 principal_axis(float3 difference)
{
    const float3 d = difference;
    Symmetric power = {over_colours(d * d), over_colours({d.y * d.z, d.z * d.x, d.x * d.y})};
    const float trace = sum(power.diagonal);
    const float scale = trace > 0.0f ? 1.0f / trace : 0.0f;
    power = {scale * power.diagonal, scale * power.coupling};
    #pragma unroll
    for (int squaring = 0; squaring < 3; squaring++)
        power = power.squared();
    return power.row_sums();
}

// How many of the sixteen lanes' places come before this lane's.
__device__ int rank_among_colours(float place, int lane)
{
    int before = 0;
    #pragma unroll
    for (int other = 0; other < COLOURS; other++) {
        const float theirs = __shfl_sync(HALF_WARP, place, other);
        before += theirs < place || (theirs == place && other < lane);
    }
    return before;
}

// The nearest colour of 5, 6 and 5 bits; undefined ones are black.
struct Rounded {
    float3 colour;
    uint bits;

    __device__ explicit Rounded(float3 exact)
    {
        const float r = rintf(__saturatef(exact.x) * 31.0f);
        const float g = rintf(__saturatef(exact.y) * 63.0f);
        const float b = rintf(__saturatef(exact.z) * 31.0f);
        colour = {r * (1.0f / 31.0f), g * (1.0f / 63.0f), b * (1.0f / 31.0f)};
        bits = (uint)r << 11 | (uint)g << 5 | (uint)b;
    }
};

struct Trial {
    float error;
    uint number, entries, first, second;

    __device__ bool is_of_4() const { return number < OF_4; }

    // The order of the end colours tells a decoder the size of the palette.
    __device__ uint2 packed() const
    {
        if (first == second)
            return {second << 16 | first, 0};
        if (is_of_4() == (first > second))
            return {second << 16 | first, entries};
        const uint exchanged = is_of_4() ? LOW_BITS : ~entries >> 1 & LOW_BITS;
        return {first << 16 | second, entries ^ exchanged};
    }
};

// The end colours that suit a partition best, by least squares, and by how much the squared error is more than that of
// a palette of only the mean, times 36: with units of 3 and of 2 no division is left that could tell equal errors
// apart.
__device__ Trial tried(uint number, uint entries, const float3 (&differences)[COLOURS], float3 mean)
{
    Trial trial = {0.0f, number, entries, 0, 0};
    const float4* weight = weights[trial.is_of_4()];
    const float unit = trial.is_of_4() ? 3.0f : 2.0f;

    float3 alpha_x = {};
    float alpha_2 = 0.0f, beta_2 = 0.0f, alpha_beta = 0.0f;
    #pragma unroll
    for (int place = 0; place < COLOURS; place++) {
        const float4 w = weight[entries >> 2 * place & 3];
        alpha_x = alpha_x + w.x * differences[place];
        alpha_2 += w.y;
        beta_2 += w.z;
        alpha_beta += w.w;
    }
    const float scale = __fdividef(unit, alpha_2 * beta_2 - alpha_beta * alpha_beta);
    const Rounded first(mean + scale * (beta_2 + alpha_beta) * alpha_x);
    const Rounded second(mean - scale * (alpha_2 + alpha_beta) * alpha_x);

    const float3 a = first.colour - mean, b = second.colour - mean;
    const float3 mixed = alpha_beta * (a * b) - unit * ((a - b) * alpha_x);
    const float multiple = trial.is_of_4() ? 4.0f : 9.0f;
    trial.error = multiple * sum(alpha_2 * (a * a) + beta_2 * (b * b) + 2.0f * mixed);
    trial.first = first.bits;
    trial.second = second.bits;
    return trial;
}

__device__ bool is_better(float error, uint number, float than_error, uint than_number)
{
    return error < than_error || (error == than_error && number < than_number);
}

extern "C" __global__ void __launch_bounds__(THREADS)
compress(uint2* __restrict__ result, const uchar4* __restrict__ tiles, const uint* __restrict__ partitions)
{
    __shared__ float4 sorted[COLOURS];
    __shared__ float3 shared_mean;
    __shared__ float errors[THREADS / WARP];
    __shared__ uint numbers[THREADS / WARP];
    __shared__ uint2 chosen;

    const int thread = threadIdx.x;
    int rank = 0;
    if (thread < COLOURS) {
        const uchar4 pixel = tiles[blockIdx.x * COLOURS + thread];
        const float3 colour = (1.0f / 255.0f) * float3{(float)pixel.x, (float)pixel.y, (float)pixel.z};
        const float3 mean = (1.0f / COLOURS) * over_colours(colour), difference = colour - mean;
        rank = rank_among_colours(sum(difference * principal_axis(difference)), thread);
        sorted[rank] = {difference.x, difference.y, difference.z, 0.0f};
        if (thread == 0)
            shared_mean = mean;
    }
    __syncthreads();

    float3 differences[COLOURS];
    #pragma unroll
    for (int place = 0; place < COLOURS; place++) {
        const float4 difference = sorted[place];
        differences[place] = {difference.x, difference.y, difference.z};
    }
    const float3 mean = shared_mean;

    Trial best = tried(thread, partitions[thread], differences, mean);
    #pragma unroll 1
    for (uint number = thread + THREADS; number < OF_4 + OF_3; number += THREADS) {
        const uint entries = partitions[number < OF_4 ? number : number - OF_4];
        const Trial trial = tried(number, entries, differences, mean);
        if (trial.error < best.error)
            best = trial;
    }

    float error = best.error;
    uint number = best.number;
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        const float their_error = __shfl_xor_sync(ALL, error, distance);
        const uint their_number = __shfl_xor_sync(ALL, number, distance);
        if (is_better(their_error, their_number, error, number)) {
            error = their_error;
            number = their_number;
        }
    }
    if (thread % WARP == 0) {
        errors[thread / WARP] = error;
        numbers[thread / WARP] = number;
    }
    __syncthreads();
    const uint winner = numbers[is_better(errors[1], numbers[1], errors[0], numbers[0])];
    if (best.number == winner)
        chosen = best.packed();
    __syncthreads();

    // From the order along the axis back to that of the tile.
    if (thread < COLOURS) {
        uint indices = (chosen.y >> 2 * rank & 3) << 2 * thread;
        #pragma unroll
        for (int distance = COLOURS / 2; distance > 0; distance /= 2)
            indices |= __shfl_xor_sync(HALF_WARP, indices, distance);
        if (thread == 0)
            result[blockIdx.x] = {chosen.x, indices};
    }
}
