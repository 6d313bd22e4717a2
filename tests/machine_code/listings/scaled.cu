__constant__ float factors[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ int *first = &counter;
extern "C" __global__ void scaled(float *out, const float *in, int n) {
    __shared__ float line[64];
    int i = threadIdx.x;
    line[i] = i < n ? in[i] : 0;
    __syncthreads();
    out[i] = line[i ^ 1] * factors[i & 3];
    if (i == 0) *first += 2;
}
