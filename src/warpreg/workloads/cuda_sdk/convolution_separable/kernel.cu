// A separable convolution of an image with 17 weights along rows, then along columns. A block loads a strip with a halo
// on both sides into shared memory, several elements a thread, and each thread computes several results.
// Beyond the image everything is zero. Width and height are multiples of what a block computes.

#define RADIUS 8
#define WEIGHTS (2 * RADIUS + 1)

#define ROW_X 16
#define ROW_Y 4
#define ROW_RESULTS 8
#define ROW_HALO 1

#define COLUMN_X 16
#define COLUMN_Y 8
#define COLUMN_RESULTS 8
#define COLUMN_HALO 1

__constant__ float weights[WEIGHTS];

extern "C" __global__ void __launch_bounds__(ROW_X * ROW_Y)
convolve_rows(float* out, const float* in, int width, int height, int pitch)
{
    __shared__ float strip[ROW_Y][(ROW_RESULTS + 2 * ROW_HALO) * ROW_X];

    const int base_x = (blockIdx.x * ROW_RESULTS - ROW_HALO) * ROW_X + threadIdx.x;
    const int base_y = blockIdx.y * ROW_Y + threadIdx.y;
    in += base_y * pitch + base_x;
    out += base_y * pitch + base_x;

    #pragma unroll
    for (int i = ROW_HALO; i < ROW_HALO + ROW_RESULTS; i++)
        strip[threadIdx.y][threadIdx.x + i * ROW_X] = in[i * ROW_X];

    #pragma unroll
    for (int i = 0; i < ROW_HALO; i++)
        strip[threadIdx.y][threadIdx.x + i * ROW_X] = base_x >= -i * ROW_X ? in[i * ROW_X] : 0;

    #pragma unroll
    for (int i = ROW_HALO + ROW_RESULTS; i < ROW_HALO + ROW_RESULTS + ROW_HALO; i++)
        strip[threadIdx.y][threadIdx.x + i * ROW_X] = width - base_x > i * ROW_X ? in[i * ROW_X] : 0;

    __syncthreads();

    #pragma unroll
    for (int i = ROW_HALO; i < ROW_HALO + ROW_RESULTS; i++) {
        float sum = 0;
        #pragma unroll
        for (int j = -RADIUS; j <= RADIUS; j++)
            sum += weights[RADIUS - j] * strip[threadIdx.y][threadIdx.x + i * ROW_X + j];
        out[i * ROW_X] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(COLUMN_X * COLUMN_Y)
convolve_columns(float* out, const float* in, int width, int height, int pitch)
{
    __shared__ float strip[COLUMN_X][(COLUMN_RESULTS + 2 * COLUMN_HALO) * COLUMN_Y + 1];

    const int base_x = blockIdx.x * COLUMN_X + threadIdx.x;
    const int base_y = (blockIdx.y * COLUMN_RESULTS - COLUMN_HALO) * COLUMN_Y + threadIdx.y;
    in += base_y * pitch + base_x;
    out += base_y * pitch + base_x;

    #pragma unroll
    for (int i = COLUMN_HALO; i < COLUMN_HALO + COLUMN_RESULTS; i++)
        strip[threadIdx.x][threadIdx.y + i * COLUMN_Y] = in[i * COLUMN_Y * pitch];

    #pragma unroll
    for (int i = 0; i < COLUMN_HALO; i++)
        strip[threadIdx.x][threadIdx.y + i * COLUMN_Y] = base_y >= -i * COLUMN_Y ? in[i * COLUMN_Y * pitch] : 0;

    #pragma unroll
    for (int i = COLUMN_HALO + COLUMN_RESULTS; i < COLUMN_HALO + COLUMN_RESULTS + COLUMN_HALO; i++)
        strip[threadIdx.x][threadIdx.y + i * COLUMN_Y] = height - base_y > i * COLUMN_Y ? in[i * COLUMN_Y * pitch] : 0;

    __syncthreads();

    #pragma unroll
    for (int i = COLUMN_HALO; i < COLUMN_HALO + COLUMN_RESULTS; i++) {
        float sum = 0;
        #pragma unroll
        for (int j = -RADIUS; j <= RADIUS; j++)
            sum += weights[RADIUS - j] * strip[threadIdx.x][threadIdx.y + i * COLUMN_Y + j];
        out[i * COLUMN_Y * pitch] = sum;
    }
}
