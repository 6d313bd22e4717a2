// Transient temperature of a chip from its power map: an explicit 5-point stencil on a grid.
// One launch advances the grid by `steps` time steps. A block of 16 x 16 threads loads a tile with a halo of `steps`
// cells on each side; every step spoils one ring of the tile, and the part inside the halo is still exact at the end.
// The literal 2.0 makes the flows along the chip double precision, as in many a code that means single.

#define TILE 16
#define AMBIENT 80.0f

extern "C" __global__ void __launch_bounds__(TILE * TILE)
hotspot(const float* __restrict__ power, const float* __restrict__ before, float* __restrict__ after, int rows,
        int cols, int steps, float capacity, float rx, float ry, float rz, float step_seconds)
{
    __shared__ float temperature[TILE][TILE];
    __shared__ float heat[TILE][TILE];
    __shared__ float updated[TILE][TILE];

    const float dt_over_capacity = step_seconds / capacity;
    const float rx_inverse = 1 / rx;
    const float ry_inverse = 1 / ry;
    const float rz_inverse = 1 / rz;

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int inner = TILE - 2 * steps;
    const int first_row = blockIdx.y * inner - steps;
    const int first_col = blockIdx.x * inner - steps;
    const int row = first_row + ty;
    const int col = first_col + tx;
    const bool on_chip = row >= 0 && row < rows && col >= 0 && col < cols;
    const int cell = row * cols + col;

    if (on_chip) {
        temperature[ty][tx] = before[cell];
        heat[ty][tx] = power[cell];
    }
    __syncthreads();

    // A neighbour beyond the edge of the chip has the temperature of the cell itself.
    const int north = max(ty - 1, -first_row);
    const int south = min(ty + 1, rows - 1 - first_row);
    const int west = max(tx - 1, -first_col);
    const int east = min(tx + 1, cols - 1 - first_col);

    for (int step = 0; step < steps; ++step) {
        const int ring = step + 1;
        const bool exact = on_chip && tx >= ring && tx < TILE - ring && ty >= ring && ty < TILE - ring;
        if (exact) {
            const float here = temperature[ty][tx];
            const double flow_y = (temperature[south][tx] + temperature[north][tx] - 2.0 * here) * ry_inverse;
            const double flow_x = (temperature[ty][east] + temperature[ty][west] - 2.0 * here) * rx_inverse;
            const float flow_z = (AMBIENT - here) * rz_inverse;
            updated[ty][tx] = here + dt_over_capacity * (heat[ty][tx] + flow_y + flow_x + flow_z);
        }
        __syncthreads();

        if (step == steps - 1) {
            if (exact)
                after[cell] = updated[ty][tx];
            return;
        }
        if (exact)
            temperature[ty][tx] = updated[ty][tx];
        __syncthreads();
    }
}
