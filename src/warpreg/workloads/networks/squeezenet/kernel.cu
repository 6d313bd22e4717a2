// SqueezeNet, layer by layer, in double precision: a 7 x 7 convolution, eight fire modules (a 1 x 1 convolution to few
// maps, then 1 x 1 and 3 x 3 convolutions of those to many), maximum pooling, a last 1 x 1 convolution to one map for
// each class, and the mean of each map. A block is a column of the image and a thread one of its pixels, which it
// computes of all maps in turn, so that a warp reads pixels one row apart.

extern "C" __global__ void
first_layer(const double* __restrict__ image, const double* __restrict__ weights, double* __restrict__ output, int maps,
            int in_side, int out_side)
{
    const int row = threadIdx.x * 2;
    const int col = blockIdx.x * 2;
    const double* red = image + row * in_side + col;
    const double* green = red + in_side * in_side;
    const double* blue = green + in_side * in_side;

    for (int map = 0; map < maps; ++map) {
        const double* filter = weights + map * 3 * 7 * 7;
        double sum = 0.0;
        for (int i = 0; i < 7; ++i) {
            for (int j = 0; j < 7; ++j)
                sum += red[i * in_side + j] * filter[i * 7 + j] + green[i * in_side + j] * filter[i * 7 + j + 7 * 7]
                     + blue[i * in_side + j] * filter[i * 7 + j + 2 * 7 * 7];
        }
        output[(map * out_side + threadIdx.x) * out_side + blockIdx.x] = sum < 0.0 ? 0.0 : sum;
    }
}

// The largest of the nine pixels round every other pixel; threads and blocks of the other pixels do nothing.
extern "C" __global__ void
max_pooling(const double* __restrict__ input, double* __restrict__ output, int maps, int side)
{
    const int row = threadIdx.x;
    const int col = blockIdx.x;
    const int half = side / 2;
    if (row % 2 == 0 || col % 2 == 0)
        return;

    for (int map = 0; map < maps; ++map) {
        double largest = 0.0;
        for (int i = row - 1; i <= row + 1; ++i) {
            for (int j = col - 1; j <= col + 1; ++j) {
                const double value = input[(map * side + i) * side + j];
                if (largest < value)
                    largest = value;
            }
        }
        output[(map * half + row / 2) * half + col / 2] = largest;
    }
}

// 1 x 1 convolution: squeezes, expands, and makes the map of each class.
extern "C" __global__ void
pointwise(const double* __restrict__ input, const double* __restrict__ weights, double* __restrict__ output,
          int channels, int maps, int side)
{
    const int row = threadIdx.x;
    const int col = blockIdx.x;

    for (int map = 0; map < maps; ++map) {
        double sum = 0.0;
        for (int channel = 0; channel < channels; ++channel)
            sum += input[(channel * side + row) * side + col] * weights[map * channels + channel];
        output[(map * side + row) * side + col] = sum < 0.0 ? 0.0 : sum;
    }
}

// 3 x 3 convolution; its maps lie behind the `first_map` maps of the 1 x 1 convolution.
extern "C" __global__ void
expand_3x3(const double* __restrict__ input, const double* __restrict__ weights, double* __restrict__ output,
           int channels, int maps, int first_map, int side)
{
    const int row = threadIdx.x;
    const int col = blockIdx.x;

    for (int map = 0; map < maps; ++map) {
        double sum = 0.0;
        for (int channel = 0; channel < channels; ++channel) {
            double part = 0.0;
            for (int i = row - 1; i <= row + 1; ++i) {
                for (int j = col - 1; j <= col + 1; ++j) {
                    const int tap = (i - row + 1) * 3 + (j - col + 1);
                    if (i >= 0 && j >= 0 && i < side && j < side)
                        part += input[(channel * side + i) * side + j] * weights[tap + (map * channels + channel) * 9];
                }
            }
            sum += part;
        }
        output[((first_map + map) * side + row) * side + col] = sum < 0.0 ? 0.0 : sum;
    }
}

extern "C" __global__ void
global_average(const double* __restrict__ input, double* __restrict__ output, int classes, int side)
{
    const int map = blockIdx.x * blockDim.x + threadIdx.x;
    if (map >= classes)
        return;

    double sum = 0.0;
    for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j)
            sum += input[(map * side + i) * side + j];
    }
    output[map] = sum / (side * side);
}
