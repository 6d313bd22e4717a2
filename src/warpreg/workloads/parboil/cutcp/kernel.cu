// The electrostatic potential of atoms on a lattice, with a cutoff: an atom acts within a radius only, and its
// potential is smoothed to reach zero there. Atoms lie in bins of eight places each. A thread block owns a cubic region
// of 8 x 8 x 8 lattice points, a thread four of them. The block walks over the bins around it, a list of offsets in
// constant memory, 32 at a time through shared memory.

#define BLOCK_X 8
#define BLOCK_Y 2
#define BLOCK_Z 8
#define POINTS 4
#define REGION 512
#define BIN_DEPTH 8
#define BIN_FLOATS (4 * BIN_DEPTH)
#define CACHED_BINS 32
#define MAX_NEIGHBOURS 1331

struct Offset {
    int x;
    int y;
    int z;
};

__constant__ int neighbours;
__constant__ Offset offsets[MAX_NEIGHBOURS];

extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y * BLOCK_Z)
cutoff_potential(int bins_x, int bins_y, const float4* bins, float spacing, float cutoff2, float inverse_cutoff2,
                 float* lattice, int region_z)
{
    __shared__ float cache[CACHED_BINS * BIN_FLOATS];
    __shared__ Offset corner;

    const int thread = (threadIdx.z * BLOCK_Y + threadIdx.y) * BLOCK_X + threadIdx.x;
    const int lane = thread % BIN_FLOATS;
    const int warp = thread / BIN_FLOATS;

    const float x = (8 * blockIdx.x + threadIdx.x) * spacing;
    const float y = (8 * blockIdx.y + threadIdx.y) * spacing;
    const float z = (8 * region_z + threadIdx.z) * spacing;
    const float step_y = BLOCK_Y * spacing;

    float* region = lattice + ((region_z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * REGION;
    float energy0 = 0.0f, energy1 = 0.0f, energy2 = 0.0f, energy3 = 0.0f;

    if (thread == 0) {
        corner.x = blockIdx.x;
        corner.y = blockIdx.y;
        corner.z = region_z;
    }

    for (int done = 0; done < neighbours; done += CACHED_BINS) {
        const int cached = min(CACHED_BINS, neighbours - done);
        __syncthreads();
        for (int bin = warp; bin < cached; bin += BLOCK_X * BLOCK_Y * BLOCK_Z / BIN_FLOATS) {
            const Offset offset = offsets[done + bin];
            const int place =
                ((corner.z + offset.z) * bins_y + (corner.y + offset.y)) * bins_x + (corner.x + offset.x);
            cache[bin * BIN_FLOATS + lane] = ((const float*)(bins + place * BIN_DEPTH))[lane];
        }
        __syncthreads();

        for (int bin = 0; bin < cached; bin++) {
            for (int atom = 0; atom < BIN_DEPTH; atom++) {
                const int at = bin * BIN_FLOATS + 4 * atom;
                const float charge = cache[at + 3];
                if (charge == 0.0f)
                    break;
                const float dx = cache[at] - x;
                const float dz = cache[at + 2] - z;
                const float across2 = dx * dx + dz * dz;
                if (across2 >= cutoff2)
                    continue;

                float dy = cache[at + 1] - y;
                float distance2 = dy * dy + across2;
                if (distance2 < cutoff2) {
                    const float smooth = 1.0f - distance2 * inverse_cutoff2;
                    energy0 += charge * rsqrtf(distance2) * smooth * smooth;
                }
                dy -= step_y;
                distance2 = dy * dy + across2;
                if (distance2 < cutoff2) {
                    const float smooth = 1.0f - distance2 * inverse_cutoff2;
                    energy1 += charge * rsqrtf(distance2) * smooth * smooth;
                }
                dy -= step_y;
                distance2 = dy * dy + across2;
                if (distance2 < cutoff2) {
                    const float smooth = 1.0f - distance2 * inverse_cutoff2;
                    energy2 += charge * rsqrtf(distance2) * smooth * smooth;
                }
                dy -= step_y;
                distance2 = dy * dy + across2;
                if (distance2 < cutoff2) {
                    const float smooth = 1.0f - distance2 * inverse_cutoff2;
                    energy3 += charge * rsqrtf(distance2) * smooth * smooth;
                }
            }
        }
    }

    const int point = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
    region[point] = energy0;
    region[point + 1 * BLOCK_Y * 8] = energy1;
    region[point + 2 * BLOCK_Y * 8] = energy2;
    region[point + 3 * BLOCK_Y * 8] = energy3;
}
