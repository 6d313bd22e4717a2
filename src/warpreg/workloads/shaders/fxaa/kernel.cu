// Pixel shader: antialiasing along edges, on the finished picture with the luminance in its fourth channel. One thread a
// pixel, blocks of 16 x 16. Where the contrast with the four neighbours is low the pixel stays as it is. Otherwise the
// shader decides whether the edge runs across or down, walks along it both ways with bilinear fetches between the two
// rows until the luminance there changes, and fetches the pixel anew, moved towards the other side of the edge by as
// much as the nearer end of the edge demands.

#define STEPS 10

__device__ inline float luminance(cudaTextureObject_t picture, float x, float y) { return tex2D<float4>(picture, x, y).w; }

extern "C" __global__ void __launch_bounds__(256)
smooth_edges(cudaTextureObject_t picture, float4* __restrict__ colours, int width, int height, float threshold,
             float darkest)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = x + 0.5f;
    const float v = y + 0.5f;
    const float4 centre = tex2D<float4>(picture, u, v);
    const float here = centre.w;
    const float north = luminance(picture, u, v - 1.0f);
    const float south = luminance(picture, u, v + 1.0f);
    const float west = luminance(picture, u - 1.0f, v);
    const float east = luminance(picture, u + 1.0f, v);
    const float brightest = fmaxf(here, fmaxf(fmaxf(north, south), fmaxf(west, east)));
    const float contrast = brightest - fminf(here, fminf(fminf(north, south), fminf(west, east)));
    if (contrast < fmaxf(darkest, brightest * threshold)) {
        colours[y * width + x] = centre;
        return;
    }

    const float north_west = luminance(picture, u - 1.0f, v - 1.0f);
    const float north_east = luminance(picture, u + 1.0f, v - 1.0f);
    const float south_west = luminance(picture, u - 1.0f, v + 1.0f);
    const float south_east = luminance(picture, u + 1.0f, v + 1.0f);
    const float bend_down = fabsf((north_west + south_west) - 2.0f * west)
        + 2.0f * fabsf((north + south) - 2.0f * here) + fabsf((north_east + south_east) - 2.0f * east);
    const float bend_across = fabsf((north_west + north_east) - 2.0f * north)
        + 2.0f * fabsf((west + east) - 2.0f * here) + fabsf((south_west + south_east) - 2.0f * south);
    const bool across = bend_down >= bend_across;

    // The edge lies between this pixel and the neighbour on its steeper side.
    const float before = across ? north : west;
    const float after = across ? south : east;
    const bool on_before = fabsf(before - here) >= fabsf(after - here);
    const float side = on_before ? -1.0f : 1.0f;
    const float other = on_before ? before : after;
    const float middle = 0.5f * (here + other);
    const float steep = 0.25f * fabsf(other - here);
    const float edge_u = across ? u : u + 0.5f * side;
    const float edge_v = across ? v + 0.5f * side : v;
    const float step_u = across ? 1.0f : 0.0f;
    const float step_v = across ? 0.0f : 1.0f;

    float back = 0.0f;
    float forth = 0.0f;
    float end_back = 0.0f;
    float end_forth = 0.0f;
    bool walking_back = true;
    bool walking_forth = true;
    for (int i = 0; i < STEPS && (walking_back || walking_forth); ++i) {
        const float stride = i < 4 ? 1.0f : 2.0f;
        if (walking_back) {
            back += stride;
            end_back = luminance(picture, edge_u - back * step_u, edge_v - back * step_v) - middle;
            walking_back = fabsf(end_back) < steep;
        }
        if (walking_forth) {
            forth += stride;
            end_forth = luminance(picture, edge_u + forth * step_u, edge_v + forth * step_v) - middle;
            walking_forth = fabsf(end_forth) < steep;
        }
    }
    const bool back_is_nearer = back < forth;
    const float nearer = fminf(back, forth);
    const bool below_middle = here < middle;
    const bool end_below = (back_is_nearer ? end_back : end_forth) < 0.0f;
    const float along = end_below == below_middle ? 0.0f : 0.5f - __fdividef(nearer, back + forth);

    const float mean = (2.0f * (north + south + west + east) + north_west + north_east + south_west + south_east)
        * (1.0f / 12.0f);
    const float lone = __saturatef(__fdividef(fabsf(mean - here), contrast));
    const float smooth = lone * lone * (3.0f - 2.0f * lone);
    const float shift = side * fmaxf(along, 0.75f * smooth * smooth);
    colours[y * width + x] = tex2D<float4>(picture, across ? u : u + shift, across ? v + shift : v);
}
