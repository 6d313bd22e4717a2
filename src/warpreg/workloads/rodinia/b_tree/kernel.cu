// Lookups in a B+ tree of order 256, a thread for each key of a node.
//
// A barrier that counts is all the communication there is: keys of a node that are not above the wanted one are those
// up to its child, so the count that all threads get is the child's place. Each block walks down for two keys at once,
// two lookups or the two ends of a range, so that the loads of both paths overlap. Free keys of a node are the largest.

constexpr int ORDER = 256;

struct Node {
    int keys[ORDER];
    int indices[ORDER];  // of children, in a leaf of records
    bool is_leaf;
};

struct Place {
    const Node* node;
    int slot;
};

__device__ __forceinline__ bool holds(const Place& place, int key)
{
    return place.slot >= 0 && place.node->keys[place.slot] == key;
}

__device__ __forceinline__ int record(const Place& place) { return place.node->indices[place.slot]; }

// Where the last keys that are not above the two wanted ones stand in the leaves, all of which are equally deep.
__device__ __forceinline__ void walk_down(const Node* tree, int one_key, int other_key, Place& one, Place& other)
{
    one.node = other.node = tree;
    for (;;) {
        const int one_own = one.node->keys[threadIdx.x];
        const int other_own = other.node->keys[threadIdx.x];
        one.slot = __syncthreads_count(one_own <= one_key) - 1;
        other.slot = __syncthreads_count(other_own <= other_key) - 1;
        if (one.node->is_leaf)
            return;
        one.node = tree + record(one);
        other.node = tree + record(other);
    }
}

// An odd last query is looked up twice.
extern "C" __global__ void __launch_bounds__(ORDER)
find_keys(const Node* __restrict__ tree, const int* __restrict__ records, const int* __restrict__ wanted, int queries,
          int* __restrict__ answers)
{
    const int one_query = 2 * blockIdx.x;
    const int other_query = min(one_query + 1, queries - 1);
    const int one_key = wanted[one_query], other_key = wanted[other_query];
    Place one, other;
    walk_down(tree, one_key, other_key, one, other);
    if (threadIdx.x == 0)
        answers[one_query] = holds(one, one_key) ? records[record(one)] : -1;
    if (threadIdx.x == ORDER / 2)
        answers[other_query] = holds(other, other_key) ? records[record(other)] : -1;
}

// The first record of a range and how many there are; both ends are in the tree, or the range counts as empty.
extern "C" __global__ void __launch_bounds__(ORDER)
find_ranges(const Node* __restrict__ tree, const int2* __restrict__ ranges, int* __restrict__ starts,
            int* __restrict__ lengths)
{
    const int2 range = ranges[blockIdx.x];
    Place first, last;
    walk_down(tree, range.x, range.y, first, last);
    if (threadIdx.x == 0) {
        const bool known = holds(first, range.x) && holds(last, range.y);
        starts[blockIdx.x] = known ? record(first) : 0;
        lengths[blockIdx.x] = known ? record(last) - record(first) + 1 : 0;
    }
}
