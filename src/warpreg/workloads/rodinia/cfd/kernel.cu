// Compressible flow on an unstructured mesh of tetrahedra, finite volumes with explicit Runge-Kutta stages.
//
// A flux is needed only across a face, so it is never formed as a tensor: the velocity along the face's normal carries
// density, momentum and energy, and the pressure pushes along the normal. A stage is one kernel, which sums the four
// faces of an element and at once moves its state into another buffer; three buffers take turns, and none is copied.
// Numbers of element e stand at [...][e]; blocks are full, as the mesh is padded.

using real = float;

constexpr int THREADS = 192;
constexpr int FACES = 4;
constexpr int WING = -1, FAR_FIELD = -2;  // in place of a neighbour
constexpr real GAMMA = 1.4;
constexpr real SMOOTHING = 0.2;

__constant__ real far_state[5];

struct Vector { real x, y, z; };

struct State { real density; Vector momentum; real energy; };

struct Gas { Vector velocity; real pressure, fastest; };

__device__ __forceinline__ real dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__device__ __forceinline__ State state_at(const real* table, int pitch, int at)
{
    return {table[at], {table[pitch + at], table[2 * pitch + at], table[3 * pitch + at]}, table[4 * pitch + at]};
}

__device__ __forceinline__ void store(real* table, int pitch, int at, const State& state)
{
    table[at] = state.density;
    table[pitch + at] = state.momentum.x;
    table[2 * pitch + at] = state.momentum.y;
    table[3 * pitch + at] = state.momentum.z;
    table[4 * pitch + at] = state.energy;
}

// Adds `factor` times `b` to `a`.
__device__ __forceinline__ void add(State& a, real factor, const State& b)
{
    a.density += factor * b.density;
    a.momentum.x += factor * b.momentum.x;
    a.momentum.y += factor * b.momentum.y;
    a.momentum.z += factor * b.momentum.z;
    a.energy += factor * b.energy;
}

// Velocity and pressure of an ideal gas, and how fast news travel in it: its own speed and that of sound.
__device__ __forceinline__ Gas gas_of(const State& state)
{
    const real volume = 1 / state.density;
    Gas gas;
    gas.velocity = {volume * state.momentum.x, volume * state.momentum.y, volume * state.momentum.z};
    const real square = dot(gas.velocity, gas.velocity);
    gas.pressure = (GAMMA - 1) * (state.energy - state.density * square / 2);
    gas.fastest = sqrt(square) + sqrt(GAMMA * gas.pressure * volume);
    return gas;
}

__device__ __forceinline__ void push(State& gains, real pressure, Vector normal)
{
    gains.momentum.x += pressure * normal.x;
    gains.momentum.y += pressure * normal.y;
    gains.momentum.z += pressure * normal.z;
}

// Half of what flows through a face: the flux there is the mean of those of both sides.
__device__ __forceinline__ void flow(State& gains, const State& state, const Gas& gas, Vector normal)
{
    const real half = dot(gas.velocity, normal) / 2;
    add(gains, half, state);
    gains.energy += half * gas.pressure;
    push(gains, gas.pressure / 2, normal);
}

extern "C" __global__ void __launch_bounds__(THREADS)
fill_with_far_field(int elements, real* __restrict__ states)
{
    store(states, elements, blockIdx.x * THREADS + threadIdx.x, state_at(far_state, 1, 0));
}

// The longest step that is stable, over the volume that it changes.
extern "C" __global__ void __launch_bounds__(THREADS)
find_steps(int elements, const real* __restrict__ states, const real* __restrict__ areas, real* __restrict__ steps)
{
    const int element = blockIdx.x * THREADS + threadIdx.x;
    const Gas gas = gas_of(state_at(states, elements, element));
    steps[element] = static_cast<real>(0.5) / (sqrt(areas[element]) * gas.fastest);
}

extern "C" __global__ void __launch_bounds__(THREADS)
advance(int elements, real share, const int* __restrict__ neighbours, const real* __restrict__ normals,
        const real* __restrict__ steps, const real* __restrict__ start, const real* __restrict__ now,
        real* __restrict__ later)
{
    const int element = blockIdx.x * THREADS + threadIdx.x;
    const State own = state_at(now, elements, element);
    const Gas gas = gas_of(own);

    // The geometry is loaded at once; what neighbours hold follows face by face.
    int others[FACES];
    Vector face_normals[FACES];
#pragma unroll
    for (int face = 0; face < FACES; ++face) {
        const int at = face * elements + element, axis = FACES * elements;
        others[face] = neighbours[at];
        face_normals[face] = {normals[at], normals[axis + at], normals[2 * axis + at]};
    }

    State gains = {};
#pragma unroll
    for (int face = 0; face < FACES; ++face) {
        const int other = others[face];
        const Vector normal = face_normals[face];
        if (other == WING) {
            push(gains, gas.pressure, normal);
            continue;
        }
        flow(gains, own, gas, normal);
        const State beyond = other == FAR_FIELD ? state_at(far_state, 1, 0) : state_at(now, elements, other);
        const Gas gas_beyond = gas_of(beyond);
        flow(gains, beyond, gas_beyond, normal);
        if (other >= 0) {
            const real mixing = SMOOTHING / 2 * sqrt(dot(normal, normal)) * (gas.fastest + gas_beyond.fastest);
            add(gains, mixing, beyond);
            add(gains, -mixing, own);
        }
    }

    State moved = state_at(start, elements, element);
    add(moved, share * steps[element], gains);
    store(later, elements, element, moved);
}
