// Potential and force on particles in a grid of boxes, from those in the same box and in its up to 26 neighbours.
// A block of 128 threads handles a box of 100 particles, one a thread: it keeps the box's particles in shared memory
// and brings in those of one neighbour after the other.

#define PARTICLES 100
#define THREADS 128
#define NEIGHBOURS 26

struct Vector4 {
    double v, x, y, z;
};

struct Neighbour {
    int x, y, z;
    int number;
    long long offset;
};

struct Box {
    int x, y, z;
    int number;
    long long offset;
    int neighbours;
    Neighbour neighbour[NEIGHBOURS];
};

extern "C" __global__ void
forces_in_boxes(double alpha, int box_count, const Box* boxes, const Vector4* place, const double* charge,
                Vector4* force)
{
    const int bx = blockIdx.x;
    const int tx = threadIdx.x;
    int i = tx;

    if (bx < box_count) {
        const double a2 = 2.0 * alpha * alpha;
        __shared__ Vector4 home_place[PARTICLES];
        __shared__ Vector4 other_place[PARTICLES];
        __shared__ double other_charge[PARTICLES];

        const long long first = boxes[bx].offset;
        const Vector4* home = &place[first];
        Vector4* pull = &force[first];

        while (i < PARTICLES) {
            home_place[i] = home[i];
            i += THREADS;
        }
        i = tx;
        __syncthreads();

        for (int k = 0; k < 1 + boxes[bx].neighbours; k++) {
            const int box = k == 0 ? bx : boxes[bx].neighbour[k - 1].number;
            const long long first_other = boxes[box].offset;
            const Vector4* other = &place[first_other];
            const double* charges = &charge[first_other];

            while (i < PARTICLES) {
                other_place[i] = other[i];
                other_charge[i] = charges[i];
                i += THREADS;
            }
            i = tx;
            __syncthreads();

            while (i < PARTICLES) {
                for (int j = 0; j < PARTICLES; j++) {
                    const double dot = home_place[i].x * other_place[j].x + home_place[i].y * other_place[j].y
                                       + home_place[i].z * other_place[j].z;
                    const double r2 = home_place[i].v + other_place[j].v - dot;
                    const double u2 = a2 * r2;
                    const double vij = exp(-u2);
                    const double fs = 2 * vij;
                    const double dx = home_place[i].x - other_place[j].x;
                    const double dy = home_place[i].y - other_place[j].y;
                    const double dz = home_place[i].z - other_place[j].z;
                    pull[i].v += other_charge[j] * vij;
                    pull[i].x += other_charge[j] * (fs * dx);
                    pull[i].y += other_charge[j] * (fs * dy);
                    pull[i].z += other_charge[j] * (fs * dz);
                }
                i += THREADS;
            }
            i = tx;
            __syncthreads();
        }
    }
}
