// All-pairs gravity with a tile of bodies in shared memory.
extern "C" __global__ void nbody(const float4 *bodies, float4 *moved, float3 *speeds, int n, float step) {
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int first = 0; first < n; first += 64) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 64; ++j) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float near = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
            float pull = other.w * near * near * near;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }
    float3 speed = speeds[i];
    speed.x += ax * step;
    speed.y += ay * step;
    speed.z += az * step;
    speeds[i] = speed;
    moved[i] = make_float4(me.x + speed.x * step, me.y + speed.y * step, me.z + speed.z * step, me.w);
}
