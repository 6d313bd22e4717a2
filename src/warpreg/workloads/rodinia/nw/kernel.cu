// Needleman-Wunsch global alignment scores with a linear gap penalty.
// The score matrix has one more row and column than the similarity matrix; row 0 and column 0 hold the gaps.
// It is cut into 16 x 16 tiles. All tiles of one anti-diagonal are independent: one launch, one block of 16 threads per
// tile. Inside a tile the 16 threads follow the anti-diagonals of its cells in shared memory.

#define TILE 16

__device__ __forceinline__ void score_cell(int (*score)[TILE + 1], const int (*match)[TILE], int row, int col,
                                           int penalty)
{
    const int paired = score[row - 1][col - 1] + match[row - 1][col - 1];
    const int gap_left = score[row][col - 1] - penalty;
    const int gap_up = score[row - 1][col] - penalty;
    score[row][col] = max(paired, max(gap_left, gap_up));
}

__device__ __forceinline__ void score_tile(const int* __restrict__ similarity, int* __restrict__ scores, int rows,
                                           int cols, int penalty, int tile_row, int tile_col)
{
    __shared__ int score[TILE + 1][TILE + 1];
    __shared__ int match[TILE][TILE];

    const int t = threadIdx.x;
    const int row0 = tile_row * TILE;
    const int col0 = tile_col * TILE;
    const int pitch = cols + 1;
    const int height = min(TILE, rows - row0);
    const bool in_col = col0 + t < cols;
    int* corner = scores + row0 * pitch + col0;

    if (t == 0)
        score[0][0] = corner[0];
    if (in_col)
        score[0][t + 1] = corner[t + 1];
    if (t < height)
        score[t + 1][0] = corner[(t + 1) * pitch];
#pragma unroll
    for (int row = 0; row < TILE; ++row)
        if (in_col && row < height)
            match[row][t] = similarity[(row0 + row) * cols + col0 + t];
    __syncthreads();

#pragma unroll
    for (int front = 0; front < TILE; ++front) {
        if (t <= front)
            score_cell(score, match, front - t + 1, t + 1, penalty);
        __syncthreads();
    }
#pragma unroll
    for (int front = TILE - 2; front >= 0; --front) {
        if (t <= front)
            score_cell(score, match, TILE - t, TILE - front + t, penalty);
        __syncthreads();
    }

#pragma unroll
    for (int row = 0; row < TILE; ++row)
        if (in_col && row < height)
            corner[(row + 1) * pitch + t + 1] = score[row + 1][t + 1];
}

// Tiles of anti-diagonal `front` (tile_row + tile_col == front) that begin in the first row of tiles.
extern "C" __global__ void __launch_bounds__(TILE)
needleman_wunsch_growing(const int* __restrict__ similarity, int* __restrict__ scores, int rows, int cols,
                         int penalty, int front)
{
    score_tile(similarity, scores, rows, cols, penalty, blockIdx.x, front - blockIdx.x);
}

// Tiles of anti-diagonal `front` that begin in row `first_tile_row` of tiles, for the fronts past the last tile column.
extern "C" __global__ void __launch_bounds__(TILE)
needleman_wunsch_shrinking(const int* __restrict__ similarity, int* __restrict__ scores, int rows, int cols,
                           int penalty, int front, int first_tile_row)
{
    const int tile_row = first_tile_row + blockIdx.x;
    score_tile(similarity, scores, rows, cols, penalty, tile_row, front - tile_row);
}
