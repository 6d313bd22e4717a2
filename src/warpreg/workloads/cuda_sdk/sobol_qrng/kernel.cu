// Quasi-random numbers after Sobol, dimension by dimension. A thread takes every stride-th point of one dimension: its
// first point from the bits of its number's Gray code, each further one from the one before by two direction numbers,
// because between points a power of two apart only one high bit of the Gray code changes besides the lowest.

#define DIRECTIONS 32

extern "C" __global__ void __launch_bounds__(64)
sobol(unsigned vectors, const unsigned* directions, float* out)
{
    __shared__ unsigned direction[DIRECTIONS];

    directions += DIRECTIONS * blockIdx.y;
    out += vectors * blockIdx.y;
    if (threadIdx.x < DIRECTIONS)
        direction[threadIdx.x] = directions[threadIdx.x];
    __syncthreads();

    const unsigned first = threadIdx.x + blockIdx.x * blockDim.x;
    const unsigned stride = gridDim.x * blockDim.x;
    const float scale = 2.3283064e-10f;

    unsigned gray = first ^ (first >> 1);
    unsigned point = 0;
    unsigned mask;
    for (unsigned bit = 0; bit < __ffs(stride) - 1; bit++) {
        mask = -(gray & 1);
        point ^= mask & direction[bit];
        gray >>= 1;
    }
    if (first < vectors)
        out[first] = (float)point * scale;

    const unsigned below_stride = direction[__ffs(stride) - 2];
    const unsigned stride_mask = stride - 1;
    for (unsigned i = first + stride; i < vectors; i += stride) {
        point ^= below_stride ^ direction[__ffs(~((i - stride) | stride_mask)) - 1];
        out[i] = (float)point * scale;
    }
}
