// C = beta C + alpha A B^T; all matrices are stored column by column, B with a row of B^T in each column.
//
// A block of four warps computes 128 x 16 elements of C. Two warps share the rows, two the columns: a thread keeps the
// sums of two rows, 64 apart, and eight columns. B passes through two small tiles in shared memory, of which one is
// filled while the other is read, so that a step takes one barrier.

constexpr int WARP = 32;
constexpr int ROW_WARPS = 2;
constexpr int ROWS = 2;  // of a thread
constexpr int STRIDE = ROW_WARPS * WARP;  // between its rows
constexpr int COLUMNS = 8;  // of a thread
constexpr int TILE_COLUMNS = 2 * COLUMNS;
constexpr int DEPTH = 8;  // products that a sum takes from a tile
constexpr int AHEAD = 4;  // those whose elements of A are loaded together

extern "C" __global__ void sgemm_nt(float alpha, const float *a, const float *b, float beta, float *c, int m, int n,
                                    int k) {
    __shared__ float tiles[2][DEPTH][TILE_COLUMNS];

    int lane = threadIdx.x, warp = threadIdx.y;
    int own_column = warp / ROW_WARPS * COLUMNS;
    int row = blockIdx.x * (ROWS * STRIDE) + warp % ROW_WARPS * WARP + lane;

    // Every thread brings one element of a tile.
    int brought = lane % TILE_COLUMNS, level = warp * (WARP / TILE_COLUMNS) + lane / TILE_COLUMNS;
    b += blockIdx.y * TILE_COLUMNS + brought;
    tiles[0][level][brought] = b[level * n];

    float sums[ROWS][COLUMNS] = {};
    for (int first = 0, current = 0; first < k; first += DEPTH, current ^= 1) {
        __syncthreads();
        if (first + DEPTH < k)
            tiles[current ^ 1][level][brought] = b[(first + DEPTH + level) * n];

#pragma unroll 1
        for (int done = 0; done < DEPTH; done += AHEAD) {
            float left[AHEAD][ROWS];
            for (int d = 0; d < AHEAD; ++d)
                for (int r = 0; r < ROWS; ++r)
                    left[d][r] = a[(first + done + d) * m + row + r * STRIDE];

            for (int d = 0; d < AHEAD; ++d)
                for (int col = 0; col < COLUMNS; ++col) {
                    float right = tiles[current][done + d][own_column + col];
                    for (int r = 0; r < ROWS; ++r)
                        sums[r][col] += left[d][r] * right;
                }
        }
    }

    c += (blockIdx.y * TILE_COLUMNS + own_column) * m + row;
    for (int col = 0; col < COLUMNS; ++col)
        for (int r = 0; r < ROWS; ++r) {
            float &element = c[col * m + r * STRIDE];
            element = beta * element + alpha * sums[r][col];
        }
}
