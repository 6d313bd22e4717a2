// The temperature of a stack of chips over time: an explicit seven-point stencil on a grid of a few layers. A thread owns
// a column of the grid and walks up through its layers, with the layer below, the current one and the one above in
// registers. Beyond the edge the field is flat.

extern "C" __global__ void
hotspot3d(float* power, float* before, float* after, float step_over_capacity, int nx, int ny, int nz, float ce, float cw,
          float cn, float cs, float ct, float cb, float cc)
{
    const float ambient = 80.0f;

    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    const int j = blockDim.y * blockIdx.y + threadIdx.y;
    if (i >= nx || j >= ny)
        return;

    int c = i + j * nx;
    const int layer = nx * ny;

    const int west = i == 0 ? c : c - 1;
    const int east = i == nx - 1 ? c : c + 1;
    const int north = j == 0 ? c : c - nx;
    const int south = j == ny - 1 ? c : c + nx;
    int w = west, e = east, n = north, s = south;

    float below, here, above;
    below = here = before[c];
    above = before[c + layer];
    after[c] = cc * here + cw * before[w] + ce * before[e] + cs * before[s] + cn * before[n] + cb * below + ct * above +
               step_over_capacity * power[c] + ct * ambient;
    c += layer;
    w += layer;
    e += layer;
    n += layer;
    s += layer;

    for (int k = 1; k < nz - 1; ++k) {
        below = here;
        here = above;
        above = before[c + layer];
        after[c] = cc * here + cw * before[w] + ce * before[e] + cs * before[s] + cn * before[n] + cb * below +
                   ct * above + step_over_capacity * power[c] + ct * ambient;
        c += layer;
        w += layer;
        e += layer;
        n += layer;
        s += layer;
    }

    below = here;
    here = above;
    after[c] = cc * here + cw * before[w] + ce * before[e] + cs * before[s] + cn * before[n] + cb * below + ct * above +
               step_over_capacity * power[c] + ct * ambient;
}
