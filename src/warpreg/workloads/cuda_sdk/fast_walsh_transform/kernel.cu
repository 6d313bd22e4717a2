// The fast Walsh-Hadamard transform in natural order, and with it a dyadic convolution. Long strides are done in global
// memory, four elements a thread (radix 4); the last 2048 elements at a time in shared memory, radix 4 and at the end,
// if the number of stages is odd, radix 2.

#define ELEMENTARY_LOG2 11

extern "C" __global__ void __launch_bounds__(512) transform_in_shared(float* out, const float* in, int log2_n)
{
    extern __shared__ float data[];

    const int n = 1 << log2_n;
    const int base = blockIdx.x << log2_n;
    const float* source = in + base;
    float* target = out + base;

    for (int position = threadIdx.x; position < n; position += blockDim.x)
        data[position] = source[position];

    const int lane = threadIdx.x;
    for (int stride = n >> 2; stride > 0; stride >>= 2) {
        const int low = lane & (stride - 1);
        const int i0 = ((lane - low) << 2) + low;
        const int i1 = i0 + stride;
        const int i2 = i1 + stride;
        const int i3 = i2 + stride;

        __syncthreads();
        float d0 = data[i0];
        float d1 = data[i1];
        float d2 = data[i2];
        float d3 = data[i3];

        float t = d0;
        d0 = d0 + d2;
        d2 = t - d2;
        t = d1;
        d1 = d1 + d3;
        d3 = t - d3;
        t = d0;
        data[i0] = d0 + d1;
        data[i1] = t - d1;
        t = d2;
        data[i2] = d2 + d3;
        data[i3] = t - d3;
    }

    if (log2_n & 1) {
        __syncthreads();
        for (int position = threadIdx.x; position < n / 2; position += blockDim.x) {
            const int i0 = position << 1;
            const int i1 = i0 + 1;
            const float d0 = data[i0];
            const float d1 = data[i1];
            data[i0] = d0 + d1;
            data[i1] = d0 - d1;
        }
    }

    __syncthreads();
    for (int position = threadIdx.x; position < n; position += blockDim.x)
        target[position] = data[position];
}

extern "C" __global__ void __launch_bounds__(256) transform_stage(float* out, const float* in, int stride)
{
    const int position = blockIdx.x * blockDim.x + threadIdx.x;
    const int n = blockDim.x * gridDim.x * 4;
    const float* source = in + blockIdx.y * n;
    float* target = out + blockIdx.y * n;

    const int low = position & (stride - 1);
    const int i0 = ((position - low) << 2) + low;
    const int i1 = i0 + stride;
    const int i2 = i1 + stride;
    const int i3 = i2 + stride;

    float d0 = source[i0];
    float d1 = source[i1];
    float d2 = source[i2];
    float d3 = source[i3];

    float t = d0;
    d0 = d0 + d2;
    d2 = t - d2;
    t = d1;
    d1 = d1 + d3;
    d3 = t - d3;
    t = d0;
    target[i0] = d0 + d1;
    target[i1] = t - d1;
    t = d2;
    target[i2] = d2 + d3;
    target[i3] = t - d3;
}

extern "C" __global__ void __launch_bounds__(256) modulate(float* a, const float* b, int n)
{
    const int lane = blockIdx.x * blockDim.x + threadIdx.x;
    const int threads = blockDim.x * gridDim.x;
    const float inverse = 1.0f / (float)n;
    for (int position = lane; position < n; position += threads)
        a[position] *= b[position] * inverse;
}
