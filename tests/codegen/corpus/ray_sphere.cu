// A ray a pixel against a list of spheres, shaded by the normal at the nearest hit.
extern "C" __global__ void ray_sphere(const float4 *spheres, int count, unsigned *image, int width, int height) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float dx = (px + 0.5f) / width - 0.5f, dy = (py + 0.5f) / height - 0.5f, dz = 1.0f;
    float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= scale;
    dy *= scale;
    dz *= scale;
    float nearest = 1e30f;
    int hit = -1;
    for (int i = 0; i < count; ++i) {
        float4 s = spheres[i];
        float b = s.x * dx + s.y * dy + s.z * dz;
        float disc = b * b - (s.x * s.x + s.y * s.y + s.z * s.z - s.w * s.w);
        if (disc > 0.0f) {
            float t = b - sqrtf(disc);
            if (t > 1e-3f && t < nearest) {
                nearest = t;
                hit = i;
            }
        }
    }
    unsigned colour = 0xff000000u;
    if (hit >= 0) {
        float4 s = spheres[hit];
        float light = -(nearest * dz - s.z) / s.w;
        unsigned grey = (unsigned)(255.0f * fminf(fmaxf(light, 0.0f), 1.0f));
        colour |= grey << 16 | grey << 8 | grey;
    }
    image[py * width + px] = colour;
}
