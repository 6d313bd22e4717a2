// LU decomposition without pivoting, in place, in steps of 16 columns of a matrix of n x n.
//
// factor_tile: a thread owns a column of the diagonal tile in registers; the pivot's thread publishes its multipliers.
// solve_strips: a thread owns a column of U or a row of L in registers, straight from global memory, and eliminates one
// unknown after the other from those behind; only the factored tile is shared.
// subtract_product: a thread owns two cells of a column, eight rows apart, for which it reads an element of U once.

constexpr int TILE = 16;
constexpr int QUADS = TILE / 4;  // vectors in a row of a tile

__device__ __forceinline__ float4& quad(float* at) { return *reinterpret_cast<float4*>(at); }

extern "C" __global__ void __launch_bounds__(TILE)
factor_tile(float* __restrict__ matrix, int n, int first)
{
    __shared__ float multipliers[TILE][TILE];

    const int own = threadIdx.x;
    float* top = matrix + first * (n + 1) + own;
    float column[TILE];
#pragma unroll
    for (int i = 0; i < TILE; ++i)
        column[i] = top[i * n];

#pragma unroll
    for (int pivot = 0; pivot < TILE - 1; ++pivot) {
        if (own == pivot) {
            const float inverse = 1.0f / column[pivot];
#pragma unroll
            for (int i = pivot + 1; i < TILE; ++i)
                multipliers[pivot][i] = column[i] *= inverse;
        }
        __syncthreads();
        if (own > pivot) {
#pragma unroll
            for (int i = pivot + 1; i < TILE; ++i)
                column[i] -= multipliers[pivot][i] * column[pivot];
        }
    }

#pragma unroll
    for (int i = 0; i < TILE; ++i)
        top[i * n] = column[i];
}

// Half a warp takes a tile to the right of the diagonal, the other half the one below it.
extern "C" __global__ void __launch_bounds__(2 * TILE)
solve_strips(float* __restrict__ matrix, int n, int first)
{
    __shared__ float factors[TILE][TILE + 1];
    __shared__ float inverses[TILE];

    const int thread = threadIdx.x;
    float* diagonal = matrix + first * (n + 1);
    for (int row = thread / TILE; row < TILE; row += 2)
        factors[row][thread % TILE] = diagonal[row * n + thread % TILE];
    if (thread < TILE)
        inverses[thread] = 1.0f / diagonal[thread * (n + 1)];
    __syncthreads();

    const int own = first + (1 + blockIdx.x) * TILE + thread % TILE;
    float x[TILE];
    if (thread < TILE) {
        float* column = matrix + first * n + own;
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            x[i] = column[i * n];
#pragma unroll
        for (int solved = 0; solved < TILE - 1; ++solved)
#pragma unroll
            for (int i = solved + 1; i < TILE; ++i)
                x[i] -= factors[i][solved] * x[solved];
#pragma unroll
        for (int i = 1; i < TILE; ++i)
            column[i * n] = x[i];
    } else {
        float* row = matrix + own * n + first;
#pragma unroll
        for (int j = 0; j < TILE; j += 4) {
            const float4 loaded = quad(row + j);
            x[j] = loaded.x, x[j + 1] = loaded.y, x[j + 2] = loaded.z, x[j + 3] = loaded.w;
        }
#pragma unroll
        for (int solved = 0; solved < TILE; ++solved) {
            x[solved] *= inverses[solved];
#pragma unroll
            for (int j = solved + 1; j < TILE; ++j)
                x[j] -= x[solved] * factors[solved][j];
        }
#pragma unroll
        for (int j = 0; j < TILE; j += 4)
            quad(row + j) = make_float4(x[j], x[j + 1], x[j + 2], x[j + 3]);
    }
}

extern "C" __global__ void __launch_bounds__(TILE * TILE / 2)
subtract_product(float* __restrict__ matrix, int n, int first)
{
    __shared__ float4 strips[2][TILE][QUADS];  // L, then U

    const int x = threadIdx.x, y = threadIdx.y;
    const int row = first + (1 + blockIdx.y) * TILE, col = first + (1 + blockIdx.x) * TILE;

    // Four threads load a row, the first half of the block of L, the second of U.
    const int thread = y * TILE + x;
    const int strip = thread / (TILE * QUADS), line = thread / QUADS % TILE, part = thread % QUADS;
    float* source = strip == 0 ? matrix + (row + line) * n + first : matrix + (first + line) * n + col;
    strips[strip][line][part] = quad(source + 4 * part);
    __syncthreads();

    const float* upper = &strips[1][0][0].x + x;
    float near = 0.0f, far = 0.0f;
#pragma unroll
    for (int quarter = 0; quarter < QUADS; ++quarter, upper += 4 * TILE) {
        const float4 lower = strips[0][y][quarter], lowest = strips[0][y + TILE / 2][quarter];
        const float u[] = {upper[0], upper[TILE], upper[2 * TILE], upper[3 * TILE]};
        near += lower.x * u[0], near += lower.y * u[1], near += lower.z * u[2], near += lower.w * u[3];
        far += lowest.x * u[0], far += lowest.y * u[1], far += lowest.z * u[2], far += lowest.w * u[3];
    }
    float* cell = matrix + (row + y) * n + col + x;
    cell[0] -= near;
    cell[TILE / 2 * n] -= far;
}
