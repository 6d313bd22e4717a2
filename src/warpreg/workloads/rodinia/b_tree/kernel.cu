// Lookups in a B+ tree: one block a query, one thread for each of a node's 256 keys. On each level the thread whose key
// and whose right neighbour's key enclose the query's goes on to its child; in the leaf one thread finds the record.

#define ORDER 256

struct Record {
    int value;
};

// Child i of an inner node has the keys from keys[i] to keys[i + 1]; what is not in use holds the largest number.
struct Node {
    int location;
    int indices[ORDER + 1];
    int keys[ORDER + 1];
    bool is_leaf;
    int key_count;
};

extern "C" __global__ void
find_keys(long long height, Node* nodes, long long node_count, Record* records, long long* current, long long* next,
          int* wanted, Record* answers)
{
    const int thread = threadIdx.x;
    const int query = blockIdx.x;

    for (int level = 0; level < height; level++) {
        if (nodes[current[query]].keys[thread] <= wanted[query]
            && nodes[current[query]].keys[thread + 1] > wanted[query]) {
            if (nodes[next[query]].indices[thread] < node_count)
                next[query] = nodes[next[query]].indices[thread];
        }
        __syncthreads();
        if (thread == 0)
            current[query] = next[query];
        __syncthreads();
    }

    if (nodes[current[query]].keys[thread] == wanted[query])
        answers[query].value = records[nodes[current[query]].indices[thread]].value;
}

extern "C" __global__ void
find_ranges(long long height, Node* nodes, long long node_count, long long* first_node, long long* first_next,
            long long* last_node, long long* last_next, int* first, int* last, int* first_record, int* lengths)
{
    const int thread = threadIdx.x;
    const int query = blockIdx.x;

    for (int level = 0; level < height; level++) {
        if (nodes[first_node[query]].keys[thread] <= first[query]
            && nodes[first_node[query]].keys[thread + 1] > first[query]) {
            if (nodes[first_node[query]].indices[thread] < node_count)
                first_next[query] = nodes[first_node[query]].indices[thread];
        }
        if (nodes[last_node[query]].keys[thread] <= last[query]
            && nodes[last_node[query]].keys[thread + 1] > last[query]) {
            if (nodes[last_node[query]].indices[thread] < node_count)
                last_next[query] = nodes[last_node[query]].indices[thread];
        }
        __syncthreads();
        if (thread == 0) {
            first_node[query] = first_next[query];
            last_node[query] = last_next[query];
        }
        __syncthreads();
    }

    if (nodes[first_node[query]].keys[thread] == first[query])
        first_record[query] = nodes[first_node[query]].indices[thread];
    __syncthreads();
    if (nodes[last_node[query]].keys[thread] == last[query])
        lengths[query] = nodes[last_node[query]].indices[thread] - first_record[query] + 1;
}
