// The electrostatic potential of point charges on a plane of a lattice, charge by charge. A thread computes eight points
// of a row, sixteen apart so that stores of a half-warp coalesce; they share the distance along y and z. Charges come
// from constant memory, as many as fit a launch; the potential accumulates over launches.

#define POINTS 8
#define BLOCK_X 16
#define BLOCK_Y 8
#define MAX_ATOMS 4000

__constant__ float4 atoms[MAX_ATOMS];

extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y)
potential(int count, float spacing, float* energies)
{
    const unsigned x = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned out = gridDim.x * blockDim.x * POINTS * y + x;

    const float place_y = spacing * (float)y;
    const float place_x = spacing * (float)x;
    const float step = spacing * (float)BLOCK_X;

    float energy1 = 0.0f, energy2 = 0.0f, energy3 = 0.0f, energy4 = 0.0f;
    float energy5 = 0.0f, energy6 = 0.0f, energy7 = 0.0f, energy8 = 0.0f;

    #pragma unroll 1
    for (int atom = 0; atom < count; atom++) {
        const float dy = place_y - atoms[atom].y;
        const float across = (dy * dy) + atoms[atom].z;
        const float charge = atoms[atom].w;
        const float dx1 = place_x - atoms[atom].x;
        const float dx2 = dx1 + step;
        const float dx3 = dx2 + step;
        const float dx4 = dx3 + step;
        const float dx5 = dx4 + step;
        const float dx6 = dx5 + step;
        const float dx7 = dx6 + step;
        const float dx8 = dx7 + step;
        energy1 += charge * rsqrtf(dx1 * dx1 + across);
        energy2 += charge * rsqrtf(dx2 * dx2 + across);
        energy3 += charge * rsqrtf(dx3 * dx3 + across);
        energy4 += charge * rsqrtf(dx4 * dx4 + across);
        energy5 += charge * rsqrtf(dx5 * dx5 + across);
        energy6 += charge * rsqrtf(dx6 * dx6 + across);
        energy7 += charge * rsqrtf(dx7 * dx7 + across);
        energy8 += charge * rsqrtf(dx8 * dx8 + across);
    }

    energies[out] += energy1;
    energies[out + 1 * BLOCK_X] += energy2;
    energies[out + 2 * BLOCK_X] += energy3;
    energies[out + 3 * BLOCK_X] += energy4;
    energies[out + 4 * BLOCK_X] += energy5;
    energies[out + 5 * BLOCK_X] += energy6;
    energies[out + 6 * BLOCK_X] += energy7;
    energies[out + 7 * BLOCK_X] += energy8;
}
