// Level-synchronous breadth-first search over a graph in compressed sparse rows, one thread per node.
// The host launches both kernels once per level, until bfs_update leaves the flag at zero.

// Gives every unvisited neighbour of the frontier the next level. Threads that reach the same neighbour
// write the same value.
extern "C" __global__ void bfs_expand(const int* __restrict__ row_offsets, const int* __restrict__ columns,
                                      unsigned char* __restrict__ frontier, unsigned char* __restrict__ reached,
                                      const unsigned char* __restrict__ visited, int* __restrict__ level, int nodes)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || !frontier[node])
        return;

    frontier[node] = 0;
    const int next = level[node] + 1;
    const int end = row_offsets[node + 1];
    for (int edge = row_offsets[node]; edge < end; ++edge) {
        const int neighbour = columns[edge];
        if (!visited[neighbour]) {
            level[neighbour] = next;
            reached[neighbour] = 1;
        }
    }
}

// Turns the reached nodes into the next frontier and raises the flag if there are any.
extern "C" __global__ void bfs_update(unsigned char* __restrict__ frontier, unsigned char* __restrict__ reached,
                                      unsigned char* __restrict__ visited, int* __restrict__ more, int nodes)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && reached[node]) {
        frontier[node] = 1;
        visited[node] = 1;
        reached[node] = 0;
        *more = 1;
    }
}
