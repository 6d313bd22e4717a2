// Electron repulsion integrals between contracted s functions, by Rys quadrature with one root.
// The first kernel takes 64 quartets of primitive functions a block, one a thread, all of one contracted integral. A
// thread unravels its number into a primitive of each of the four shells and reads their centres and exponents from
// textures. It weighs the quadrature by a polynomial that depends on the interval of its argument, fitted to 1e-9, and
// the block adds up. The second kernel adds the blocks' sums for each integral.

#define BLOCK 64

__device__ __forceinline__ float square(float value)
{
    return value * value;
}

// The quadrature's weight: the integral of exp(-x t^2) for t from 0 to 1. Up to 10 from that of t^2 exp(-x t^2), f1.
__device__ float weight_of(float x)
{
    float f1, y;
    if (x > 33.0f)
        return sqrtf(0.785398163f / x);
    if (x > 10.0f) {
        const float inverse = 1.0f / x;
        float tail;
        if (x > 15.0f) {
            tail = 0.450737834f;
            tail = tail * inverse + 0.00206688838f;
        } else {
            tail = 0.194347605f;
            tail = tail * inverse - 0.231623143f;
            tail = tail * inverse + 0.499085605f;
            tail = tail * inverse + 1.76563226e-05f;
        }
        return sqrtf(0.785398163f * inverse) - expf(-x) * tail;
    }
    if (x > 5.0f) {
        y = x - 7.5f;
        f1 = -1.27968751e-12f;
        f1 = f1 * y + 1.65922519e-11f;
        f1 = f1 * y - 1.78299375e-10f;
        f1 = f1 * y + 1.98383576e-09f;
        f1 = f1 * y - 2.05460378e-08f;
        f1 = f1 * y + 1.95046979e-07f;
        f1 = f1 * y - 1.7045918e-06f;
        f1 = f1 * y + 1.37172219e-05f;
        f1 = f1 * y - 0.000101690835f;
        f1 = f1 * y + 0.000693232811f;
        f1 = f1 * y - 0.00427001342f;
        f1 = f1 * y + 0.0215344299f;
    } else if (x > 3.0f) {
        y = x - 4.0f;
        f1 = 3.84126437e-08f;
        f1 = f1 * y - 3.63579716e-07f;
        f1 = f1 * y + 3.02184753e-06f;
        f1 = f1 * y - 2.28947993e-05f;
        f1 = f1 * y + 0.000152654f;
        f1 = f1 * y - 0.00088194909f;
        f1 = f1 * y + 0.00433207955f;
        f1 = f1 * y - 0.0175257828f;
        f1 = f1 * y + 0.0528406315f;
    } else if (x > 1.0f) {
        y = x - 2.0f;
        f1 = 2.2212194e-07f;
        f1 = f1 * y - 2.0372604e-06f;
        f1 = f1 * y + 1.62386405e-05f;
        f1 = f1 * y - 0.000116703588f;
        f1 = f1 * y + 0.000724890269f;
        f1 = f1 * y - 0.00379491015f;
        f1 = f1 * y + 0.0161723495f;
        f1 = f1 * y - 0.0529428124f;
        f1 = f1 * y + 0.115702182f;
    } else if (x > 3.0e-7f) {
        y = x - 0.5f;
        f1 = -7.51708149e-06f;
        f1 = f1 * y + 6.00632193e-05f;
        f1 = f1 * y - 0.000416321971f;
        f1 = f1 * y + 0.00248664059f;
        f1 = f1 * y - 0.0123372525f;
        f1 = f1 * y + 0.0486110151f;
        f1 = f1 * y - 0.140750542f;
        f1 = f1 * y + 0.249093726f;
    } else {
        return 1.0f - x / 3.0f;
    }
    return 2.0f * x * f1 + expf(-x);
}

// `work` has a block's four shells, packed in pairs, the number of its first quartet, and the primitives of each shell.
extern "C" __global__ void __launch_bounds__(BLOCK)
integrals(const uint4* work, float* sums, int first, cudaTextureObject_t shells, cudaTextureObject_t primitives)
{
    __shared__ uint4 mine;
    __shared__ float partial[BLOCK];

    const int thread = threadIdx.x;
    if (thread == 0)
        mine = work[first + blockIdx.x];
    __syncthreads();

    const unsigned count1 = mine.w & 0xff;
    const unsigned count2 = (mine.w >> 8) & 0xff;
    const unsigned count3 = (mine.w >> 16) & 0xff;
    const unsigned count4 = mine.w >> 24;
    unsigned rest = mine.z + thread;
    float value = 0.0f;

    if (rest < count1 * count2 * count3 * count4) {
        const unsigned index4 = rest % count4;
        rest /= count4;
        const unsigned index3 = rest % count3;
        rest /= count3;
        const unsigned index2 = rest % count2;
        const unsigned index1 = rest / count2;

        const float4 shell1 = tex1Dfetch<float4>(shells, mine.x & 0xffff);
        const float4 shell2 = tex1Dfetch<float4>(shells, mine.x >> 16);
        const float4 shell3 = tex1Dfetch<float4>(shells, mine.y & 0xffff);
        const float4 shell4 = tex1Dfetch<float4>(shells, mine.y >> 16);
        const float2 primitive1 = tex1Dfetch<float2>(primitives, (int)shell1.w + index1);
        const float2 primitive2 = tex1Dfetch<float2>(primitives, (int)shell2.w + index2);
        const float2 primitive3 = tex1Dfetch<float2>(primitives, (int)shell3.w + index3);
        const float2 primitive4 = tex1Dfetch<float2>(primitives, (int)shell4.w + index4);

        const float left = primitive1.x + primitive2.x;
        const float right = primitive3.x + primitive4.x;
        const float left_inverse = 1.0f / left;
        const float right_inverse = 1.0f / right;
        const float apart12 =
            square(shell1.x - shell2.x) + square(shell1.y - shell2.y) + square(shell1.z - shell2.z);
        const float apart34 =
            square(shell3.x - shell4.x) + square(shell3.y - shell4.y) + square(shell3.z - shell4.z);
        const float overlap = expf(-primitive1.x * primitive2.x * left_inverse * apart12
                                   - primitive3.x * primitive4.x * right_inverse * apart34);

        const float dx = (primitive1.x * shell1.x + primitive2.x * shell2.x) * left_inverse
                         - (primitive3.x * shell3.x + primitive4.x * shell4.x) * right_inverse;
        const float dy = (primitive1.x * shell1.y + primitive2.x * shell2.y) * left_inverse
                         - (primitive3.x * shell3.y + primitive4.x * shell4.y) * right_inverse;
        const float dz = (primitive1.x * shell1.z + primitive2.x * shell2.z) * left_inverse
                         - (primitive3.x * shell3.z + primitive4.x * shell4.z) * right_inverse;
        const float both = left + right;
        const float x = left * right / both * (dx * dx + dy * dy + dz * dz);

        // 2 pi^(5/2)
        const float factor = 34.9868367f * left_inverse * right_inverse * rsqrtf(both);
        value = factor * overlap * weight_of(x) * primitive1.y * primitive2.y * primitive3.y * primitive4.y;
    }

    partial[thread] = value;
    __syncthreads();
    if (thread < 32)
        partial[thread] += partial[thread + 32];
    __syncthreads();
    for (int half = 16; half > 0; half /= 2) {
        if (thread < half)
            partial[thread] += partial[thread + half];
        __syncwarp();
    }
    if (thread == 0)
        sums[first + blockIdx.x] = partial[0];
}

extern "C" __global__ void __launch_bounds__(BLOCK)
reduce(const float* sums, float* integrals, const uint2* ranges, int first, int count)
{
    __shared__ float partial[BLOCK];

    const int thread = threadIdx.x;
    const int integral = first + blockIdx.x;
    if (integral >= count)
        return;
    const uint2 range = ranges[integral];
    float sum = 0.0f;
#pragma unroll 1
    for (unsigned i = range.x + thread; i < range.y; i += BLOCK)
        sum += sums[i];
    partial[thread] = sum;
    __syncthreads();

#pragma unroll 1
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (thread < half)
            partial[thread] += partial[thread + half];
        __syncthreads();
    }
    if (thread == 0)
        integrals[integral] = partial[0];
}
