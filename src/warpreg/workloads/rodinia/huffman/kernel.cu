// Huffman coding of bytes: their histogram, from which the host makes a code; the words of 1024 bytes put one after
// the other by a block; the prefix sum of the blocks' lengths; and the packing of all blocks into one stream of bits.

#define SYMBOLS 256
#define LOG_BANKS 4
#define SPREAD(index) ((index) >> LOG_BANKS)

extern "C" __global__ void
histogram(unsigned char* data, long long size, unsigned* counts)
{
    __shared__ unsigned partial[SYMBOLS];
    partial[threadIdx.x] = 0;
    __syncthreads();

    int i = threadIdx.x + blockIdx.x * blockDim.x;
    const int step = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&partial[data[i]], 1u);
        i += step;
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], partial[threadIdx.x]);
}

// A block of 256 threads encodes 256 words of four bytes, the most significant byte first. The words of four bytes have
// 64 bits at most, those of a block 8192. `bits` gets the block's length.
extern "C" __global__ void
encode(const unsigned* data, const unsigned* code_words, const unsigned* code_lengths, unsigned* out, unsigned* bits)
{
    extern __shared__ unsigned shared[];
    __shared__ unsigned last_word;
    const unsigned k = threadIdx.x;
    const unsigned word = blockIdx.x * blockDim.x + k;

    unsigned* words = shared;
    unsigned* lengths = shared + SYMBOLS;
    unsigned* stream = shared + 2 * SYMBOLS;

    words[k] = code_words[k];
    lengths[k] = code_lengths[k];
    const unsigned four = data[word];
    __syncthreads();

    unsigned long long code = 0;
    unsigned length = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned char symbol = (unsigned char)(four >> ((3 - i) * 8));
        code = (code << lengths[symbol]) | words[symbol];
        length += lengths[symbol];
    }
    stream[k] = length;
    __syncthreads();

    // Exclusive prefix sum of the lengths, up and down a tree.
    unsigned offset = 1;
    for (unsigned d = blockDim.x >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (k < d) {
            const unsigned left = offset * (2 * k + 1) - 1;
            const unsigned right = offset * (2 * k + 2) - 1;
            stream[right] += stream[left];
        }
        offset *= 2;
    }
    if (k == 0)
        stream[blockDim.x - 1] = 0;
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (k < d) {
            const unsigned left = offset * (2 * k + 1) - 1;
            const unsigned right = offset * (2 * k + 2) - 1;
            const unsigned sum = stream[left];
            stream[left] = stream[right];
            stream[right] += sum;
        }
    }
    __syncthreads();

    if (k == blockDim.x - 1) {
        bits[blockIdx.x] = stream[k] + length;
        last_word = (stream[k] + length) / 32;
    }
    const unsigned first = stream[k] / 32;
    const unsigned start = stream[k] % 32;
    stream[k] = 0;
    __syncthreads();

    // A code of up to 64 bits touches up to three words.
    unsigned written = length > 32 - start ? 32 - start : length;
    unsigned part = (unsigned)(code >> (length - written));
    atomicOr(&stream[first], part << (32 - start - written));
    length -= written;
    if (length) {
        written = length > 32 ? 32 : length;
        part = (unsigned)(code >> (length - written)) & (unsigned)((1ull << written) - 1);
        atomicOr(&stream[first + 1], part << (32 - written));
        length -= written;
    }
    if (length) {
        part = (unsigned)(code & ((1ull << length) - 1));
        atomicOr(&stream[first + 2], part << (32 - length));
    }
    __syncthreads();

    if (k <= last_word)
        out[word] = stream[k];
}

// Exclusive sums of 2 * blockDim.x numbers a block, up and down a tree in shared memory with an unused word after
// every 16. RAGGED: `count` numbers in the block. WITH_SUMS: the sum of each block is kept.
template <bool WITH_SUMS, bool RAGGED>
__device__ __forceinline__ void scan_block(unsigned* out, const unsigned* in, unsigned* sums, int count, int block,
                                           int base)
{
    extern __shared__ unsigned data[];
    const int thread = threadIdx.x;
    const int from = (base == 0 ? blockIdx.x * (blockDim.x << 1) : base) + thread;
    const int left = thread;
    const int right = thread + blockDim.x;

    data[left + SPREAD(left)] = in[from];
    if (RAGGED)
        data[right + SPREAD(right)] = right < count ? in[from + blockDim.x] : 0;
    else
        data[right + SPREAD(right)] = in[from + blockDim.x];

    unsigned stride = 1;
    for (int d = blockDim.x; d > 0; d >>= 1) {
        __syncthreads();
        if (thread < d) {
            const int a = 2 * stride * thread + stride - 1;
            const int b = a + stride;
            data[b + SPREAD(b)] += data[a + SPREAD(a)];
        }
        stride *= 2;
    }
    if (thread == 0) {
        int last = (blockDim.x << 1) - 1;
        last += SPREAD(last);
        if (WITH_SUMS)
            sums[block == 0 ? blockIdx.x : block] = data[last];
        data[last] = 0;
    }
    for (int d = 1; d <= blockDim.x; d *= 2) {
        stride >>= 1;
        __syncthreads();
        if (thread < d) {
            const int a = 2 * stride * thread + stride - 1;
            const int b = a + stride;
            const unsigned sum = data[a + SPREAD(a)];
            data[a + SPREAD(a)] = data[b + SPREAD(b)];
            data[b + SPREAD(b)] += sum;
        }
    }
    __syncthreads();

    out[from] = data[left + SPREAD(left)];
    if (RAGGED) {
        if (right < count)
            out[from + blockDim.x] = data[right + SPREAD(right)];
    } else {
        out[from + blockDim.x] = data[right + SPREAD(right)];
    }
}

extern "C" __global__ void
prescan(unsigned* out, const unsigned* in, unsigned* sums, int count, int block, int base)
{
    scan_block<false, false>(out, in, sums, count, block, base);
}

extern "C" __global__ void
prescan_ragged(unsigned* out, const unsigned* in, unsigned* sums, int count, int block, int base)
{
    scan_block<false, true>(out, in, sums, count, block, base);
}

extern "C" __global__ void
prescan_with_sums(unsigned* out, const unsigned* in, unsigned* sums, int count, int block, int base)
{
    scan_block<true, false>(out, in, sums, count, block, base);
}

extern "C" __global__ void
prescan_ragged_with_sums(unsigned* out, const unsigned* in, unsigned* sums, int count, int block, int base)
{
    scan_block<true, true>(out, in, sums, count, block, base);
}

extern "C" __global__ void
uniform_add(unsigned* data, unsigned* uniforms, int count, int block, int base)
{
    __shared__ unsigned uniform;
    if (threadIdx.x == 0)
        uniform = uniforms[blockIdx.x + block];
    const unsigned at = blockIdx.x * (blockDim.x << 1) + base + threadIdx.x;
    __syncthreads();
    data[at] += uniform;
    data[at + blockDim.x] += (threadIdx.x + blockDim.x < count) * uniform;
}

// One thread a block of `block_words` words in `from`, of which `bits` bits count: they go to bit `starts` of `to`.
extern "C" __global__ void
pack(unsigned* from, unsigned* bits, unsigned* starts, unsigned* to, unsigned block_words, int blocks)
{
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks)
        return;
    const unsigned start = starts[block];
    const unsigned length = bits[block];
    unsigned in = block * block_words;
    unsigned out = start / 32;
    const unsigned shift = start % 32;
    const unsigned words = (length + 31) / 32;
    const unsigned last = (start + length - 1) / 32;

    unsigned carried = from[in];
    if (out == last) {
        atomicOr(&to[out], carried >> shift);
        return;
    }
    if (shift == 0) {
#pragma unroll 1
        for (unsigned i = 0; i < words - 1; i++)
            to[out + i] = from[in + i];
        atomicOr(&to[last], from[in + words - 1]);
        return;
    }
    atomicOr(&to[out], carried >> shift);
#pragma unroll 1
    for (out++, in++; out < last; out++, in++) {
        const unsigned next = from[in];
        to[out] = (carried << (32 - shift)) | (next >> shift);
        carried = next;
    }
    unsigned tail = carried << (32 - shift);
    if (in < block * block_words + words)
        tail |= from[in] >> shift;
    atomicOr(&to[last], tail);
}
