// A magnified view of a grey image, one thread per pixel of the view, in blocks of 16 x 16. Coordinates count texels.
// Nearest and bilinear interpolation are the texture's own; bicubic ones weigh 4 x 4 texels, by cubic B-splines (which
// smooth) or Catmull-Rom splines (which interpolate). B-spline weights are positive, so that two texels of a row can be
// had by one linear fetch between them: four fetches then do the work of sixteen.

#define WHITE 255.0f

// ---- Cubic B-spline weights of the texels at -1, 0, 1 and 2, for a point a fraction t beyond 0

__device__ float spline_0(float t) { return (1.0f / 6.0f) * (t * (t * (3.0f - t) - 3.0f) + 1.0f); }
__device__ float spline_1(float t) { return (1.0f / 6.0f) * (t * t * (3.0f * t - 6.0f) + 4.0f); }
__device__ float spline_2(float t) { return (1.0f / 6.0f) * (t * (t * (3.0f - 3.0f * t) + 3.0f) + 1.0f); }
__device__ float spline_3(float t) { return (1.0f / 6.0f) * (t * t * t); }

// Weights of the two pairs, and where between the texels of a pair a linear fetch has to be made.
__device__ float lower_pair(float t) { return spline_0(t) + spline_1(t); }
__device__ float upper_pair(float t) { return spline_2(t) + spline_3(t); }
__device__ float lower_place(float t) { return -0.5f + spline_1(t) / (spline_0(t) + spline_1(t)); }
__device__ float upper_place(float t) { return 1.5f + spline_3(t) / (spline_2(t) + spline_3(t)); }

// ---- Catmull-Rom weights

__device__ float catmull_rom_0(float t) { return t * (-0.5f + t * (1.0f - 0.5f * t)); }
__device__ float catmull_rom_1(float t) { return 1.0f + t * t * (-2.5f + 1.5f * t); }
__device__ float catmull_rom_2(float t) { return t * (0.5f + t * (2.0f - 1.5f * t)); }
__device__ float catmull_rom_3(float t) { return t * t * (-0.5f + 0.5f * t); }

__device__ float spline(float t, float c0, float c1, float c2, float c3)
{
    return c0 * spline_0(t) + c1 * spline_1(t) + c2 * spline_2(t) + c3 * spline_3(t);
}

__device__ float catmull_rom(float t, float c0, float c1, float c2, float c3)
{
    return c0 * catmull_rom_0(t) + c1 * catmull_rom_1(t) + c2 * catmull_rom_2(t) + c3 * catmull_rom_3(t);
}

typedef float Interpolation(float t, float c0, float c1, float c2, float c3);

template <Interpolation interpolate>
__device__ float fetch_4x4(cudaTextureObject_t image, float x, float y)
{
    const float px = floorf(x - 0.5f);
    const float py = floorf(y - 0.5f);
    const float fx = x - 0.5f - px;
    const float fy = y - 0.5f - py;
    float rows[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j)
        rows[j] = interpolate(fx, tex2D<float>(image, px - 1.0f, py + j - 1.0f), tex2D<float>(image, px, py + j - 1.0f),
                              tex2D<float>(image, px + 1.0f, py + j - 1.0f),
                              tex2D<float>(image, px + 2.0f, py + j - 1.0f));
    return interpolate(fy, rows[0], rows[1], rows[2], rows[3]);
}

__device__ float fetch_fast_bicubic(cudaTextureObject_t image, float x, float y)
{
    const float px = floorf(x - 0.5f);
    const float py = floorf(y - 0.5f);
    const float fx = x - 0.5f - px;
    const float fy = y - 0.5f - py;
    const float left = lower_pair(fx);
    const float right = upper_pair(fx);
    const float x0 = px + lower_place(fx);
    const float x1 = px + upper_place(fx);
    const float y0 = py + lower_place(fy);
    const float y1 = py + upper_place(fy);
    return lower_pair(fy) * (left * tex2D<float>(image, x0, y0) + right * tex2D<float>(image, x1, y0)) +
           upper_pair(fy) * (left * tex2D<float>(image, x0, y1) + right * tex2D<float>(image, x1, y1));
}

__device__ float fetch_plain(cudaTextureObject_t image, float x, float y) { return tex2D<float>(image, x, y); }

typedef float Fetch(cudaTextureObject_t image, float x, float y);

template <Fetch fetch>
__device__ void render(cudaTextureObject_t image, uchar4* view, unsigned int width, unsigned int height, float shift_x,
                       float shift_y, float scale, float centre_x, float centre_y)
{
    const unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = (x - centre_x) * scale + centre_x + shift_x;
    const float v = (y - centre_y) * scale + centre_y + shift_y;
    const unsigned char level = __saturatef(fetch(image, u, v)) * WHITE;
    view[y * width + x] = make_uchar4(level, level, level, 0);
}

extern "C" __global__ void render_plain(cudaTextureObject_t image, uchar4* view, unsigned int width,
                                        unsigned int height, float shift_x, float shift_y, float scale,
                                        float centre_x, float centre_y)
{
    render<fetch_plain>(image, view, width, height, shift_x, shift_y, scale, centre_x, centre_y);
}

extern "C" __global__ void render_bicubic(cudaTextureObject_t image, uchar4* view, unsigned int width,
                                          unsigned int height, float shift_x, float shift_y, float scale,
                                          float centre_x, float centre_y)
{
    render<fetch_4x4<spline>>(image, view, width, height, shift_x, shift_y, scale, centre_x, centre_y);
}

extern "C" __global__ void render_fast_bicubic(cudaTextureObject_t image, uchar4* view, unsigned int width,
                                               unsigned int height, float shift_x, float shift_y, float scale,
                                               float centre_x, float centre_y)
{
    render<fetch_fast_bicubic>(image, view, width, height, shift_x, shift_y, scale, centre_x, centre_y);
}

extern "C" __global__ void render_catmull_rom(cudaTextureObject_t image, uchar4* view, unsigned int width,
                                              unsigned int height, float shift_x, float shift_y, float scale,
                                              float centre_x, float centre_y)
{
    render<fetch_4x4<catmull_rom>>(image, view, width, height, shift_x, shift_y, scale, centre_x, centre_y);
}
