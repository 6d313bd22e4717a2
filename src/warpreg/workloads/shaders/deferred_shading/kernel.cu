// Deferred shading by tiles: a compute shader, one thread a pixel, a block a tile of 16 x 16 pixels. The block finds the
// range of depths in its tile with atomics in shared memory; its threads share out the lights and test each sphere of
// reach against the sides, the near and the far end of the tile's frustum; those that meet it are listed in shared
// memory. Then each pixel decodes its surface from the G-buffer and loops over the list.

#define TILE 16
#define THREADS (TILE * TILE)
#define MAX_LIGHTS 256

struct Screen {
    float4 numbers;  // slope of a pixel, columns and rows to the middle of the screen, slope there
    float4 background;
    float4 ambient;
};

__constant__ Screen screen;

__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float3 operator*(float s, float3 v) { return make_float3(s * v.x, s * v.y, s * v.z); }
__device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ inline float3 normalize(float3 v) { return rsqrtf(dot(v, v)) * v; }

// From the square of the octahedron to the unit sphere.
__device__ inline float3 decoded(float2 folded)
{
    float3 normal = make_float3(folded.x, folded.y, 1.0f - fabsf(folded.x) - fabsf(folded.y));
    const float below = fmaxf(-normal.z, 0.0f);
    normal.x -= copysignf(below, normal.x);
    normal.y -= copysignf(below, normal.y);
    return normalize(normal);
}

// How far a place lies outside the side of a frustum that has `slope` and goes through the eye.
__device__ inline float outside(float place, float z, float slope) { return (place - slope * z) * rsqrtf(1.0f + slope * slope); }

extern "C" __global__ void __launch_bounds__(THREADS)
shade_tiles(cudaTextureObject_t albedos, cudaTextureObject_t normals, cudaTextureObject_t depths,
            const float4* __restrict__ light_places, const float4* __restrict__ light_colours,
            float4* __restrict__ colours, int width, int height, int light_count)
{
    __shared__ int nearest;
    __shared__ int farthest;
    __shared__ int listed;
    __shared__ unsigned short list[MAX_LIGHTS];

    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int thread = threadIdx.y * TILE + threadIdx.x;
    const bool on_screen = x < width && y < height;
    const float u = x + 0.5f;
    const float v = y + 0.5f;

    if (thread == 0) {
        nearest = 0x7f7fffff;
        farthest = 0;
        listed = 0;
    }
    __syncthreads();

    const float depth = on_screen ? tex2D<float>(depths, u, v) : 0.0f;
    const bool drawn = depth > 0.0f;
    if (drawn) {
        atomicMin(&nearest, __float_as_int(depth));
        atomicMax(&farthest, __float_as_int(depth));
    }
    __syncthreads();

    const float slope = screen.numbers.x;
    const float left = (blockIdx.x * TILE - screen.numbers.y) * slope;
    const float right = left + TILE * slope;
    const float top = screen.numbers.w - (blockIdx.y * TILE - screen.numbers.z) * slope;
    const float bottom = top - TILE * slope;
    const float first = __int_as_float(nearest);
    const float last = __int_as_float(farthest);
    for (int light = thread; light < light_count; light += THREADS) {
        const float4 place = light_places[light];  // w: reach
        float beyond = fmaxf(first - place.z, place.z - last);
        beyond = fmaxf(beyond, fmaxf(-outside(place.x, place.z, left), outside(place.x, place.z, right)));
        beyond = fmaxf(beyond, fmaxf(outside(place.y, place.z, top), -outside(place.y, place.z, bottom)));
        if (beyond < place.w)
            list[atomicAdd(&listed, 1)] = light;
    }
    __syncthreads();

    if (!on_screen)
        return;
    if (!drawn) {
        colours[y * width + x] = screen.background;
        return;
    }
    const float3 position = make_float3((u - screen.numbers.y) * slope * depth,
                                        (screen.numbers.w - (v - screen.numbers.z) * slope) * depth, depth);
    const float4 albedo = tex2D<float4>(albedos, u, v);  // w: gloss
    const float3 normal = decoded(tex2D<float2>(normals, u, v));
    const float3 to_eye = -rsqrtf(dot(position, position)) * position;
    const float exponent = 4.0f + 60.0f * albedo.w;

    float3 diffuse = make_float3(screen.ambient.x, screen.ambient.y, screen.ambient.z);
    float3 highlight = make_float3(0.0f, 0.0f, 0.0f);
    const int count = listed;
    for (int i = 0; i < count; ++i) {
        const int light = list[i];
        const float4 place = light_places[light];
        const float3 to_light = make_float3(place.x - position.x, place.y - position.y, place.z - position.z);
        const float squared = dot(to_light, to_light);
        const float facing = dot(normal, to_light);
        if (squared < place.w * place.w && facing > 0.0f) {
            const float inverse = rsqrtf(squared);
            const float3 direction = inverse * to_light;
            const float fall = 1.0f - __fdividef(squared, place.w * place.w);
            const float gloss = __powf(__saturatef(dot(normal, normalize(direction + to_eye))), exponent);
            const float4 colour = light_colours[light];
            const float3 arriving = fall * fall * make_float3(colour.x, colour.y, colour.z);
            diffuse = diffuse + facing * inverse * arriving;
            highlight = highlight + gloss * albedo.w * arriving;
        }
    }
    colours[y * width + x] = make_float4(albedo.x * diffuse.x + highlight.x, albedo.y * diffuse.y + highlight.y,
                                         albedo.z * diffuse.z + highlight.z, 1.0f);
}
