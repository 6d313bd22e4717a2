// Training of a layered neural network: the products of inputs and weights, summed over 16 inputs at a time in a tree in
// shared memory, and the correction of the weights with momentum. A block of 16 x 16 threads handles 16 inputs and all
// 16 hidden units. Learning rate and momentum are double-precision constants, as they often are by accident.

#define WIDTH 16
#define HEIGHT 16
#define ETA 0.3
#define MOMENTUM 0.3

extern "C" __global__ void
layer_forward(float* inputs, float* hidden, float* weights, float* partial_sums, int in, int hid)
{
    const int by = blockIdx.y;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;

    const int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    const int index_in = HEIGHT * by + ty + 1;

    __shared__ float input_node[HEIGHT];
    __shared__ float weight_matrix[HEIGHT][WIDTH];

    if (tx == 0)
        input_node[ty] = inputs[index_in];
    __syncthreads();
    weight_matrix[ty][tx] = weights[index];
    __syncthreads();
    weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
    __syncthreads();

    for (int i = 1; i <= __log2f(HEIGHT); i++) {
        const int power_two = __powf(2, i);
        if (ty % power_two == 0)
            weight_matrix[ty][tx] = weight_matrix[ty][tx] + weight_matrix[ty + power_two / 2][tx];
        __syncthreads();
    }

    weights[index] = weight_matrix[ty][tx];
    __syncthreads();
    if (tx == 0)
        partial_sums[by * hid + ty] = weight_matrix[tx][ty];
}

extern "C" __global__ void
adjust_weights(float* delta, int hid, float* layer, int in, float* weights, float* old_changes)
{
    const int by = blockIdx.y;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;

    const int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    const int index_y = HEIGHT * by + ty + 1;
    const int index_x = tx + 1;

    weights[index] += ((ETA * delta[index_x] * layer[index_y]) + (MOMENTUM * old_changes[index]));
    old_changes[index] = ((ETA * delta[index_x] * layer[index_y]) + (MOMENTUM * old_changes[index]));
    __syncthreads();

    if (ty == 0 && by == 0) {
        weights[index_x] += ((ETA * delta[index_x]) + (MOMENTUM * old_changes[index_x]));
        old_changes[index_x] = ((ETA * delta[index_x]) + (MOMENTUM * old_changes[index_x]));
    }
}
