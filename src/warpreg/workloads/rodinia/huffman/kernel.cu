// Bytes encoded with a Huffman code into one stream of bits. Words hold four symbols, the first one on top.
//
// count_bytes: a symbol has a shared counter for each of the four bytes of a word that it may be in.
// encode: a thread joins the code words of a word's symbols in 64 bits, finds its place by a prefix sum within warps and
// over them, and ors its bits into a piece of the stream; a piece is shorter than its symbols, a code word 16 bits.
// scan_chunks, lift_chunks: where pieces start, chunk by chunk; all but the first chunk are lifted by those before.
// pack: a warp shifts a piece into its place in the stream, a word a lane; only its end words are shared with others.

constexpr int SYMBOLS = 256;
constexpr int WORDS = 256;  // of a block's symbols, and the most of its piece
constexpr int WARP = 32;
constexpr unsigned int ALL_LANES = 0xffffffff;

using Word = unsigned int;

extern "C" __global__ void __launch_bounds__(SYMBOLS)
count_bytes(const Word* __restrict__ words, int count, Word* __restrict__ counts)
{
    __shared__ Word tally[4][SYMBOLS];

    const int thread = threadIdx.x;
#pragma unroll
    for (int byte = 0; byte < 4; ++byte)
        tally[byte][thread] = 0;
    __syncthreads();

    for (int at = blockIdx.x * SYMBOLS + thread; at < count; at += gridDim.x * SYMBOLS) {
        Word four = words[at];
#pragma unroll
        for (int byte = 0; byte < 4; ++byte, four >>= 8)
            atomicAdd(&tally[byte][four % SYMBOLS], 1u);
    }
    __syncthreads();

    const Word found = tally[0][thread] + tally[1][thread] + tally[2][thread] + tally[3][thread];
    if (found > 0)
        atomicAdd(counts + thread, found);
}

// The sum of `mine` over this thread and those before it in its block; the block's warps are full.
__device__ __forceinline__ Word sum_up_to_here(Word mine)
{
    __shared__ Word warp_sums[WARP];

    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    Word sum = mine;
#pragma unroll
    for (int reach = 1; reach < WARP; reach *= 2) {
        const Word before = __shfl_up_sync(ALL_LANES, sum, reach);
        sum += lane >= reach ? before : 0;
    }
    if (lane == WARP - 1)
        warp_sums[warp] = sum;
    __syncthreads();
    for (int earlier = 0; earlier < warp; ++earlier)
        sum += warp_sums[earlier];
    return sum;
}

extern "C" __global__ void __launch_bounds__(WORDS)
encode(const Word* __restrict__ words, const uint2* __restrict__ code, Word* __restrict__ pieces,
       Word* __restrict__ piece_bits)
{
    __shared__ uint2 code_words[SYMBOLS];  // bits, and how many
    __shared__ Word piece[WORDS];

    const int thread = threadIdx.x, place = blockIdx.x * WORDS + thread;
    code_words[thread] = code[thread];
    piece[thread] = 0;
    __syncthreads();

    const Word four = words[place];
    unsigned long long joined = 0;
    Word bits = 0;
#pragma unroll
    for (int shift = 24; shift >= 0; shift -= 8) {
        const uint2 next = code_words[four >> shift & 0xff];
        joined = joined << next.y | next.x;
        bits += next.y;
    }

    const Word end = sum_up_to_here(bits), start = end - bits;
    if (thread == WORDS - 1)
        piece_bits[blockIdx.x] = end;

    // With the first bit on top, the bits lie in up to three words.
    joined <<= 64 - bits;
    const Word top = joined >> 32, bottom = static_cast<Word>(joined);
    const Word offset = start % 32;
    Word* at = piece + start / 32;
    atomicOr(at, top >> offset);
    if (offset + bits > 32)
        atomicOr(at + 1, __funnelshift_r(bottom, top, offset));
    if (offset + bits > 64)
        atomicOr(at + 2, __funnelshift_r(0, bottom, offset));
    __syncthreads();
    pieces[place] = piece[thread];
}

extern "C" __global__ void
scan_chunks(const Word* __restrict__ numbers, int count, Word* __restrict__ before, Word* __restrict__ chunk_sums)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const Word mine = at < count ? numbers[at] : 0;
    const Word sum = sum_up_to_here(mine);
    if (at < count)
        before[at] = sum - mine;
    if (threadIdx.x == blockDim.x - 1)
        chunk_sums[blockIdx.x] = sum;
}

extern "C" __global__ void
lift_chunks(const Word* __restrict__ chunk_starts, int count, Word* __restrict__ before)
{
    const int chunk = 1 + blockIdx.x;
    const int at = chunk * blockDim.x + threadIdx.x;
    if (at < count)
        before[at] += chunk_starts[chunk];
}

extern "C" __global__ void __launch_bounds__(4 * WARP)
pack(const Word* __restrict__ pieces, const Word* __restrict__ piece_bits, const Word* __restrict__ starts, int count,
     Word* __restrict__ stream)
{
    const int number = blockIdx.x * 4 + threadIdx.x / WARP;
    if (number >= count)
        return;

    const Word* piece = pieces + number * WORDS;
    const Word start = starts[number], end = start + piece_bits[number];
    const Word first = start / 32, last = (end - 1) / 32, offset = start % 32;
    for (Word at = first + threadIdx.x % WARP; at <= last; at += WARP) {
        const Word source = at - first;
        const Word before = source > 0 ? piece[source - 1] : 0;
        const Word here = source < WORDS ? piece[source] : 0;
        const Word shifted = __funnelshift_r(here, before, offset);
        if (at == first || at == last)
            atomicOr(stream + at, shifted);
        else
            stream[at] = shifted;
    }
}
