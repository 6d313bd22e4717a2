// Breadth-first search, a level in two launches, over a graph in compressed sparse rows.
//
// A byte for each node says where it stands in the search; it is the only set that there is. A node's level is written
// by its own thread, when it joins the frontier, and not by whoever reached it. Successors are looked at in batches of
// four, whose loads do not wait for each other.

constexpr int BATCH = 4;

enum Standing : unsigned char { UNSEEN, REACHED, FRONTIER, DONE };

// Threads of frontier nodes mark what they reach. Two of them may mark the same node: both write the same byte.
extern "C" __global__ void __launch_bounds__(256)
bfs_expand(const int* __restrict__ row_offsets, const int* __restrict__ columns, Standing* standing, int nodes)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || standing[node] != FRONTIER)
        return;

    int edge = row_offsets[node];
    const int end = row_offsets[node + 1];
    for (; edge + BATCH <= end; edge += BATCH) {
        int reached[BATCH];
        bool unseen[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; ++i)
            reached[i] = columns[edge + i];
#pragma unroll
        for (int i = 0; i < BATCH; ++i)
            unseen[i] = standing[reached[i]] == UNSEEN;
#pragma unroll
        for (int i = 0; i < BATCH; ++i)
            if (unseen[i])
                standing[reached[i]] = REACHED;
    }
    for (; edge < end; ++edge)
        if (standing[columns[edge]] == UNSEEN)
            standing[columns[edge]] = REACHED;
    standing[node] = DONE;
}

extern "C" __global__ void __launch_bounds__(256)
bfs_update(Standing* __restrict__ standing, int* __restrict__ level, int depth, bool* __restrict__ more, int nodes)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && standing[node] == REACHED) {
        standing[node] = FRONTIER;
        level[node] = depth;
        *more = true;
    }
}
