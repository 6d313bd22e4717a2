// The transposition of a matrix in seven ways, from a plain copy to tiles in shared memory without bank conflicts and
// with blocks renumbered along diagonals. A block of 32 x 8 threads moves a tile of 32 x 32, four rows a thread.

#define TILE 32
#define ROWS 8

extern "C" __global__ void __launch_bounds__(TILE * ROWS) copy(float* out, const float* in, int width, int height)
{
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int index = x + width * y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y + i < height)
            out[index + i * width] = in[index + i * width];
}

extern "C" __global__ void __launch_bounds__(TILE * ROWS) copy_shared(float* out, const float* in, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int index = x + width * y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y + i < height)
            tile[threadIdx.y + i][threadIdx.x] = in[index + i * width];
    __syncthreads();
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y + i < height)
            out[index + i * width] = tile[threadIdx.y + i][threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_naive(float* out, const float* in, int width, int height)
{
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int index_in = x + width * y;
    const int index_out = y + height * x;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y + i < height)
            out[index_out + i] = in[index_in + i * width];
}

extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_coalesced(float* out, const float* in, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int index_in = x + width * y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y + i < height)
            tile[threadIdx.y + i][threadIdx.x] = in[index_in + i * width];
    __syncthreads();
    const int column = blockIdx.y * TILE + threadIdx.x;
    const int row = blockIdx.x * TILE + threadIdx.y;
    const int index_out = column + height * row;
    for (int i = 0; i < TILE; i += ROWS)
        if (column < height && row + i < width)
            out[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_without_conflicts(float* out, const float* in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int index_in = x + width * y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y + i < height)
            tile[threadIdx.y + i][threadIdx.x] = in[index_in + i * width];
    __syncthreads();
    const int column = blockIdx.y * TILE + threadIdx.x;
    const int row = blockIdx.x * TILE + threadIdx.y;
    const int index_out = column + height * row;
    for (int i = 0; i < TILE; i += ROWS)
        if (column < height && row + i < width)
            out[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

// Neighbouring blocks write to different partitions of memory when they are numbered along diagonals.
extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_diagonal(float* out, const float* in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int block_x, block_y;
    if (width == height) {
        block_y = blockIdx.x;
        block_x = (blockIdx.x + blockIdx.y) % gridDim.x;
    } else {
        const int linear = blockIdx.x + gridDim.x * blockIdx.y;
        block_y = linear % gridDim.y;
        block_x = (linear / gridDim.y + block_y) % gridDim.x;
    }
    const int x = block_x * TILE + threadIdx.x;
    const int y = block_y * TILE + threadIdx.y;
    const int index_in = x + width * y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y + i < height)
            tile[threadIdx.y + i][threadIdx.x] = in[index_in + i * width];
    __syncthreads();
    const int column = block_y * TILE + threadIdx.x;
    const int row = block_x * TILE + threadIdx.y;
    const int index_out = column + height * row;
    for (int i = 0; i < TILE; i += ROWS)
        if (column < height && row + i < width)
            out[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

// Transposes within each tile and leaves the tiles where they are; all tiles are whole.
extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_fine_grained(float* out, const float* in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int index = x + width * y;
    for (int i = 0; i < TILE; i += ROWS)
        tile[threadIdx.y + i][threadIdx.x] = in[index + i * width];
    __syncthreads();
    for (int i = 0; i < TILE; i += ROWS)
        out[index + i * width] = tile[threadIdx.x][threadIdx.y + i];
}
