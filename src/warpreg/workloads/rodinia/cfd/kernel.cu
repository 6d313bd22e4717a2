// The compressible Euler equations on an unstructured mesh of tetrahedra: explicit, first order in space, with a
// Runge-Kutta scheme in time. One thread an element; variables, fluxes, normals and neighbours are stored component by
// component, so that threads read side by side. A neighbour -1 is the surface of the wing, -2 the far field, whose
// state and fluxes lie in constant memory. The number of elements is a multiple of the block.

#define GAMMA 1.4f
#define NEIGHBOURS 4
#define VARIABLES 5
#define DENSITY 0
#define MOMENTUM 1
#define ENERGY 4
#define STAGES 3
#define SMOOTHING 0.2f

__constant__ float far_variable[VARIABLES];
__constant__ float3 far_flux_momentum_x[1];
__constant__ float3 far_flux_momentum_y[1];
__constant__ float3 far_flux_momentum_z[1];
__constant__ float3 far_flux_energy[1];

__device__ __forceinline__ float3 velocity_of(float density, float3 momentum)
{
    return make_float3(momentum.x / density, momentum.y / density, momentum.z / density);
}

__device__ __forceinline__ float squared(float3 v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}

__device__ __forceinline__ float pressure_of(float density, float energy, float squared_speed)
{
    return (GAMMA - 1.0f) * (energy - 0.5f * density * squared_speed);
}

__device__ __forceinline__ float speed_of_sound(float density, float pressure)
{
    return sqrtf(GAMMA * pressure / density);
}

__device__ __forceinline__ void flux_of(float3 momentum, float energy, float pressure, float3 velocity, float3& x,
                                        float3& y, float3& z, float3& of_energy)
{
    x.x = velocity.x * momentum.x + pressure;
    x.y = velocity.x * momentum.y;
    x.z = velocity.x * momentum.z;
    y.x = x.y;
    y.y = velocity.y * momentum.y + pressure;
    y.z = velocity.y * momentum.z;
    z.x = x.z;
    z.y = y.z;
    z.z = velocity.z * momentum.z + pressure;
    const float enthalpy = energy + pressure;
    of_energy = make_float3(velocity.x * enthalpy, velocity.y * enthalpy, velocity.z * enthalpy);
}

extern "C" __global__ void
initialize_variables(int elements, float* variables)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (int j = 0; j < VARIABLES; j++)
        variables[i + j * elements] = far_variable[j];
}

extern "C" __global__ void
compute_step_factor(int elements, float* variables, float* areas, float* step_factors)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    const float density = variables[i + DENSITY * elements];
    float3 momentum;
    momentum.x = variables[i + (MOMENTUM + 0) * elements];
    momentum.y = variables[i + (MOMENTUM + 1) * elements];
    momentum.z = variables[i + (MOMENTUM + 2) * elements];
    const float energy = variables[i + ENERGY * elements];

    const float3 velocity = velocity_of(density, momentum);
    const float squared_speed = squared(velocity);
    const float pressure = pressure_of(density, energy, squared_speed);
    const float sound = speed_of_sound(density, pressure);
    step_factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(squared_speed) + sound));
}

extern "C" __global__ void
compute_flux(int elements, int* neighbours, float* normals, float* variables, float* fluxes)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;

    const float density = variables[i + DENSITY * elements];
    float3 momentum;
    momentum.x = variables[i + (MOMENTUM + 0) * elements];
    momentum.y = variables[i + (MOMENTUM + 1) * elements];
    momentum.z = variables[i + (MOMENTUM + 2) * elements];
    const float energy = variables[i + ENERGY * elements];

    const float3 velocity = velocity_of(density, momentum);
    const float squared_speed = squared(velocity);
    const float speed = sqrtf(squared_speed);
    const float pressure = pressure_of(density, energy, squared_speed);
    const float sound = speed_of_sound(density, pressure);
    float3 flux_x, flux_y, flux_z, flux_energy;
    flux_of(momentum, energy, pressure, velocity, flux_x, flux_y, flux_z, flux_energy);

    float sum_density = 0.0f;
    float3 sum_momentum = make_float3(0.0f, 0.0f, 0.0f);
    float sum_energy = 0.0f;

#pragma unroll
    for (int j = 0; j < NEIGHBOURS; j++) {
        const int other = neighbours[i + j * elements];
        float3 normal;
        normal.x = normals[i + (j + 0 * NEIGHBOURS) * elements];
        normal.y = normals[i + (j + 1 * NEIGHBOURS) * elements];
        normal.z = normals[i + (j + 2 * NEIGHBOURS) * elements];
        const float length = sqrtf(squared(normal));

        if (other >= 0) {
            const float other_density = variables[other + DENSITY * elements];
            float3 other_momentum;
            other_momentum.x = variables[other + (MOMENTUM + 0) * elements];
            other_momentum.y = variables[other + (MOMENTUM + 1) * elements];
            other_momentum.z = variables[other + (MOMENTUM + 2) * elements];
            const float other_energy = variables[other + ENERGY * elements];
            const float3 other_velocity = velocity_of(other_density, other_momentum);
            const float other_squared = squared(other_velocity);
            const float other_pressure = pressure_of(other_density, other_energy, other_squared);
            const float other_sound = speed_of_sound(other_density, other_pressure);
            float3 other_x, other_y, other_z, other_flux_energy;
            flux_of(other_momentum, other_energy, other_pressure, other_velocity, other_x, other_y, other_z,
                    other_flux_energy);

            float factor = -length * SMOOTHING * 0.5f * (speed + sqrtf(other_squared) + sound + other_sound);
            sum_density += factor * (density - other_density);
            sum_energy += factor * (energy - other_energy);
            sum_momentum.x += factor * (momentum.x - other_momentum.x);
            sum_momentum.y += factor * (momentum.y - other_momentum.y);
            sum_momentum.z += factor * (momentum.z - other_momentum.z);

            factor = 0.5f * normal.x;
            sum_density += factor * (other_momentum.x + momentum.x);
            sum_energy += factor * (other_flux_energy.x + flux_energy.x);
            sum_momentum.x += factor * (other_x.x + flux_x.x);
            sum_momentum.y += factor * (other_y.x + flux_y.x);
            sum_momentum.z += factor * (other_z.x + flux_z.x);

            factor = 0.5f * normal.y;
            sum_density += factor * (other_momentum.y + momentum.y);
            sum_energy += factor * (other_flux_energy.y + flux_energy.y);
            sum_momentum.x += factor * (other_x.y + flux_x.y);
            sum_momentum.y += factor * (other_y.y + flux_y.y);
            sum_momentum.z += factor * (other_z.y + flux_z.y);

            factor = 0.5f * normal.z;
            sum_density += factor * (other_momentum.z + momentum.z);
            sum_energy += factor * (other_flux_energy.z + flux_energy.z);
            sum_momentum.x += factor * (other_x.z + flux_x.z);
            sum_momentum.y += factor * (other_y.z + flux_y.z);
            sum_momentum.z += factor * (other_z.z + flux_z.z);
        } else if (other == -1) {
            sum_momentum.x += normal.x * pressure;
            sum_momentum.y += normal.y * pressure;
            sum_momentum.z += normal.z * pressure;
        } else if (other == -2) {
            float factor = 0.5f * normal.x;
            sum_density += factor * (far_variable[MOMENTUM + 0] + momentum.x);
            sum_energy += factor * (far_flux_energy[0].x + flux_energy.x);
            sum_momentum.x += factor * (far_flux_momentum_x[0].x + flux_x.x);
            sum_momentum.y += factor * (far_flux_momentum_y[0].x + flux_y.x);
            sum_momentum.z += factor * (far_flux_momentum_z[0].x + flux_z.x);

            factor = 0.5f * normal.y;
            sum_density += factor * (far_variable[MOMENTUM + 1] + momentum.y);
            sum_energy += factor * (far_flux_energy[0].y + flux_energy.y);
            sum_momentum.x += factor * (far_flux_momentum_x[0].y + flux_x.y);
            sum_momentum.y += factor * (far_flux_momentum_y[0].y + flux_y.y);
            sum_momentum.z += factor * (far_flux_momentum_z[0].y + flux_z.y);

            factor = 0.5f * normal.z;
            sum_density += factor * (far_variable[MOMENTUM + 2] + momentum.z);
            sum_energy += factor * (far_flux_energy[0].z + flux_energy.z);
            sum_momentum.x += factor * (far_flux_momentum_x[0].z + flux_x.z);
            sum_momentum.y += factor * (far_flux_momentum_y[0].z + flux_y.z);
            sum_momentum.z += factor * (far_flux_momentum_z[0].z + flux_z.z);
        }
    }

    fluxes[i + DENSITY * elements] = sum_density;
    fluxes[i + (MOMENTUM + 0) * elements] = sum_momentum.x;
    fluxes[i + (MOMENTUM + 1) * elements] = sum_momentum.y;
    fluxes[i + (MOMENTUM + 2) * elements] = sum_momentum.z;
    fluxes[i + ENERGY * elements] = sum_energy;
}

extern "C" __global__ void
time_step(int stage, int elements, float* before, float* variables, float* step_factors, float* fluxes)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    const float factor = step_factors[i] / float(STAGES + 1 - stage);

    variables[i + DENSITY * elements] = before[i + DENSITY * elements] + factor * fluxes[i + DENSITY * elements];
    variables[i + ENERGY * elements] = before[i + ENERGY * elements] + factor * fluxes[i + ENERGY * elements];
    variables[i + (MOMENTUM + 0) * elements]
        = before[i + (MOMENTUM + 0) * elements] + factor * fluxes[i + (MOMENTUM + 0) * elements];
    variables[i + (MOMENTUM + 1) * elements]
        = before[i + (MOMENTUM + 1) * elements] + factor * fluxes[i + (MOMENTUM + 1) * elements];
    variables[i + (MOMENTUM + 2) * elements]
        = before[i + (MOMENTUM + 2) * elements] + factor * fluxes[i + (MOMENTUM + 2) * elements];
}
