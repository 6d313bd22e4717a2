// Atoms that attract and repel each other after Lennard and Jones, up to a cutoff, and their motion.
// One thread an atom. Its neighbours' numbers are `atoms` apart, so that a warp reads them together; their positions are
// gathered through a texture.

extern "C" __global__ void __launch_bounds__(256)
forces(cudaTextureObject_t positions, const int* __restrict__ neighbours, const int* __restrict__ counts,
       float4* __restrict__ force, int atoms, float cutoff_squared, float repulsion, float attraction)
{
    const int atom = blockIdx.x * blockDim.x + threadIdx.x;
    if (atom >= atoms)
        return;

    const float4 here = tex1Dfetch<float4>(positions, atom);
    const int count = counts[atom];
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    for (int i = 0; i < count; ++i) {
        const float4 there = tex1Dfetch<float4>(positions, neighbours[i * atoms + atom]);
        const float dx = here.x - there.x;
        const float dy = here.y - there.y;
        const float dz = here.z - there.z;
        const float squared = dx * dx + dy * dy + dz * dz;
        if (squared < cutoff_squared) {
            const float inverse = 1.0f / squared;
            const float sixth = inverse * inverse * inverse;
            const float strength = inverse * sixth * (repulsion * sixth - attraction);
            sum.x += dx * strength;
            sum.y += dy * strength;
            sum.z += dz * strength;
        }
    }
    force[atom] = sum;
}

// One step in time: velocities by the forces, positions by the velocities. Atoms have unit mass.
extern "C" __global__ void __launch_bounds__(256)
move(float4* __restrict__ positions, float4* __restrict__ velocities, const float4* __restrict__ force, int atoms,
     float step)
{
    const int atom = blockIdx.x * blockDim.x + threadIdx.x;
    if (atom >= atoms)
        return;

    const float4 push = force[atom];
    float4 velocity = velocities[atom];
    float4 position = positions[atom];
    velocity.x += step * push.x;
    velocity.y += step * push.y;
    velocity.z += step * push.z;
    position.x += step * velocity.x;
    position.y += step * velocity.y;
    position.z += step * velocity.z;
    velocities[atom] = velocity;
    positions[atom] = position;
}
