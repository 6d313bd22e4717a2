// The point-wise convolutions of MobileNet, each with batch normalisation and the rectifier that cuts off at six.
// A block is a square of up to 28 x 28 pixels of one map, a thread computes one of them from that pixel of all channels.

#define EPSILON 1e-3f

extern "C" __global__ void
pointwise(const float* __restrict__ input, const float* __restrict__ weights, const float* __restrict__ norms,
          float* __restrict__ output, int channels, int maps, int side, int parts)
{
    const int map = blockIdx.x;
    const int row = blockIdx.y / parts * blockDim.y + threadIdx.y;
    const int col = blockIdx.y % parts * blockDim.x + threadIdx.x;
    if (row >= side || col >= side)
        return;

    const int pixel = row * side + col;
    float sum = 0.0f;
    for (int channel = 0; channel < channels; ++channel)
        sum += input[channel * side * side + pixel] * weights[map * channels + channel];

    const float gamma = norms[map];
    const float beta = norms[maps + map];
    const float mean = norms[2 * maps + map];
    const float variance = norms[3 * maps + map];
    const float normal = (sum - mean) * (gamma / sqrtf(variance + EPSILON)) + beta;
    output[map * side * side + pixel] = fminf(fmaxf(normal, 0.0f), 6.0f);
}
