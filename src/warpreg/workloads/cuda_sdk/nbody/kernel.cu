// Gravity between all pairs of bodies. A block takes 256 bodies; it walks over all bodies in tiles of 256 that it keeps
// in shared memory, and each thread adds up the acceleration of its body.

#define TILE 256

__constant__ float softening_squared;

__device__ inline float3 interact(float3 acceleration, float4 body, float4 other)
{
    float3 r;
    r.x = other.x - body.x;
    r.y = other.y - body.y;
    r.z = other.z - body.z;
    const float distance_squared = r.x * r.x + r.y * r.y + r.z * r.z + softening_squared;
    const float inverse = rsqrtf(distance_squared);
    const float scale = other.w * (inverse * inverse * inverse);
    acceleration.x += r.x * scale;
    acceleration.y += r.y * scale;
    acceleration.z += r.z * scale;
    return acceleration;
}

extern "C" __global__ void __launch_bounds__(TILE)
integrate_bodies(float4* __restrict__ new_position, const float4* __restrict__ old_position, float4* velocity,
                 int bodies, float step, float damping, int tiles)
{
    __shared__ float4 tile[TILE];

    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= bodies)
        return;
    float4 position = old_position[index];
    float3 acceleration = {0.0f, 0.0f, 0.0f};

    for (int number = 0; number < tiles; number++) {
        tile[threadIdx.x] = old_position[number * blockDim.x + threadIdx.x];
        __syncthreads();
        #pragma unroll 128
        for (unsigned int other = 0; other < TILE; other++)
            acceleration = interact(acceleration, position, tile[other]);
        __syncthreads();
    }

    float4 speed = velocity[index];
    speed.x = (speed.x + acceleration.x * step) * damping;
    speed.y = (speed.y + acceleration.y * step) * damping;
    speed.z = (speed.z + acceleration.z * step) * damping;
    position.x += speed.x * step;
    position.y += speed.y * step;
    position.z += speed.z * step;
    new_position[index] = position;
    velocity[index] = speed;
}
