// A filter of three taps: the host fills the taps and passes a structure by value.
__constant__ float taps[3];
__device__ int limited;  // samples that were limited

struct Signal {
    const float *in;
    float *out;
    int n;
    float limit;
};

extern "C" __global__ void filter(Signal s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.n)
        return;
    float sum = 0;
    for (int k = 0; k < 3; k++)
        sum += taps[k] * s.in[min(max(i + k - 1, 0), s.n - 1)];
    if (sum > s.limit)
        atomicAdd(&limited, 1);
    s.out[i] = min(sum, s.limit);
}
