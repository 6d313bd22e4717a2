// Level-synchronous breadth-first search over a graph of nodes with lists of successors, one thread per node.
// The host launches both kernels once per level, until bfs_update leaves the flag at zero.

struct Node {
    int first;
    int successors;
};

// Gives every unvisited neighbour of the frontier the next level. Threads that reach the same neighbour
// write the same value. What the loop writes might overlap what it reads, so the node is read again at each step.
extern "C" __global__ void bfs_expand(Node* nodes, int* columns, bool* frontier, bool* reached, bool* visited,
                                      int* level, int count)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < count && frontier[node]) {
        frontier[node] = false;
        for (int edge = nodes[node].first; edge < nodes[node].first + nodes[node].successors; ++edge) {
            const int neighbour = columns[edge];
            if (!visited[neighbour]) {
                level[neighbour] = level[node] + 1;
                reached[neighbour] = true;
            }
        }
    }
}

// Turns the reached nodes into the next frontier and raises the flag if there are any.
extern "C" __global__ void bfs_update(bool* frontier, bool* reached, bool* visited, bool* more, int count)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < count && reached[node]) {
        frontier[node] = true;
        visited[node] = true;
        *more = true;
        reached[node] = false;
    }
}
