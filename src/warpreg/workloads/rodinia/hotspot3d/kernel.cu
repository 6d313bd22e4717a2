// A time step of the temperature in a stack of layers: explicit, with seven points.
//
// A thread owns two columns through all layers, in rows one below the other, each of which is a neighbour of the other.
// Heat flows by differences, so that one conductance an axis is enough: what enters from two sides is their sum less
// twice the cell. Beyond the edges stand the cells themselves; above the top layer is air as well.

constexpr int WIDTH = 64, HEIGHT = 4;

extern "C" __global__ void __launch_bounds__(WIDTH * HEIGHT)
hotspot3d(const float* __restrict__ power, const float* __restrict__ now, float* __restrict__ later, int rows, int cols,
          int layers, float warming, float along_x, float along_y, float along_z, float ambient)
{
    const int col = blockIdx.x * WIDTH + threadIdx.x;
    const int row = 2 * (blockIdx.y * HEIGHT + threadIdx.y);
    if (col >= cols || row >= rows)
        return;

    const bool has_second = row + 1 < rows;
    const int west = col > 0 ? -1 : 0, east = col + 1 < cols ? 1 : 0;
    const int north = row > 0 ? -cols : 0, second = has_second ? cols : 0;
    const int south = row + 2 < rows ? second + cols : second;
    const int layer_cells = rows * cols;

    const int first = row * cols + col;
    const int end = layers * layer_cells;
    float below_a = now[first], below_b = now[first + second];
    float here_a = below_a, here_b = below_b;
    for (int a = first; a < end; a += layer_cells) {
        const int b = a + second;
        const int up = a + layer_cells < end ? layer_cells : 0;
        const float above_a = now[a + up], above_b = now[b + up];

        float gain_a = warming * power[a] + along_z * (above_a + below_a + ambient - 3.0f * here_a);
        float gain_b = warming * power[b] + along_z * (above_b + below_b + ambient - 3.0f * here_b);
        gain_a += along_y * (now[a + north] + here_b - 2.0f * here_a);
        gain_b += along_y * (here_a + now[a + south] - 2.0f * here_b);
        gain_a += along_x * (now[a + west] + now[a + east] - 2.0f * here_a);
        gain_b += along_x * (now[b + west] + now[b + east] - 2.0f * here_b);

        later[a] = here_a + gain_a;
        if (has_second)
            later[b] = here_b + gain_b;
        below_a = here_a, here_a = above_a;
        below_b = here_b, here_b = above_b;
    }
}
