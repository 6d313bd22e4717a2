// CifarNet on colour images of 32 x 32 pixels, in double precision: three convolutions with pooling, two fully connected
// layers and softmax. A block is one image: 32 x 32 threads, of which a layer uses as many as its maps have pixels, and
// a thread computes its pixel of all maps, one map after the other.

#define KERNEL 5
#define REACH 2

extern "C" __global__ void
first_layer(const double* __restrict__ images, const double* __restrict__ weights, double* __restrict__ output,
            int maps, int side)
{
    const int row = threadIdx.x;
    const int col = threadIdx.y;
    const double* red = images + blockIdx.x * 3 * side * side;
    const double* green = red + side * side;
    const double* blue = green + side * side;

    for (int map = 0; map < maps; ++map) {
        double sum = 0.0;
        for (int i = row - REACH; i <= row + REACH; ++i) {
            for (int j = col - REACH; j <= col + REACH; ++j) {
                const int tap = (i - row + REACH) * KERNEL + (j - col + REACH) + map * 3 * KERNEL * KERNEL;
                if (i >= 0 && j >= 0 && i < side && j < side)
                    sum += red[i * side + j] * weights[tap] + green[i * side + j] * weights[tap + KERNEL * KERNEL]
                         + blue[i * side + j] * weights[tap + 2 * KERNEL * KERNEL];
            }
        }
        output[((blockIdx.x * maps + map) * side + row) * side + col] = sum;
    }
}

extern "C" __global__ void
convolution(const double* __restrict__ input, const double* __restrict__ weights, double* __restrict__ output,
            int channels, int maps, int side)
{
    const int row = threadIdx.x;
    const int col = threadIdx.y;
    const double* image = input + blockIdx.x * channels * side * side;
    if (row >= side || col >= side)
        return;

    for (int map = 0; map < maps; ++map) {
        double sum = 0.0;
        for (int channel = 0; channel < channels; ++channel) {
            double part = 0.0;
            for (int i = row - REACH; i <= row + REACH; ++i) {
                for (int j = col - REACH; j <= col + REACH; ++j) {
                    const int tap = (i - row + REACH) * KERNEL + (j - col + REACH);
                    if (i >= 0 && j >= 0 && i < side && j < side)
                        part += image[(channel * side + i) * side + j]
                              * weights[tap + (map * channels + channel) * KERNEL * KERNEL];
                }
            }
            sum += part;
        }
        output[((blockIdx.x * maps + map) * side + row) * side + col] = sum < 0.0 ? 0.0 : sum;
    }
}

// The largest of the nine pixels round every other pixel, and zero where all are negative.
extern "C" __global__ void
max_pooling(const double* __restrict__ input, double* __restrict__ output, int maps, int side)
{
    const int row = threadIdx.x;
    const int col = threadIdx.y;
    const int half = side / 2;
    if (row % 2 == 0 || col % 2 == 0 || row >= side || col >= side)
        return;

    for (int map = 0; map < maps; ++map) {
        const double* plane = input + (blockIdx.x * maps + map) * side * side;
        double largest = 0.0;
        for (int i = row - 1; i <= row + 1; ++i) {
            if (i >= side)
                break;
            for (int j = col - 1; j <= col + 1; ++j) {
                if (j >= side)
                    break;
                if (largest < plane[i * side + j])
                    largest = plane[i * side + j];
            }
        }
        output[((blockIdx.x * maps + map) * half + row / 2) * half + col / 2] = largest;
    }
}

// The mean of the pixels round every other pixel, fewer than nine at the far edges.
extern "C" __global__ void
average_pooling(const double* __restrict__ input, double* __restrict__ output, int maps, int side)
{
    const int row = threadIdx.x;
    const int col = threadIdx.y;
    const int half = side / 2;
    if (row % 2 == 0 || col % 2 == 0 || row >= side || col >= side)
        return;

    for (int map = 0; map < maps; ++map) {
        const double* plane = input + (blockIdx.x * maps + map) * side * side;
        double sum = 0.0;
        int pixels = 0;
        for (int i = row - 1; i <= row + 1; ++i) {
            if (i >= side)
                break;
            for (int j = col - 1; j <= col + 1; ++j) {
                if (j >= side)
                    break;
                sum += plane[i * side + j];
                ++pixels;
            }
        }
        output[((blockIdx.x * maps + map) * half + row / 2) * half + col / 2] = sum / pixels;
    }
}

extern "C" __global__ void
fully_connected(const double* __restrict__ input, const double* __restrict__ weights, double* __restrict__ output,
                int inputs, int outputs)
{
    const int neuron = threadIdx.x;
    if (neuron >= outputs)
        return;

    double sum = 0.0;
    for (int i = 0; i < inputs; ++i)
        sum += input[blockIdx.x * inputs + i] * weights[neuron * inputs + i];
    output[blockIdx.x * outputs + neuron] = sum;
}

extern "C" __global__ void
softmax(const double* __restrict__ input, double* __restrict__ output, int classes)
{
    const int neuron = threadIdx.x;
    const double* scores = input + blockIdx.x * classes;
    double sum = 0.0;
    for (int i = 0; i < classes; ++i)
        sum += exp(scores[i]);
    output[blockIdx.x * classes + neuron] = exp(scores[neuron]) / sum;
}
