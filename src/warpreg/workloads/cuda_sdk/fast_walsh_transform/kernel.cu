// The Walsh-Hadamard transform in natural order; its stages may come in any order. Those of the longest strides go two
// by two in global memory, a launch each; then a block takes a stretch of 2^10 or 2^11 elements through strides that
// rise: 1 and 2 in registers, on a vector of four that a thread loads, the others in shared memory.

typedef unsigned int uint;

// The transform of four elements, in place.
__device__ void transform_four(float& a, float& b, float& c, float& d)
{
    const float sum = a + b, difference = a - b;
    const float other_sum = c + d, other_difference = c - d;
    a = sum + other_sum;
    b = difference + other_difference;
    c = sum - other_sum;
    d = difference - other_difference;
}

// Two stages at once, of strides `stride` and twice that. A row of blocks serves the elements that depend on each
// other.
extern "C" __global__ void transform_stage(float* data, uint stride)
{
    float* first = data + 4 * stride * blockIdx.y + blockIdx.x * blockDim.x + threadIdx.x;
    float a = first[0], b = first[stride], c = first[2 * stride], d = first[3 * stride];
    transform_four(a, b, c, d);
    first[0] = a;
    first[stride] = b;
    first[2 * stride] = c;
    first[3 * stride] = d;
}

// A block transforms four elements a thread.
extern "C" __global__ void transform_in_shared(float4* data)
{
    extern __shared__ float4 quads[];
    float* elements = (float*)quads;

    float4* mine = data + blockIdx.x * blockDim.x + threadIdx.x;
    float4 quad = *mine;
    transform_four(quad.x, quad.y, quad.z, quad.w);
    quads[threadIdx.x] = quad;
    __syncthreads();

    const uint length = 4 * blockDim.x;
    uint stride = 4;
    for (; 4 * stride <= length; stride *= 4) {
        const uint place = threadIdx.x % stride;
        float* first = elements + 4 * (threadIdx.x - place) + place;
        transform_four(first[0], first[stride], first[2 * stride], first[3 * stride]);
        __syncthreads();
    }

    quad = quads[threadIdx.x];
    if (stride < length) {  // an odd number of bits: one stage of two is left, between the halves
        const bool is_upper = threadIdx.x >= blockDim.x / 2;
        const float4 other = quads[threadIdx.x ^ blockDim.x / 2];
        const float sign = is_upper ? -1.0f : 1.0f;
        quad = {other.x + sign * quad.x, other.y + sign * quad.y, other.z + sign * quad.z, other.w + sign * quad.w};
    }
    *mine = quad;
}

// The product of two transforms, by `scale`, which makes the transform its own inverse.
extern "C" __global__ void modulate(float4* data, const float4* __restrict__ kernel, float scale, uint quads)
{
    for (uint number = blockIdx.x * blockDim.x + threadIdx.x; number < quads; number += gridDim.x * blockDim.x) {
        float4 quad = data[number];
        const float4 factor = kernel[number];
        quad.x *= factor.x * scale;
        quad.y *= factor.y * scale;
        quad.z *= factor.z * scale;
        quad.w *= factor.w * scale;
        data[number] = quad;
    }
}
