// MobileNet from image to classes. A block of a convolution is a square of up to 28 x 28 pixels of one map, a thread
// computes one of them. Every convolution is followed by batch normalisation and the rectifier that cuts off at six.

#define EPSILON 1e-3f

struct Place
{
    int row;
    int col;
    bool inside;
};

__device__ Place place_of(int side, int parts)
{
    const int row = blockIdx.y / parts * blockDim.y + threadIdx.y;
    const int col = blockIdx.y % parts * blockDim.x + threadIdx.x;
    return {row, col, row < side && col < side};
}

__device__ float normalised(float sum, const float* norms, int maps, int map)
{
    const float scale = norms[map] / sqrtf(norms[3 * maps + map] + EPSILON);
    const float normal = (sum - norms[2 * maps + map]) * scale + norms[maps + map];
    return fminf(fmaxf(normal, 0.0f), 6.0f);
}

// The sum over a 3 x 3 window of one plane; zeros beyond the edge, near edges only with stride 1.
__device__ float window_sum(const float* plane, const float* filter, Place place, int side, int stride)
{
    const int first_row = place.row * stride - 2 + stride;
    const int first_col = place.col * stride - 2 + stride;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
        for (int j = 0; j < 3; ++j) {
            const int y = first_row + i;
            const int x = first_col + j;
            if (y >= 0 && x >= 0 && y < side && x < side)
                sum += plane[y * side + x] * filter[3 * i + j];
        }
    }
    return sum;
}

// The first layer: 3 x 3 windows of all channels, stride 2.
extern "C" __global__ void
first_convolution(const float* __restrict__ input, const float* __restrict__ weights, const float* __restrict__ norms,
                  float* __restrict__ output, int channels, int side, int parts)
{
    const int map = blockIdx.x;
    const int maps = gridDim.x;
    const int out_side = side / 2;
    const Place place = place_of(out_side, parts);
    if (!place.inside)
        return;

    float sum = 0.0f;
    for (int channel = 0; channel < channels; ++channel)
        sum += window_sum(input + channel * side * side, weights + (map * channels + channel) * 9, place, side, 2);
    output[(map * out_side + place.row) * out_side + place.col] = normalised(sum, norms, maps, map);
}

extern "C" __global__ void
depthwise(const float* __restrict__ input, const float* __restrict__ weights, const float* __restrict__ norms,
          float* __restrict__ output, int side, int out_side, int stride, int parts)
{
    const int map = blockIdx.x;
    const Place place = place_of(out_side, parts);
    if (!place.inside)
        return;

    const float sum = window_sum(input + map * side * side, weights + map * 9, place, side, stride);
    output[(map * out_side + place.row) * out_side + place.col] = normalised(sum, norms, gridDim.x, map);
}

extern "C" __global__ void
pointwise(const float* __restrict__ input, const float* __restrict__ weights, const float* __restrict__ norms,
          float* __restrict__ output, int channels, int side, int parts)
{
    const int map = blockIdx.x;
    const Place place = place_of(side, parts);
    if (!place.inside)
        return;

    const int pixel = place.row * side + place.col;
    float sum = 0.0f;
    for (int channel = 0; channel < channels; ++channel)
        sum += input[channel * side * side + pixel] * weights[map * channels + channel];
    output[map * side * side + pixel] = normalised(sum, norms, gridDim.x, map);
}

// The mean of each map; a thread a map.
extern "C" __global__ void
mean_pooling(const float* __restrict__ input, float* __restrict__ output, int maps, int pixels)
{
    const int map = blockIdx.x * blockDim.x + threadIdx.x;
    if (map >= maps)
        return;

    float sum = 0.0f;
    for (int pixel = 0; pixel < pixels; ++pixel)
        sum += input[map * pixels + pixel];
    output[map] = sum / pixels;
}

// A thread a class.
extern "C" __global__ void
fully_connected(const float* __restrict__ input, const float* __restrict__ weights, const float* __restrict__ biases,
                float* __restrict__ output, int inputs, int outputs)
{
    const int neuron = blockIdx.x * blockDim.x + threadIdx.x;
    if (neuron >= outputs)
        return;

    float sum = biases[neuron];
    for (int i = 0; i < inputs; ++i)
        sum += input[i] * weights[neuron * inputs + i];
    output[neuron] = sum;
}
