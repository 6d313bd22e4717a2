// Encryption and decryption by AES with keys of 128 and 256 bits, blocks of data one by one (ECB).
// A thread owns a word of the data, a column of an AES block; a thread block of 256 has 64 of them. It copies the four
// tables, which join S-box and mixing of columns, from constant to shared memory. In a round a thread takes a byte of
// each column of its block from one half of the stage, looks them up, and stores its new column to the other half.
// Round keys come from a texture.

#define BLOCK 256

__constant__ unsigned encrypt_tables[4][BLOCK];
__constant__ unsigned decrypt_tables[4][BLOCK];
__constant__ unsigned inverse_sbox[BLOCK];
__constant__ unsigned encrypt_columns[16];
__constant__ unsigned decrypt_columns[16];

__device__ __forceinline__ unsigned byte_of(unsigned word, int place)
{
    return (word >> (8 * place)) & 0xff;
}

template <int ROUNDS>
__device__ __forceinline__ void encrypt(unsigned* result, const unsigned* data, cudaTextureObject_t keys, int words)
{
    __shared__ unsigned stage[2][BLOCK];
    __shared__ unsigned tables[4][BLOCK];

    const unsigned thread = threadIdx.x;
    const unsigned column = thread & 3;
    const unsigned first = thread & ~3u;
    const int word = blockIdx.x * BLOCK + thread;

    for (int i = 0; i < 4; i++)
        tables[i][thread] = encrypt_tables[i][thread];
    const unsigned from0 = first + encrypt_columns[4 * column];
    const unsigned from1 = first + encrypt_columns[4 * column + 1];
    const unsigned from2 = first + encrypt_columns[4 * column + 2];
    const unsigned from3 = first + encrypt_columns[4 * column + 3];

    stage[0][thread] = (word < words ? data[word] : 0) ^ tex1Dfetch<unsigned>(keys, column);
    __syncthreads();

#pragma unroll
    for (int round = 1; round < ROUNDS; round++) {
        const unsigned* before = stage[(round - 1) & 1];
        stage[round & 1][thread] = tables[0][byte_of(before[from0], 0)] ^ tables[1][byte_of(before[from1], 1)]
                                   ^ tables[2][byte_of(before[from2], 2)] ^ tables[3][byte_of(before[from3], 3)]
                                   ^ tex1Dfetch<unsigned>(keys, 4 * round + column);
        __syncthreads();
    }

    // The last round does not mix: the S-box alone is the second byte of the first table.
    const unsigned* before = stage[(ROUNDS - 1) & 1];
    const unsigned substituted = byte_of(tables[0][byte_of(before[from0], 0)], 1)
                                 | byte_of(tables[0][byte_of(before[from1], 1)], 1) << 8
                                 | byte_of(tables[0][byte_of(before[from2], 2)], 1) << 16
                                 | byte_of(tables[0][byte_of(before[from3], 3)], 1) << 24;
    if (word < words)
        result[word] = substituted ^ tex1Dfetch<unsigned>(keys, 4 * ROUNDS + column);
}

template <int ROUNDS>
__device__ __forceinline__ void decrypt(unsigned* result, const unsigned* data, cudaTextureObject_t keys, int words)
{
    __shared__ unsigned stage[2][BLOCK];
    __shared__ unsigned tables[4][BLOCK];
    __shared__ unsigned sbox[BLOCK];

    const unsigned thread = threadIdx.x;
    const unsigned column = thread & 3;
    const unsigned first = thread & ~3u;
    const int word = blockIdx.x * BLOCK + thread;

    for (int i = 0; i < 4; i++)
        tables[i][thread] = decrypt_tables[i][thread];
    sbox[thread] = inverse_sbox[thread];
    const unsigned from0 = first + decrypt_columns[4 * column];
    const unsigned from1 = first + decrypt_columns[4 * column + 1];
    const unsigned from2 = first + decrypt_columns[4 * column + 2];
    const unsigned from3 = first + decrypt_columns[4 * column + 3];

    stage[0][thread] = (word < words ? data[word] : 0) ^ tex1Dfetch<unsigned>(keys, column);
    __syncthreads();

#pragma unroll
    for (int round = 1; round < ROUNDS; round++) {
        const unsigned* before = stage[(round - 1) & 1];
        stage[round & 1][thread] = tables[0][byte_of(before[from0], 0)] ^ tables[1][byte_of(before[from1], 1)]
                                   ^ tables[2][byte_of(before[from2], 2)] ^ tables[3][byte_of(before[from3], 3)]
                                   ^ tex1Dfetch<unsigned>(keys, 4 * round + column);
        __syncthreads();
    }

    const unsigned* before = stage[(ROUNDS - 1) & 1];
    const unsigned substituted = sbox[byte_of(before[from0], 0)] | sbox[byte_of(before[from1], 1)] << 8
                                 | sbox[byte_of(before[from2], 2)] << 16 | sbox[byte_of(before[from3], 3)] << 24;
    if (word < words)
        result[word] = substituted ^ tex1Dfetch<unsigned>(keys, 4 * ROUNDS + column);
}

extern "C" __global__ void encrypt_128(unsigned* result, const unsigned* data, cudaTextureObject_t keys, int words)
{
    encrypt<10>(result, data, keys, words);
}

extern "C" __global__ void decrypt_128(unsigned* result, const unsigned* data, cudaTextureObject_t keys, int words)
{
    decrypt<10>(result, data, keys, words);
}

extern "C" __global__ void encrypt_256(unsigned* result, const unsigned* data, cudaTextureObject_t keys, int words)
{
    encrypt<14>(result, data, keys, words);
}

extern "C" __global__ void decrypt_256(unsigned* result, const unsigned* data, cudaTextureObject_t keys, int words)
{
    decrypt<14>(result, data, keys, words);
}
