// Jacobi steps of the Laplace equation on a 3D grid with fixed values on its faces; one launch is one step.
// A block of 32 x 4 threads owns a column of the grid and marches upwards. Three planes of its tile, each with a halo
// of one cell, lie in shared memory: every step moves them down by one and loads the plane above. The first 76 threads
// load one halo cell each.

#define BLOCK_X 32
#define BLOCK_Y 4
#define ROW (BLOCK_X + 2)
#define PLANE (ROW * (BLOCK_Y + 2))

extern "C" __global__ void laplace(int nx, int ny, int nz, int pitch, const float* before, float* after)
{
    __shared__ float window[3 * PLANE];

    const int thread = threadIdx.x + threadIdx.y * BLOCK_X;
    const int step = pitch * ny;

    int halo_cell = 0, halo_slot = 0;
    bool halo = thread < 2 * (BLOCK_X + BLOCK_Y + 2);
    if (halo) {
        int i, j;
        if (threadIdx.y < 2) {
            i = threadIdx.x;
            j = threadIdx.y * (BLOCK_Y + 1) - 1;
        } else {
            i = (thread % 2) * (BLOCK_X + 1) - 1;
            j = thread / 2 - BLOCK_X - 1;
        }
        halo_slot = (i + 1) + (j + 1) * ROW + PLANE;
        i += blockIdx.x * BLOCK_X;
        j += blockIdx.y * BLOCK_Y;
        halo_cell = i + j * pitch;
        halo = i >= 0 && i < nx && j >= 0 && j < ny;
    }

    const int slot = (threadIdx.x + 1) + (threadIdx.y + 1) * ROW + PLANE;
    const int i = threadIdx.x + blockIdx.x * BLOCK_X;
    const int j = threadIdx.y + blockIdx.y * BLOCK_Y;
    int cell = i + j * pitch;
    const bool active = i < nx && j < ny;

    if (active)
        window[slot + PLANE] = before[cell];
    if (halo)
        window[halo_slot + PLANE] = before[halo_cell];

    for (int k = 0; k < nz; k++) {
        if (active) {
            cell = i + j * pitch + k * step;
            window[slot - PLANE] = window[slot];
            window[slot] = window[slot + PLANE];
            if (k < nz - 1)
                window[slot + PLANE] = before[cell + step];
        }
        if (halo) {
            halo_cell += step;
            window[halo_slot - PLANE] = window[halo_slot];
            window[halo_slot] = window[halo_slot + PLANE];
            if (k < nz - 1)
                window[halo_slot + PLANE] = before[halo_cell];
        }
        __syncthreads();

        if (active) {
            float value;
            if (i == 0 || i == nx - 1 || j == 0 || j == ny - 1 || k == 0 || k == nz - 1)
                value = window[slot];
            else
                value = (window[slot - 1] + window[slot + 1] + window[slot - ROW] + window[slot + ROW]
                         + window[slot - PLANE] + window[slot + PLANE]) * (1.0f / 6.0f);
            after[cell] = value;
        }
        __syncthreads();
    }
}
