// Product of a sparse matrix and a vector. Rows are sorted by length, padded to the longest of their warp and stored
// transposed (JDS), so that a warp reads its k-th elements side by side. Where each k starts, and how long the rows
// of each warp are, lies in constant memory. The loop is software-pipelined: an element's index and value are fetched
// an iteration ahead, the vector's element half an iteration.

#define WARP_BITS 5
#define MAX_WARPS 12000
#define MAX_LENGTH 4000

__constant__ int starts[MAX_LENGTH];
__constant__ int lengths[MAX_WARPS];

extern "C" __global__ void spmv(float* result, const float* values, const int* columns, const int* permutation,
                                const float* vector, int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int warp = row >> WARP_BITS;

    if (row < rows) {
        const int length = lengths[warp];
        float sum = 0.0f;
        int element = starts[0] + row;
        float value = values[element];
        int column = columns[element];
        float factor = vector[column];

        if (length > 1) {
            element = starts[1] + row;
            column = columns[element];
            int next_column;
            float next_value = values[element];

            for (int k = 2; k < length; k++) {
                element = starts[k] + row;
                next_column = columns[element];
                sum += value * factor;
                value = next_value;
                factor = vector[column];
                next_value = values[element];
                column = next_column;
            }
            sum += value * factor;
            value = next_value;
            factor = vector[column];
        }
        sum += value * factor;
        result[permutation[row]] = sum;
    }
}
