// A particle system, two compute shaders with one thread a particle. The first moves particles: a wind in a 3D texture
// drags them, gravity pulls, a ball in the way turns them aside, and those that have lived their time are born again at
// the emitter with random numbers from a hash. The second expands each particle into the four corners of a rotated
// square that faces the camera, and takes its colour from a ramp over its age; what is behind the camera shrinks to
// nothing.

struct Air {
    float4 ball;  // centre and radius
    float4 emitter;  // place and radius
    float4 numbers;  // step, drag, gravity, inverse period of the wind
};

struct Camera {
    float4 rows[4];  // position to clip space
    float4 sizes;  // width and height of a unit in clip space, size at birth, size at death
};

__constant__ Air air;
__constant__ Camera camera;

__device__ inline float dot(float4 row, float4 p) { return row.x * p.x + row.y * p.y + row.z * p.z + row.w; }

__device__ inline unsigned scrambled(unsigned state)
{
    state ^= state >> 16;
    state *= 0x85ebca6bu;
    state ^= state >> 13;
    state *= 0xc2b2ae35u;
    return state ^ state >> 16;
}

// A number from 0 to 1 of 24 bits.
__device__ inline float uniform(unsigned& state)
{
    state = scrambled(state + 0x9e3779b9u);
    return (state >> 8) * (1.0f / 16777216.0f);
}

extern "C" __global__ void __launch_bounds__(256)
move_particles(cudaTextureObject_t wind, float4* __restrict__ places, float4* __restrict__ velocities, int count,
               unsigned frame)
{
    const int particle = blockIdx.x * blockDim.x + threadIdx.x;
    if (particle >= count)
        return;
    float4 place = places[particle];  // w: age
    float4 velocity = velocities[particle];  // w: time of life
    const float step = air.numbers.x;
    place.w += step;

    if (place.w >= velocity.w) {
        unsigned state = particle * 0x2545f491u + frame;
        const float angle = 6.2831853f * uniform(state);
        const float radius = air.emitter.w * __fsqrt_rn(uniform(state));
        float sine, cosine;
        __sincosf(angle, &sine, &cosine);
        place = make_float4(air.emitter.x + radius * cosine, air.emitter.y, air.emitter.z + radius * sine, 0.0f);
        velocity = make_float4(cosine, 2.0f + 2.0f * uniform(state), sine, 1.0f + 2.0f * uniform(state));
    } else {
        const float scale = air.numbers.w;
        const float4 blow = tex3D<float4>(wind, place.x * scale, place.y * scale, place.z * scale);
        const float drag = step * air.numbers.y;
        velocity.x += drag * (blow.x - velocity.x);
        velocity.y += drag * (blow.y - velocity.y) - step * air.numbers.z;
        velocity.z += drag * (blow.z - velocity.z);
        place.x += step * velocity.x;
        place.y += step * velocity.y;
        place.z += step * velocity.z;

        const float dx = place.x - air.ball.x;
        const float dy = place.y - air.ball.y;
        const float dz = place.z - air.ball.z;
        const float squared = dx * dx + dy * dy + dz * dz;
        if (squared < air.ball.w * air.ball.w) {
            const float inverse = rsqrtf(squared);
            const float nx = dx * inverse;
            const float ny = dy * inverse;
            const float nz = dz * inverse;
            const float inward = fminf(velocity.x * nx + velocity.y * ny + velocity.z * nz, 0.0f);
            velocity.x -= inward * nx;
            velocity.y -= inward * ny;
            velocity.z -= inward * nz;
            place.x = air.ball.x + air.ball.w * nx;
            place.y = air.ball.y + air.ball.w * ny;
            place.z = air.ball.z + air.ball.w * nz;
        }
    }
    places[particle] = place;
    velocities[particle] = velocity;
}

extern "C" __global__ void __launch_bounds__(256)
expand_particles(cudaTextureObject_t ramp, const float4* __restrict__ places, const float4* __restrict__ velocities,
                 float4* __restrict__ corners, float4* __restrict__ colours, int count)
{
    const int particle = blockIdx.x * blockDim.x + threadIdx.x;
    if (particle >= count)
        return;
    const float4 place = places[particle];
    const float life = velocities[particle].w;
    const float4 clip = make_float4(dot(camera.rows[0], place), dot(camera.rows[1], place),
                                    dot(camera.rows[2], place), dot(camera.rows[3], place));
    if (clip.w < 0.1f) {
        const float4 nothing = make_float4(0.0f, 0.0f, 0.0f, 1.0f);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            corners[4 * particle + i] = nothing;
        colours[particle] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        return;
    }
    const float age = __fdividef(place.w, life);
    const float4 colour = tex1D<float4>(ramp, age);
    const float size = camera.sizes.z + age * (camera.sizes.w - camera.sizes.z);
    const float turn = (scrambled(particle) >> 8) * (6.2831853f / 16777216.0f);
    float sine, cosine;
    __sincosf(turn + age, &sine, &cosine);
    const float along_x = camera.sizes.x * size;
    const float along_y = camera.sizes.y * size;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float x = i & 1 ? cosine + sine : cosine - sine;
        const float y = i & 1 ? sine - cosine : sine + cosine;
        const float side = i & 2 ? -1.0f : 1.0f;
        corners[4 * particle + i] = make_float4(clip.x + side * along_x * x, clip.y + side * along_y * y, clip.z,
                                                clip.w);
    }
    const float fade = __saturatef(8.0f * age) * __saturatef(2.0f - 2.0f * age) * colour.w;
    colours[particle] = make_float4(colour.x * fade, colour.y * fade, colour.z * fade, fade);
}
