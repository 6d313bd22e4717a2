// Ambient occlusion in screen space, two pixel shaders, one thread a pixel in blocks of 16 x 16. The first takes the
// position in view space from the depth buffer, decodes the normal, turns a tangent frame around it by an angle that is
// a hash of the pixel, and probes sixteen points of the hemisphere: each is projected to the screen, and where the depth
// there is nearer, by more than a bias and less than the radius, it occludes. The second smooths the noise over 4 x 4
// pixels of like depth. Where nothing is drawn there is no occlusion.

#define PROBES 16

struct View {
    float4 numbers;  // slope of a pixel, columns and rows to the middle of the screen, slope there
    float4 radius;  // radius, bias, strength, farthest depth
    float4 probes[PROBES];
};

__constant__ View view;

__device__ inline unsigned scrambled(unsigned state)
{
    state ^= state >> 16;
    state *= 0x7feb352du;
    state ^= state >> 15;
    state *= 0x846ca68bu;
    return state ^ state >> 16;
}

extern "C" __global__ void __launch_bounds__(256)
occlude_pixels(cudaTextureObject_t depths, cudaTextureObject_t normals, float* __restrict__ open, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = x + 0.5f;
    const float v = y + 0.5f;
    const float depth = tex2D<float>(depths, u, v);
    if (depth >= view.radius.w) {
        open[y * width + x] = 1.0f;
        return;
    }
    const float slope = view.numbers.x;
    const float px = (u - view.numbers.y) * slope * depth;
    const float py = (view.numbers.w - (v - view.numbers.z) * slope) * depth;

    const float4 encoded = tex2D<float4>(normals, u, v);
    float nx = 2.0f * encoded.x - 1.0f;
    float ny = 2.0f * encoded.y - 1.0f;
    float nz = 2.0f * encoded.z - 1.0f;
    const float inverse = rsqrtf(nx * nx + ny * ny + nz * nz);
    nx *= inverse;
    ny *= inverse;
    nz *= inverse;

    // An orthonormal frame with the normal as its third axis, without branches, then turned about it.
    const float sign = copysignf(1.0f, nz);
    const float a = __fdividef(-1.0f, sign + nz);
    const float b = nx * ny * a;
    const float3 first = make_float3(1.0f + sign * nx * nx * a, sign * b, -sign * nx);
    const float3 second = make_float3(b, sign + ny * ny * a, -ny);
    const float angle = (scrambled(y * width + x) >> 8) * (6.2831853f / 16777216.0f);
    float sine, cosine;
    __sincosf(angle, &sine, &cosine);
    const float3 tangent = make_float3(cosine * first.x + sine * second.x, cosine * first.y + sine * second.y,
                                       cosine * first.z + sine * second.z);
    const float3 other = make_float3(cosine * second.x - sine * first.x, cosine * second.y - sine * first.y,
                                     cosine * second.z - sine * first.z);

    const float radius = view.radius.x;
    const float per_slope = __fdividef(1.0f, slope);
    float occluded = 0.0f;
#pragma unroll 4
    for (int i = 0; i < PROBES; ++i) {
        const float4 probe = view.probes[i];
        const float sx = px + radius * (probe.x * tangent.x + probe.y * other.x + probe.z * nx);
        const float sy = py + radius * (probe.x * tangent.y + probe.y * other.y + probe.z * ny);
        const float sz = depth + radius * (probe.x * tangent.z + probe.y * other.z + probe.z * nz);
        const float scale = __fdividef(per_slope, sz);
        const float found = tex2D<float>(depths, view.numbers.y + sx * scale,
                                         view.numbers.z + view.numbers.w * per_slope - sy * scale);
        const float hidden = __saturatef((sz - found - view.radius.y) * 20.0f);
        const float near = __saturatef(2.0f - fabsf(depth - found) * __fdividef(1.0f, radius));
        occluded += hidden * near;
    }
    const float light = __saturatef(1.0f - view.radius.z * occluded * (1.0f / PROBES));
    open[y * width + x] = light * light;
}

extern "C" __global__ void __launch_bounds__(256)
smooth_pixels(cudaTextureObject_t depths, cudaTextureObject_t open, float* __restrict__ smooth, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = x + 0.5f;
    const float v = y + 0.5f;
    const float depth = tex2D<float>(depths, u, v);
    const float sharpness = __fdividef(4.0f, depth);
    float sum = 0.0f;
    float total = 0.0f;
#pragma unroll
    for (int j = -2; j < 2; ++j)
#pragma unroll
        for (int i = -2; i < 2; ++i) {
            const float difference = fabsf(tex2D<float>(depths, u + i, v + j) - depth);
            const float weight = __saturatef(1.0f - difference * sharpness);
            sum += weight * tex2D<float>(open, u + i, v + j);
            total += weight;
        }
    smooth[y * width + x] = __fdividef(sum, total);
}
