// A digest in the manner of MD5: 32 unrolled rounds of additions, rotations and selections of bits.
__device__ __forceinline__ unsigned turn(unsigned x, int n) { return (x << n) | (x >> (32 - n)); }

#define CHOOSE(x, y, z) (((x) & (y)) | (~(x) & (z)))
#define MIX(x, y, z) ((y) ^ ((x) | ~(z)))
#define STEP(f, a, b, c, d, m, s, k) a = b + turn(a + f(b, c, d) + (m) + (k), s)
#define FOUR(f, i, k)                          \
    STEP(f, a, b, c, d, w[(i) & 7], 7, k);     \
    STEP(f, d, a, b, c, w[(i + 3) & 7], 12, k + 0x3c6ef372u); \
    STEP(f, c, d, a, b, w[(i + 5) & 7], 17, k + 0x9e3779b9u); \
    STEP(f, b, c, d, a, w[(i + 6) & 7], 22, k + 0x7f4a7c15u);

extern "C" __global__ void mix_hash(const unsigned *text, unsigned *digest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned w[8];
    for (int j = 0; j < 8; ++j) w[j] = text[i * 8 + j];
    unsigned a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
    FOUR(CHOOSE, 0, 0xd76aa478u)
    FOUR(CHOOSE, 4, 0xe8c7b756u)
    FOUR(CHOOSE, 1, 0x242070dbu)
    FOUR(CHOOSE, 5, 0xc1bdceeeu)
    FOUR(MIX, 2, 0xf57c0fafu)
    FOUR(MIX, 6, 0x4787c62au)
    FOUR(MIX, 3, 0xa8304613u)
    FOUR(MIX, 7, 0xfd469501u)
    digest[i * 4] = a;
    digest[i * 4 + 1] = b;
    digest[i * 4 + 2] = c;
    digest[i * 4 + 3] = d;
}
