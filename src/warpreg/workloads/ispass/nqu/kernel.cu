// The number of ways to place n queens on a board, from many partial placements: a thread completes each of them.
// A thread searches row by row with masks of the columns and diagonals that are taken. Its stack lies in shared memory,
// one entry a row: columns, the two diagonals, and what was tried in that row so far. At the end the block adds up.

#define BLOCK 96
#define ROWS 10

extern "C" __global__ void solve(int n, int rows, const unsigned* all_columns, const unsigned* all_left,
                                 const unsigned* all_right, unsigned* results, int placements)
{
    __shared__ unsigned columns[BLOCK][ROWS];
    __shared__ unsigned left[BLOCK][ROWS];
    __shared__ unsigned right[BLOCK][ROWS];
    __shared__ unsigned tried[BLOCK][ROWS];
    __shared__ unsigned sum[BLOCK];

    const int thread = threadIdx.x;
    const int placement = blockIdx.x * blockDim.x + thread;
    const unsigned board = (1 << n) - 1;
    unsigned total = 0;

    if (placement < placements) {
        int row = 0;
        columns[thread][0] = all_columns[placement];
        left[thread][0] = all_left[placement];
        right[thread][0] = all_right[placement];
        tried[thread][0] = columns[thread][0] | left[thread][0] | right[thread][0];

        while (row >= 0) {
            if ((tried[thread][row] & board) == board) {
                row--;
                continue;
            }
            const unsigned queen = (tried[thread][row] + 1) & ~tried[thread][row];
            tried[thread][row] |= queen;
            if (row + 1 == rows) {
                total++;
                row--;
            } else {
                columns[thread][row + 1] = columns[thread][row] | queen;
                left[thread][row + 1] = (left[thread][row] | queen) << 1;
                right[thread][row + 1] = (right[thread][row] | queen) >> 1;
                tried[thread][row + 1] = columns[thread][row + 1] | left[thread][row + 1] | right[thread][row + 1];
                row++;
            }
        }
    }
    sum[thread] = total;
    __syncthreads();

    if (thread < 32)
        sum[thread] += sum[thread + 64];
    __syncthreads();
    if (thread < 32)
        sum[thread] += sum[thread + 32];
    __syncthreads();
    if (thread < 16)
        sum[thread] += sum[thread + 16];
    __syncthreads();
    if (thread < 8)
        sum[thread] += sum[thread + 8];
    __syncthreads();
    if (thread < 4)
        sum[thread] += sum[thread + 4];
    __syncthreads();
    if (thread < 2)
        sum[thread] += sum[thread + 2];
    __syncthreads();
    if (thread < 1)
        sum[thread] += sum[thread + 1];
    __syncthreads();
    if (thread == 0)
        results[blockIdx.x] = sum[0];
}
