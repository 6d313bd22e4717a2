// One step of a lattice Boltzmann fluid in two dimensions with nine speeds, periodic borders.
extern "C" __global__ void lattice_step(const float *from, float *to, int nx, int ny, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= nx) return;
    int cells = nx * ny;
    int west = x == 0 ? nx - 1 : x - 1, east = x == nx - 1 ? 0 : x + 1;
    int south = y == 0 ? ny - 1 : y - 1, north = y == ny - 1 ? 0 : y + 1;
    float f0 = from[y * nx + x], f1 = from[cells + y * nx + west], f2 = from[2 * cells + south * nx + x];
    float f3 = from[3 * cells + y * nx + east], f4 = from[4 * cells + north * nx + x];
    float f5 = from[5 * cells + south * nx + west], f6 = from[6 * cells + south * nx + east];
    float f7 = from[7 * cells + north * nx + east], f8 = from[8 * cells + north * nx + west];
    float density = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
    float u = (f1 + f5 + f8 - f3 - f6 - f7) / density, v = (f2 + f5 + f6 - f4 - f7 - f8) / density;
    float still = 1.0f - 1.5f * (u * u + v * v);
    float rest = density * (4.0f / 9.0f), straight = density / 9.0f, across = density / 36.0f;
    float p = u + v, q = v - u;
    int at = y * nx + x;
    to[at] = f0 + omega * (rest * still - f0);
    to[cells + at] = f1 + omega * (straight * (still + 3.0f * u + 4.5f * u * u) - f1);
    to[2 * cells + at] = f2 + omega * (straight * (still + 3.0f * v + 4.5f * v * v) - f2);
    to[3 * cells + at] = f3 + omega * (straight * (still - 3.0f * u + 4.5f * u * u) - f3);
    to[4 * cells + at] = f4 + omega * (straight * (still - 3.0f * v + 4.5f * v * v) - f4);
    to[5 * cells + at] = f5 + omega * (across * (still + 3.0f * p + 4.5f * p * p) - f5);
    to[6 * cells + at] = f6 + omega * (across * (still + 3.0f * q + 4.5f * q * q) - f6);
    to[7 * cells + at] = f7 + omega * (across * (still - 3.0f * p + 4.5f * p * p) - f7);
    to[8 * cells + at] = f8 + omega * (across * (still - 3.0f * q + 4.5f * q * q) - f8);
}
