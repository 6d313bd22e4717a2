// The product of a sparse matrix, stored in jagged diagonals, and a vector.
//
// A thread owns a row. Diagonals come in pairs, since the host pads each warp's rows to an even length: elements with
// even and with odd numbers are summed apart. Only the column numbers, which the gather waits for, are loaded a pair
// ahead; the last pair is loaded ahead once more, and its numbers are not used.

constexpr int WARP = 32;

__constant__ int lengths[12288];  // by warps, in elements of a row
__constant__ int starts[1024];    // by diagonals

extern "C" __global__ void spmv(int rows, const float *values, const int *columns, const int *permutation,
                                const float *vector, float *result) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= rows)
        return;

    int last = lengths[place / WARP] - 2;
    int even_column = columns[starts[0] + place], odd_column = columns[starts[1] + place];
    float even_sum = 0, odd_sum = 0;
#pragma unroll 1
    for (int k = 0; k <= last; k += 2) {
        float even = vector[even_column], odd = vector[odd_column];
        int ahead = min(k + 2, last);
        even_column = columns[starts[ahead] + place];
        odd_column = columns[starts[ahead + 1] + place];
        even_sum += values[starts[k] + place] * even;
        odd_sum += values[starts[k + 1] + place] * odd;
    }
    result[permutation[place]] = even_sum + odd_sum;
}
