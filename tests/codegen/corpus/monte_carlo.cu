// The area of a quarter circle by random points: xorshift numbers, one count a thread, summed over a warp.
extern "C" __global__ void monte_carlo(unsigned long long *hits, unsigned seed, int trials) {
    unsigned x = seed ^ (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    unsigned y = x * 1664525u + 1013904223u;
    int inside = 0;
    for (int i = 0; i < trials; ++i) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        y = y * 1664525u + 1013904223u;
        float a = (x >> 8) * (1.0f / 16777216.0f), b = (y >> 8) * (1.0f / 16777216.0f);
        if (a * a + b * b <= 1.0f) ++inside;
    }
    for (int step = 16; step > 0; step /= 2) inside += __shfl_xor_sync(0xffffffffu, inside, step);
    if ((threadIdx.x & 31) == 0) atomicAdd(hits, (unsigned long long)inside);
}
