// Ray tracing of spheres above a chequered plane, a pixel a thread: the nearest thing that a ray meets is lit by one
// light unless something lies between, and reflects. Reflections are followed in a loop, up to five, each weaker than
// the one before. Camera and spheres lie in constant memory; a block is 16 x 8 pixels.

#define MAX_SPHERES 16
#define DEPTH 5
#define FAR 1.0e4f
#define NEAR 1.0e-3f
#define NOTHING -2
#define PLANE -1

struct Sphere {
    float x;
    float y;
    float z;
    float radius;
    float red;
    float green;
    float blue;
    float reflection;
};

__constant__ Sphere spheres[MAX_SPHERES];
__constant__ int sphere_count;
__constant__ float4 view[3];
__constant__ float3 light;

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ float3 along(float3 start, float distance, float3 direction)
{
    return make_float3(start.x + distance * direction.x, start.y + distance * direction.y,
                       start.z + distance * direction.z);
}

__device__ __forceinline__ float3 normalized(float3 v)
{
    const float scale = rsqrtf(dot(v, v));
    return make_float3(scale * v.x, scale * v.y, scale * v.z);
}

// The nearest distance at which a ray meets a sphere, or FAR.
__device__ __forceinline__ float sphere_distance(const Sphere& sphere, float3 start, float3 direction)
{
    const float3 to_centre = make_float3(sphere.x - start.x, sphere.y - start.y, sphere.z - start.z);
    const float middle = dot(to_centre, direction);
    const float discriminant = middle * middle - dot(to_centre, to_centre) + sphere.radius * sphere.radius;
    if (discriminant <= 0.0f)
        return FAR;
    const float half = sqrtf(discriminant);
    if (middle - half > NEAR)
        return middle - half;
    return middle + half > NEAR ? middle + half : FAR;
}

__device__ __forceinline__ float plane_distance(float3 start, float3 direction)
{
    const float distance = -start.y / direction.y;
    return direction.y < -1.0e-4f && distance > NEAR ? distance : FAR;
}

__device__ __forceinline__ int nearest(float3 start, float3 direction, float& distance)
{
    int hit = NOTHING;
    distance = FAR;
    const float to_plane = plane_distance(start, direction);
    if (to_plane < distance) {
        distance = to_plane;
        hit = PLANE;
    }
    for (int i = 0; i < sphere_count; i++) {
        const float found = sphere_distance(spheres[i], start, direction);
        if (found < distance) {
            distance = found;
            hit = i;
        }
    }
    return hit;
}

__device__ __forceinline__ bool in_shadow(float3 start, float3 direction, float reach)
{
    for (int i = 0; i < sphere_count; i++)
        if (sphere_distance(spheres[i], start, direction) < reach)
            return true;
    return false;
}

__device__ __forceinline__ unsigned channel(float value)
{
    return (unsigned)(255.0f * __saturatef(value) + 0.5f);
}

extern "C" __global__ void render(unsigned* image, int width, int height, float pixel)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;

    const float across = pixel * (column + 0.5f - 0.5f * width);
    const float up = pixel * (0.5f * height - row - 0.5f);
    const float3 on_screen = make_float3(across, up, 1.0f);
    float3 start = make_float3(view[0].w, view[1].w, view[2].w);
    float3 direction = normalized(make_float3(dot(make_float3(view[0].x, view[0].y, view[0].z), on_screen),
                                              dot(make_float3(view[1].x, view[1].y, view[1].z), on_screen),
                                              dot(make_float3(view[2].x, view[2].y, view[2].z), on_screen)));
    float red = 0.0f, green = 0.0f, blue = 0.0f, strength = 1.0f;

    for (int depth = 0; depth < DEPTH && strength > 0.01f; depth++) {
        float distance;
        const int hit = nearest(start, direction, distance);
        if (hit == NOTHING) {
            const float sky = strength * (0.5f + 0.5f * direction.y);
            red += 0.5f * sky;
            green += 0.7f * sky;
            blue += sky;
            break;
        }

        const float3 point = along(start, distance, direction);
        float3 normal, colour;
        float reflection;
        if (hit == PLANE) {
            const bool white = ((int)floorf(point.x) + (int)floorf(point.z)) & 1;
            normal = make_float3(0.0f, 1.0f, 0.0f);
            colour = white ? make_float3(0.9f, 0.9f, 0.9f) : make_float3(0.2f, 0.2f, 0.25f);
            reflection = 0.2f;
        } else {
            const Sphere& sphere = spheres[hit];
            normal = normalized(make_float3(point.x - sphere.x, point.y - sphere.y, point.z - sphere.z));
            colour = make_float3(sphere.red, sphere.green, sphere.blue);
            reflection = sphere.reflection;
        }

        const float3 to_light = make_float3(light.x - point.x, light.y - point.y, light.z - point.z);
        const float reach = sqrtf(dot(to_light, to_light));
        const float3 light_direction = normalized(to_light);
        const float facing = dot(normal, light_direction);
        const float towards = dot(normal, direction);
        const float3 mirrored = along(direction, -2.0f * towards, normal);

        float diffuse = 0.15f, highlight = 0.0f;
        if (facing > 0.0f && !in_shadow(point, light_direction, reach)) {
            diffuse += 0.85f * facing;
            const float shine = fmaxf(dot(mirrored, light_direction), 0.0f);
            highlight = 0.5f * __powf(shine, 20.0f);
        }
        const float weight = strength * (1.0f - reflection);
        red += weight * (colour.x * diffuse + highlight);
        green += weight * (colour.y * diffuse + highlight);
        blue += weight * (colour.z * diffuse + highlight);

        strength *= reflection;
        start = along(point, NEAR, normal);
        direction = mirrored;
    }
    image[row * width + column] = channel(red) | channel(green) << 8 | channel(blue) << 16 | 0xff000000u;
}
