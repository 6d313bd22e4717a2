// Binary search of many keys in a sorted table, and the nearest entry's value.
extern "C" __global__ void lookup(const int *table, const float *values, int entries, const int *keys, float *found,
                                  int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int key = keys[i], low = 0, high = entries;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == entries) low = entries - 1;
    if (low > 0 && key - table[low - 1] < table[low] - key) --low;
    found[i] = values[low];
}
