// LU decomposition without pivoting, in place, of a matrix whose side is a multiple of 16; L has ones on its diagonal.
// Each round takes a step of 16 rows and columns: one block of 16 threads factors the 16 x 16 tile on the diagonal, a
// block of 32 threads for each tile to the right and below solves for a strip of U and of L, and a block of 16 x 16
// threads for each tile of the rest subtracts the product of the two strips.

#define TILE 16

extern "C" __global__ void
lud_diagonal(float* m, int n, int offset)
{
    __shared__ float tile[TILE][TILE];
    const int tx = threadIdx.x;

    int from = offset * n + offset;
    for (int i = 0; i < TILE; i++) {
        tile[i][tx] = m[from + tx];
        from += n;
    }
    __syncthreads();

    for (int i = 0; i < TILE - 1; i++) {
        if (tx > i) {
            for (int j = 0; j < i; j++)
                tile[tx][i] -= tile[tx][j] * tile[j][i];
            tile[tx][i] /= tile[i][i];
        }
        __syncthreads();
        if (tx > i) {
            for (int j = 0; j < i + 1; j++)
                tile[i + 1][tx] -= tile[i + 1][j] * tile[j][tx];
        }
        __syncthreads();
    }

    // The first row is that of the matrix.
    int to = (offset + 1) * n + offset;
    for (int i = 1; i < TILE; i++) {
        m[to + tx] = tile[i][tx];
        to += n;
    }
}

// Threads 0 to 15 solve for the tile of U, a column each, 16 to 31 for the tile of L, a row each.
extern "C" __global__ void
lud_perimeter(float* m, int n, int offset)
{
    __shared__ float dia[TILE][TILE];
    __shared__ float row_strip[TILE][TILE];
    __shared__ float col_strip[TILE][TILE];

    const int along = offset + (blockIdx.x + 1) * TILE;
    if (threadIdx.x < TILE) {
        const int t = threadIdx.x;
        int from = offset * n + offset;
        for (int i = 0; i < TILE / 2; i++) {
            dia[i][t] = m[from + t];
            from += n;
        }
        from = offset * n + along;
        for (int i = 0; i < TILE; i++) {
            row_strip[i][t] = m[from + t];
            from += n;
        }
    } else {
        const int t = threadIdx.x - TILE;
        int from = (offset + TILE / 2) * n + offset;
        for (int i = TILE / 2; i < TILE; i++) {
            dia[i][t] = m[from + t];
            from += n;
        }
        from = along * n + offset;
        for (int i = 0; i < TILE; i++) {
            col_strip[i][t] = m[from + t];
            from += n;
        }
    }
    __syncthreads();

    if (threadIdx.x < TILE) {
        const int t = threadIdx.x;
        for (int i = 1; i < TILE; i++)
            for (int j = 0; j < i; j++)
                row_strip[i][t] -= dia[i][j] * row_strip[j][t];
    } else {
        const int t = threadIdx.x - TILE;
        for (int i = 0; i < TILE; i++) {
            for (int j = 0; j < i; j++)
                col_strip[t][i] -= col_strip[t][j] * dia[j][i];
            col_strip[t][i] /= dia[i][i];
        }
    }
    __syncthreads();

    if (threadIdx.x < TILE) {
        const int t = threadIdx.x;
        int to = (offset + 1) * n + along;
        for (int i = 1; i < TILE; i++) {
            m[to + t] = row_strip[i][t];
            to += n;
        }
    } else {
        const int t = threadIdx.x - TILE;
        int to = along * n + offset;
        for (int i = 0; i < TILE; i++) {
            m[to + t] = col_strip[i][t];
            to += n;
        }
    }
}

extern "C" __global__ void
lud_internal(float* m, int n, int offset)
{
    __shared__ float upper[TILE][TILE];
    __shared__ float lower[TILE][TILE];

    const int row = offset + (blockIdx.y + 1) * TILE;
    const int col = offset + (blockIdx.x + 1) * TILE;

    upper[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * n + col + threadIdx.x];
    lower[threadIdx.y][threadIdx.x] = m[(row + threadIdx.y) * n + offset + threadIdx.x];
    __syncthreads();

    float sum = 0;
    for (int i = 0; i < TILE; i++)
        sum += lower[threadIdx.y][i] * upper[i][threadIdx.x];
    m[(row + threadIdx.y) * n + col + threadIdx.x] -= sum;
}
