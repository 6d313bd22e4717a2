// Gaussian elimination without pivoting, column by column: first the multipliers of the rows below, then those rows
// minus their multiple of the pivot row. Every launch covers the whole matrix; threads outside the part that is left
// return at once.

extern "C" __global__ void multipliers(float* multiplier, float* matrix, int size, int column)
{
    const int below = threadIdx.x + blockIdx.x * blockDim.x;
    if (below >= size - 1 - column)
        return;
    const int row = below + column + 1;
    multiplier[size * row + column] = matrix[size * row + column] / matrix[size * column + column];
}

extern "C" __global__ void eliminate(float* multiplier, float* matrix, float* right, int size, int columns, int column)
{
    const int below = threadIdx.x + blockIdx.x * blockDim.x;
    const int across = threadIdx.y + blockIdx.y * blockDim.y;
    if (below >= size - 1 - column)
        return;
    if (across >= size - column)
        return;

    const int row = below + 1 + column;
    const float factor = multiplier[size * row + column];
    matrix[size * row + across + column] -= factor * matrix[size * column + across + column];
    if (across == 0)
        right[row] -= multiplier[size * row + column] * right[column];
}
