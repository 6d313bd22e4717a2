// c = a + b. Each thread adds one element; those behind the end leave at once.

extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                      unsigned int length)
{
    const unsigned int element = blockDim.x * blockIdx.x + threadIdx.x;
    if (element >= length)
        return;
    c[element] = a[element] + b[element];
}
