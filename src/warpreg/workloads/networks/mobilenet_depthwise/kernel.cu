// The depth-wise convolutions of MobileNet, each with batch normalisation and the rectifier that cuts off at six.
// A block is a square of up to 28 x 28 pixels of one map of one image, a thread computes one of them.

#define EPSILON 1e-3f

extern "C" __global__ void
depthwise(const float* __restrict__ input, const float* __restrict__ weights, const float* __restrict__ norms,
          float* __restrict__ output, int channels, int side, int out_side, int stride, int parts)
{
    const int channel = blockIdx.x;
    const int image = blockIdx.z;
    const int row = blockIdx.y / parts * blockDim.y + threadIdx.y;
    const int col = blockIdx.y % parts * blockDim.x + threadIdx.x;
    if (row >= out_side || col >= out_side)
        return;

    const float* plane = input + (image * channels + channel) * side * side;
    const float* filter = weights + channel * 9;
    const int first_row = row * stride - 2 + stride;
    const int first_col = col * stride - 2 + stride;

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

    const float gamma = norms[channel];
    const float beta = norms[channels + channel];
    const float mean = norms[2 * channels + channel];
    const float variance = norms[3 * channels + channel];
    const float normal = (sum - mean) * (gamma / sqrtf(variance + EPSILON)) + beta;
    output[((image * channels + channel) * out_side + row) * out_side + col] = fminf(fmaxf(normal, 0.0f), 6.0f);
}
