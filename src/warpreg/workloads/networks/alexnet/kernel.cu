// AlexNet, layer by layer: five convolutions, two of them normalised over neighbouring maps, three maximum poolings of
// overlapping windows, three fully connected layers. One thread computes one neuron. A block of a convolution, of the
// normalisation and of pooling is one map, or a part of one with at most 32 x 32 neurons, x along the rows; a block of
// a fully connected layer is a single thread.

#define LOCAL_SIZE 5
#define ALPHA 0.0001f
#define BETA 0.75f

// 11 x 11 windows on an image whose three colours alternate; one colour after the other in the weights.
extern "C" __global__ void
first_layer(const float* __restrict__ bias, const float* __restrict__ image, const float* __restrict__ weights,
            float* __restrict__ output, int in_side, int out_side, int stride, int first_row, int first_col)
{
    const int map = blockIdx.x;
    const int row = threadIdx.x + first_row;
    const int col = threadIdx.y + first_col;
    const float* corner = image + 3 * stride * (row * in_side + col);
    const float* filter = weights + map * 3 * 11 * 11;

    float sum = 0.0f;
    for (int i = 0; i < 11; ++i) {
        for (int j = 0; j < 11; ++j)
            sum += corner[(i * in_side + j) * 3] * filter[i * 11 + j]
                 + corner[(i * in_side + j) * 3 + 1] * filter[i * 11 + j + 11 * 11]
                 + corner[(i * in_side + j) * 3 + 2] * filter[i * 11 + j + 2 * 11 * 11];
    }
    sum += bias[map];
    output[(map * out_side + row) * out_side + col] = sum < 0.0f ? 0.0f : sum;
}

// One group of maps: maps `first_map` and on read the channels `first_channel` and on. The window is cut at the edges.
extern "C" __global__ void
convolution(const float* __restrict__ bias, const float* __restrict__ input, const float* __restrict__ weights,
            float* __restrict__ output, int first_map, int first_weights, int first_channel, int channels, int side,
            int kernel, int padding)
{
    const int map = blockIdx.x + first_map;
    const int filter = blockIdx.x + first_weights;
    const int row = threadIdx.x;
    const int col = threadIdx.y;

    int top = 0;
    int left = 0;
    int rows = kernel;
    int cols = kernel;
    if (row < padding) {
        top = padding - row;
        rows = kernel - top;
    }
    if (col < padding) {
        left = padding - col;
        cols = kernel - left;
    }
    if (row >= side - padding)
        rows = side + padding - row;
    if (col >= side - padding)
        cols = side + padding - col;
    const int window_row = row > padding ? row - padding : 0;
    const int window_col = col > padding ? col - padding : 0;

    float sum = 0.0f;
    for (int channel = 0; channel < channels; ++channel) {
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < cols; ++j)
                sum += input[((first_channel + channel) * side + window_row + i) * side + window_col + j]
                     * weights[((filter * channels + channel) * kernel + top + i) * kernel + left + j];
        }
    }
    sum += bias[filter];
    output[(map * side + row) * side + col] = sum < 0.0f ? 0.0f : sum;
}

extern "C" __global__ void
local_response(const float* __restrict__ input, float* __restrict__ output, int maps, int side, int first_row,
               int first_col)
{
    const int map = blockIdx.x;
    const int row = threadIdx.x + first_row;
    const int col = threadIdx.y + first_col;
    const int neuron = row * side + col;
    const int first = max(map - LOCAL_SIZE / 2, 0);
    const int last = min(map + LOCAL_SIZE / 2, maps - 1);

    float sum = 0.0f;
    for (int i = first; i <= last; ++i) {
        const float near = input[i * side * side + neuron];
        sum += near * near;
    }
    output[map * side * side + neuron] = input[map * side * side + neuron]
                                       / powf(1.0f + ALPHA / LOCAL_SIZE * sum, BETA);
}

extern "C" __global__ void
max_pooling(const float* __restrict__ input, float* __restrict__ output, int in_side, int out_side, int kernel,
            int stride)
{
    const int map = blockIdx.x;
    const int row = threadIdx.x;
    const int col = threadIdx.y;

    float largest = 0.0f;
    for (int i = 0; i < kernel; ++i) {
        for (int j = 0; j < kernel; ++j) {
            const float value = input[(map * in_side + row * stride + i) * in_side + col * stride + j];
            if (largest < value)
                largest = value;
        }
    }
    output[(map * out_side + row) * out_side + col] = largest;
}

extern "C" __global__ void
fully_connected(const float* __restrict__ bias, const float* __restrict__ input, const float* __restrict__ weights,
                float* __restrict__ output, int inputs, bool rectified)
{
    const int neuron = blockIdx.x;

    float sum = 0.0f;
    for (int i = 0; i < inputs; ++i)
        sum += input[i] * weights[neuron * inputs + i];
    sum += bias[neuron];
    if (rectified && sum < 0.0f)
        sum = 0.0f;
    output[neuron] = sum;
}
