// The cheapest way through a grid of costs, row by row: each cell adds its cost to the least of its three neighbours in
// the row before. A launch advances `rows` rows: a block loads 256 cells and advances them in shared memory while the
// cells that are still right shrink by one on each side; blocks overlap by what they lose.

#define BLOCK_SIZE 256

extern "C" __global__ void
find_path(int rows, int* costs, int* source, int* result, int cols, int all_rows, int first_row, int border)
{
    __shared__ int before[BLOCK_SIZE];
    __shared__ int now[BLOCK_SIZE];

    const int tx = threadIdx.x;
    const int inner = BLOCK_SIZE - 2 * rows;
    const int block_first = inner * blockIdx.x - border;
    const int block_last = block_first + BLOCK_SIZE - 1;
    const int cell = block_first + tx;

    // Threads whose cells lie in the grid; neighbours outside are the cell itself.
    const int first_valid = block_first < 0 ? -block_first : 0;
    const int last_valid = block_last > cols - 1 ? BLOCK_SIZE - 1 - (block_last - cols + 1) : BLOCK_SIZE - 1;
    const bool is_valid = tx >= first_valid && tx <= last_valid;
    const int west = max(tx - 1, first_valid);
    const int east = min(tx + 1, last_valid);

    if (cell >= 0 && cell < cols)
        before[tx] = source[cell];
    __syncthreads();

    bool computed;
    for (int i = 0; i < rows; i++) {
        computed = is_valid && tx > i && tx < BLOCK_SIZE - 1 - i;
        if (computed) {
            const int least = min(min(before[west], before[tx]), before[east]);
            now[tx] = least + costs[cols * (first_row + i) + cell];
        }
        __syncthreads();
        if (i == rows - 1)
            break;
        if (computed)
            before[tx] = now[tx];
        __syncthreads();
    }

    if (computed)
        result[cell] = now[tx];
}
