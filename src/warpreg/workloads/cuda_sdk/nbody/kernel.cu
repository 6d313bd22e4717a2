// A step of bodies that attract each other, every one by all.
//
// A block advances 256 bodies, one a thread, and passes over all of them in tiles of 256. A tile lies in shared memory
// by component, so that a vector load brings one component of four bodies to a thread. Two tiles alternate: one is
// read while the next is brought, and a tile takes one barrier.

constexpr int BODIES = 256;  // of a tile, and threads of a block

struct Tile {
    float4 x[BODIES / 4], y[BODIES / 4], z[BODIES / 4], mass[BODIES / 4];
};

__constant__ float softening_squared;

__device__ void put(Tile &tile, float4 body) {
    int place = threadIdx.x;
    reinterpret_cast<float *>(tile.x)[place] = body.x;
    reinterpret_cast<float *>(tile.y)[place] = body.y;
    reinterpret_cast<float *>(tile.z)[place] = body.z;
    reinterpret_cast<float *>(tile.mass)[place] = body.w;
}

// Adds m r / (r^2 + softening^2)^(3/2), for the vector r from a place to a body.
__device__ void attract(float3 &pull, float4 place, float x, float y, float z, float mass) {
    x -= place.x;
    y -= place.y;
    z -= place.z;
    float nearness = rsqrtf(softening_squared + x * x + y * y + z * z);
    float strength = nearness * nearness * (nearness * mass);
    pull.x += strength * x;
    pull.y += strength * y;
    pull.z += strength * z;
}

extern "C" __global__ void integrate_bodies(const float4 *old, float4 *moved, float4 *velocities, float step,
                                            float damping, int tiles) {
    __shared__ Tile shared[2];
    int body = blockIdx.x * BODIES + threadIdx.x;
    float4 place = old[body];

    float3 pull = {};
    put(shared[0], old[threadIdx.x]);
    for (int t = 0; t < tiles; ++t) {
        __syncthreads();
        if (t + 1 < tiles)
            put(shared[(t + 1) % 2], old[(t + 1) * BODIES + threadIdx.x]);

        const Tile &tile = shared[t % 2];
#pragma unroll 32
        for (int four = 0; four < BODIES / 4; ++four) {
            float4 x = tile.x[four], y = tile.y[four], z = tile.z[four], mass = tile.mass[four];
            attract(pull, place, x.x, y.x, z.x, mass.x);
            attract(pull, place, x.y, y.y, z.y, mass.y);
            attract(pull, place, x.z, y.z, z.z, mass.z);
            attract(pull, place, x.w, y.w, z.w, mass.w);
        }
    }

    float4 velocity = velocities[body];
    velocity.x = damping * (velocity.x + step * pull.x);
    velocity.y = damping * (velocity.y + step * pull.y);
    velocity.z = damping * (velocity.z + step * pull.z);
    velocities[body] = velocity;
    moved[body] = {place.x + step * velocity.x, place.y + step * velocity.y, place.z + step * velocity.z, place.w};
}
