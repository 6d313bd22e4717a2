// Water: a compute shader that bakes Gerstner waves into a periodic map of normals and heights, one thread a texel, and
// a pixel shader, one thread a pixel; blocks of 16 x 16. The pixel's ray meets the plane of the water, where the wave's
// normal and two layers of ripples are fetched; the mirrored ray fetches a cube map of the sky, the refracted one the
// ground below, which fades with the way through the water; they are mixed by Fresnel's law as Schlick approximates it.
// Rays that go up see the sky alone.

#define WAVES 6

struct Wave {
    float4 run;  // direction x and z, times the wave number; phase; amplitude
    float4 steep;  // direction x and z, wave number times amplitude, steepness
};

struct Water {
    float4 numbers;  // slope of a pixel, columns and rows to the middle of the screen, slope there
    float4 place;  // height of the eye, inverse period of the waves, depth of the ground, inverse period of the ground
    float4 sun;  // direction towards it, brightness
    float4 fading;  // per unit of way, for each colour; drift of the ripples
};

__constant__ Wave waves[WAVES];
__constant__ Water water;

__device__ inline float3 xyz(float4 v) { return make_float3(v.x, v.y, v.z); }
__device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ inline float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float3 operator*(float3 a, float3 b) { return make_float3(a.x * b.x, a.y * b.y, a.z * b.z); }
__device__ inline float3 operator*(float s, float3 v) { return make_float3(s * v.x, s * v.y, s * v.z); }
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float3 normalize(float3 v) { return rsqrtf(dot(v, v)) * v; }
__device__ inline float3 lerp(float3 a, float3 b, float t) { return a + t * (b - a); }

extern "C" __global__ void __launch_bounds__(256) bake_waves(float4* __restrict__ map, int texels, float period)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= texels || y >= texels)
        return;
    const float scale = __fdividef(period, texels);
    const float px = (x + 0.5f) * scale;
    const float pz = (y + 0.5f) * scale;
    float4 sum = make_float4(0.0f, 1.0f, 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < WAVES; ++i) {
        const Wave wave = waves[i];
        float sine, cosine;
        __sincosf(wave.run.x * px + wave.run.y * pz + wave.run.z, &sine, &cosine);
        sum.x -= wave.steep.x * wave.steep.z * cosine;
        sum.y -= wave.steep.w * wave.steep.z * sine;
        sum.z -= wave.steep.y * wave.steep.z * cosine;
        sum.w += wave.run.w * sine;
    }
    map[y * texels + x] = sum;
}

extern "C" __global__ void __launch_bounds__(256)
draw_water(cudaTextureObject_t wave_map, cudaTextureObject_t ripples, cudaTextureObject_t ground,
           cudaTextureObject_t sky, float4* __restrict__ colours, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float3 ray = make_float3((x + 0.5f - water.numbers.y) * water.numbers.x,
                                   water.numbers.w - (y + 0.5f - water.numbers.z) * water.numbers.x, 1.0f);
    if (ray.y > -0.02f) {
        colours[y * width + x] = texCubemap<float4>(sky, ray.x, ray.y, ray.z);
        return;
    }
    const float distance = __fdividef(-water.place.x, ray.y);
    const float px = distance * ray.x;
    const float pz = distance;
    const float u = px * water.place.y;
    const float v = pz * water.place.y;
    const float4 wave = tex2D<float4>(wave_map, u, v);
    const float drift = water.fading.w;
    const float4 first = tex2D<float4>(ripples, 3.0f * u + drift, 3.0f * v);
    const float4 second = tex2D<float4>(ripples, 5.0f * v, 5.0f * u - drift);
    const float strength = __fdividef(2.0f, 4.0f + distance);
    const float3 normal = normalize(make_float3(wave.x + strength * (first.x + second.y - 1.0f), wave.y,
                                                wave.z + strength * (first.y + second.x - 1.0f)));

    const float3 view = normalize(ray);
    const float facing = __saturatef(-dot(view, normal));
    float3 mirrored = view + 2.0f * facing * normal;
    mirrored.y = fabsf(mirrored.y);
    const float3 light = xyz(texCubemap<float4>(sky, mirrored.x, mirrored.y, mirrored.z));
    const float glint = water.sun.w * __powf(__saturatef(dot(mirrored, xyz(water.sun))), 32.0f);

    const float index = 0.75f;  // of air to water
    const float inside = 1.0f - index * index * (1.0f - facing * facing);
    const float3 bent = index * view + (index * facing - inside * rsqrtf(inside)) * normal;
    const float way = __fdividef(water.place.z + wave.w, fmaxf(-bent.y, 0.2f));
    const float4 below = tex2D<float4>(ground, (px + way * bent.x) * water.place.w, (pz + way * bent.z) * water.place.w);
    const float3 left = make_float3(__expf(-way * water.fading.x), __expf(-way * water.fading.y),
                                    __expf(-way * water.fading.z));
    const float3 through = left * xyz(below);

    const float fresnel = 0.02f + 0.98f * __powf(1.0f - facing, 5.0f);
    const float3 colour = lerp(through, light, fresnel);
    colours[y * width + x] = make_float4(colour.x + glint, colour.y + glint, colour.z + glint, 1.0f);
}
