// Points of a Sobol sequence in the order of the Gray code (Antonov and Saleev). A row of blocks serves one dimension.
// A block owns a contiguous stretch of points and walks through it 64 at a time. Between the points of numbers n and
// n + 64 two bits of the Gray code change: bit 5, and the one that a carry into n / 64 + 1 reaches.

typedef unsigned int uint;

constexpr uint BITS = 32;
constexpr uint STEP = 64, LOG2_STEP = 6;

extern "C" __global__ void __launch_bounds__(STEP)
sobol(float* __restrict__ points, const uint* __restrict__ directions, uint vectors, uint rounds)
{
    __shared__ uint direction[BITS];

    const uint dimension = blockIdx.y;
    if (threadIdx.x < BITS)
        direction[threadIdx.x] = directions[dimension * BITS + threadIdx.x];
    __syncthreads();

    // The first point combines the direction numbers of all bits that are set.
    uint round = blockIdx.x * rounds;
    uint number = round * STEP + threadIdx.x;
    uint point = 0;
    for (uint gray = number ^ number >> 1; gray != 0; gray &= gray - 1)
        point ^= direction[__ffs(gray) - 1];

    const uint last = min(vectors, (round + rounds) * STEP);
    const uint always = direction[LOG2_STEP - 1];
    #pragma unroll 4
    for (points += dimension * vectors; number < last; number += STEP) {
        points[number] = __uint2float_rn(point) * 0x1p-32f;
        round++;
        point ^= always ^ direction[LOG2_STEP + __ffs(round) - 1];
    }
}
