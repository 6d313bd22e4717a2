// Hashes of many pieces of data at once, by MD5 and SHA-1: pieces side by side, or a window that slides over the data
// by any number of bytes. A thread hashes one piece. It copies 128 bytes at a time, padding included, to its part of
// shared memory, whose words lie interleaved so that threads use different banks, and digests them 64 bytes at a time
// with all steps unrolled. A block has as many threads as get 128 bytes each of 16 KB beside a launch's parameters.

#define THREADS 127
#define STAGED 32
#define CHUNK 16

__device__ __forceinline__ unsigned turned(unsigned value, int bits)
{
    return (value << bits) | (value >> (32 - bits));
}

__device__ __forceinline__ unsigned other_end_first(unsigned value)
{
    return __byte_perm(value, 0, 0x0123);
}

// The whole part of 2^32 |sin(step + 1)|, by the sine's series around the nearest multiple of pi.
__device__ constexpr unsigned md5_constant(int step)
{
    const double pi = 3.14159265358979323846;
    const double x = step + 1;
    const double y = x - pi * static_cast<long long>(x / pi + 0.5);
    double term = y, sine = y;
    for (int k = 1; k < 15; k++) {
        term *= -y * y / ((2 * k) * (2 * k + 1));
        sine += term;
    }
    return static_cast<unsigned>(4294967296.0 * (sine < 0 ? -sine : sine));
}

__device__ constexpr int md5_turn(int step)
{
    const int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    return turns[step / 16][step % 4];
}

template <int STEP>
__device__ __forceinline__ void md5_step(unsigned a, unsigned b, unsigned c, unsigned d, const unsigned* words,
                                         unsigned* state)
{
    constexpr int round = STEP / 16;
    constexpr int word = round == 0 ? STEP : (round == 1 ? 5 * STEP + 1 : round == 2 ? 3 * STEP + 5 : 7 * STEP) % 16;
    constexpr unsigned constant = md5_constant(STEP);
    unsigned mixed;
    if constexpr (round == 0)
        mixed = (b & c) | (~b & d);
    else if constexpr (round == 1)
        mixed = (d & b) | (~d & c);
    else if constexpr (round == 2)
        mixed = b ^ c ^ d;
    else
        mixed = c ^ (b | ~d);
    const unsigned sum = b + turned(a + mixed + constant + words[word * THREADS], md5_turn(STEP));
    if constexpr (STEP < 63) {
        md5_step<STEP + 1>(d, sum, b, c, words, state);
    } else {
        state[0] += d;
        state[1] += sum;
        state[2] += b;
        state[3] += c;
    }
}

struct Md5 {
    static constexpr int WORDS = 4;

    __device__ static unsigned from_memory(unsigned word) { return word; }
    __device__ static unsigned padding(unsigned bytes, int word) { return word == CHUNK - 2 ? 8 * bytes : 0; }
    __device__ static unsigned first_padding() { return 0x80; }

    __device__ static void begin(unsigned* state)
    {
        state[0] = 0x67452301;
        state[1] = 0xefcdab89;
        state[2] = 0x98badcfe;
        state[3] = 0x10325476;
    }

    __device__ static __forceinline__ void digest(unsigned* state, const unsigned* words)
    {
        md5_step<0>(state[0], state[1], state[2], state[3], words, state);
    }
};

// Steps keep the last sixteen words of the schedule in registers.
template <int STEP>
__device__ __forceinline__ void sha1_step(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e,
                                          unsigned* schedule, const unsigned* words, unsigned* state)
{
    if constexpr (STEP < 16)
        schedule[STEP] = words[STEP * THREADS];
    else
        schedule[STEP % 16] = turned(schedule[(STEP - 3) % 16] ^ schedule[(STEP - 8) % 16]
                                     ^ schedule[(STEP - 14) % 16] ^ schedule[STEP % 16], 1);
    // The whole parts of 2^30 times the roots of 2, 3, 5 and 10.
    constexpr unsigned constants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    unsigned mixed;
    if constexpr (STEP < 20)
        mixed = (b & c) | (~b & d);
    else if constexpr (STEP >= 40 && STEP < 60)
        mixed = (b & c) | (b & d) | (c & d);
    else
        mixed = b ^ c ^ d;
    const unsigned sum = turned(a, 5) + mixed + e + constants[STEP / 20] + schedule[STEP % 16];
    if constexpr (STEP < 79) {
        sha1_step<STEP + 1>(sum, a, turned(b, 30), c, d, schedule, words, state);
    } else {
        state[0] += sum;
        state[1] += a;
        state[2] += turned(b, 30);
        state[3] += c;
        state[4] += d;
    }
}

struct Sha1 {
    static constexpr int WORDS = 5;

    __device__ static unsigned from_memory(unsigned word) { return other_end_first(word); }
    __device__ static unsigned padding(unsigned bytes, int word) { return word == CHUNK - 1 ? 8 * bytes : 0; }
    __device__ static unsigned first_padding() { return 0x80000000; }

    __device__ static void begin(unsigned* state)
    {
        state[0] = 0x67452301;
        state[1] = 0xefcdab89;
        state[2] = 0x98badcfe;
        state[3] = 0x10325476;
        state[4] = 0xc3d2e1f0;
    }

    __device__ static __forceinline__ void digest(unsigned* state, const unsigned* words)
    {
        unsigned schedule[16];
        sha1_step<0>(state[0], state[1], state[2], state[3], state[4], schedule, words, state);
    }
};

// Hashes `bytes` bytes, a multiple of 64, from `shift` bits behind the start of `data`.
template <typename Hash>
__device__ __forceinline__ void hash(const unsigned* data, int shift, bool shifted, int bytes, unsigned* digests)
{
    __shared__ unsigned staged[STAGED * THREADS];
    unsigned* mine = staged + threadIdx.x;

    unsigned state[Hash::WORDS];
    Hash::begin(state);
    const int words = bytes / 4;

    for (int first = 0; first <= words; first += CHUNK) {
        if (first % STAGED == 0) {
            unsigned here = shifted ? data[first] : 0;
            for (int word = 0; word < STAGED; word++) {
                const int at = first + word;
                unsigned value = Hash::padding(bytes, word % CHUNK);
                if (at < words) {
                    if (shifted) {
                        const unsigned next = data[at + 1];
                        value = Hash::from_memory(__funnelshift_r(here, next, shift));
                        here = next;
                    } else {
                        value = Hash::from_memory(data[at]);
                    }
                } else if (at == words) {
                    value = Hash::first_padding();
                }
                mine[word * THREADS] = value;
            }
        }
        Hash::digest(state, mine + first % STAGED * THREADS);
    }

    for (int word = 0; word < Hash::WORDS; word++)
        digests[word] = Hash::from_memory(state[word]);
}

extern "C" __global__ void md5(const unsigned* data, int pieces, int bytes, unsigned* digests)
{
    const int piece = blockIdx.x * THREADS + threadIdx.x;
    if (piece < pieces)
        hash<Md5>(data + piece * (bytes / 4), 0, false, bytes, digests + piece * Md5::WORDS);
}

extern "C" __global__ void md5_overlap(const unsigned* data, int pieces, int bytes, int step, unsigned* digests)
{
    const int piece = blockIdx.x * THREADS + threadIdx.x;
    const int start = piece * step;
    if (piece < pieces)
        hash<Md5>(data + start / 4, start % 4 * 8, true, bytes, digests + piece * Md5::WORDS);
}

extern "C" __global__ void sha1(const unsigned* data, int pieces, int bytes, unsigned* digests)
{
    const int piece = blockIdx.x * THREADS + threadIdx.x;
    if (piece < pieces)
        hash<Sha1>(data + piece * (bytes / 4), 0, false, bytes, digests + piece * Sha1::WORDS);
}

extern "C" __global__ void sha1_overlap(const unsigned* data, int pieces, int bytes, int step, unsigned* digests)
{
    const int piece = blockIdx.x * THREADS + threadIdx.x;
    const int start = piece * step;
    if (piece < pieces)
        hash<Sha1>(data + start / 4, start % 4 * 8, true, bytes, digests + piece * Sha1::WORDS);
}
