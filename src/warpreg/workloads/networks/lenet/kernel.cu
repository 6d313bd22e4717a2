// LeNet on a batch of grey images: two convolutions, each with maximum pooling, two fully connected layers, softmax.
// One thread computes one neuron. A block of a convolution is one map of one image, a thread for each of its pixels; it
// keeps the map's filters in shared memory. A block of a fully connected layer keeps the image's inputs there.

#define KERNEL 5
#define LARGEST_FILTER (20 * KERNEL * KERNEL)
#define LARGEST_INPUT 800

extern "C" __global__ void
convolution(const float* __restrict__ input, const float* __restrict__ weights, const float* __restrict__ bias,
            float* __restrict__ output, int channels, int side)
{
    __shared__ float filter[LARGEST_FILTER];

    const int out_side = side - KERNEL + 1;
    const int map = blockIdx.x;
    const int image = blockIdx.y;
    const int col = threadIdx.x;
    const int row = threadIdx.y;
    const int taps = channels * KERNEL * KERNEL;

    for (int i = row * blockDim.x + col; i < taps; i += blockDim.x * blockDim.y)
        filter[i] = weights[map * taps + i];
    __syncthreads();

    const float* corner = input + (image * channels * side + row) * side + col;
    float sum = bias[map];
    for (int channel = 0; channel < channels; ++channel) {
#pragma unroll
        for (int i = 0; i < KERNEL; ++i) {
#pragma unroll
            for (int j = 0; j < KERNEL; ++j)
                sum += corner[i * side + j] * filter[(channel * KERNEL + i) * KERNEL + j];
        }
        corner += side * side;
    }
    output[((image * gridDim.x + map) * out_side + row) * out_side + col] = sum;
}

extern "C" __global__ void
max_pooling(const float* __restrict__ input, float* __restrict__ output, int side)
{
    const int out_side = side / 2;
    const int plane = blockIdx.y * gridDim.x + blockIdx.x;
    const int col = threadIdx.x;
    const int row = threadIdx.y;

    const float* corner = input + (plane * side + 2 * row) * side + 2 * col;
    const float upper = fmaxf(corner[0], corner[1]);
    const float lower = fmaxf(corner[side], corner[side + 1]);
    output[(plane * out_side + row) * out_side + col] = fmaxf(upper, lower);
}

extern "C" __global__ void
fully_connected(const float* __restrict__ input, const float* __restrict__ weights, const float* __restrict__ bias,
                float* __restrict__ output, int inputs, int outputs, int rectified)
{
    __shared__ float values[LARGEST_INPUT];

    const int neuron = blockIdx.x * blockDim.x + threadIdx.x;
    const int image = blockIdx.y;

    for (int i = threadIdx.x; i < inputs; i += blockDim.x)
        values[i] = input[image * inputs + i];
    __syncthreads();
    if (neuron >= outputs)
        return;

    float sum = bias[neuron];
    for (int i = 0; i < inputs; ++i)
        sum += values[i] * weights[neuron * inputs + i];
    if (rectified)
        sum = fmaxf(sum, 0.0f);
    output[image * outputs + neuron] = sum;
}

// One warp an image, one lane a class.
extern "C" __global__ void
softmax(const float* __restrict__ input, float* __restrict__ output, int classes)
{
    const int lane = threadIdx.x;
    const int image = blockIdx.x;

    const float score = lane < classes ? input[image * classes + lane] : -3.0e38f;
    float largest = score;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, distance));

    const float power = lane < classes ? expf(score - largest) : 0.0f;
    float sum = power;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane < classes)
        output[image * classes + lane] = power / sum;
}
