// Sums of absolute differences for motion estimation (H.264): each block of a frame against a reference frame, at all
// 33 x 33 displacements of up to 16 pixels. The first kernel compares blocks of 4 x 4 pixels, one thread block each; a
// thread takes 18 displacements, three neighbours at a time that share their pixels of the reference, which is a
// texture. The other two kernels add them up, two displacements in a word, for the blocks of 8 x 4 to 8 x 8 and those of
// 16 x 8 to 16 x 16. For each size of block the sums of a macroblock's blocks follow each other, then the next
// macroblock's; a block has 1096 places.

#define RANGE 16
#define SIDE (2 * RANGE + 1)
#define POSITIONS (SIDE * SIDE)
#define PLACES 1096
#define A_THREAD 18

// Blocks of a macroblock in the sizes before: 16 x 16, 16 x 8, 8 x 16, 8 x 8, 8 x 4, 4 x 8, then 4 x 4.
#define BEFORE_16_16 0
#define BEFORE_16_8 1
#define BEFORE_8_16 3
#define BEFORE_8_8 5
#define BEFORE_8_4 9
#define BEFORE_4_8 17
#define BEFORE_4_4 25

extern "C" __global__ void sad_4(unsigned short* sads, const unsigned short* frame, int mb_width, int mb_height,
                                 cudaTextureObject_t reference)
{
    extern __shared__ unsigned short block[];

    const int block_x = blockIdx.x;
    const int block_y = blockIdx.y;
    const int width = 16 * mb_width;

    for (int pixel = threadIdx.x; pixel < 16; pixel += blockDim.x)
        block[pixel] = frame[(4 * block_y + pixel / 4) * width + 4 * block_x + pixel % 4];
    __syncthreads();

    const int macroblocks = mb_width * mb_height;
    const int macroblock = (block_y / 4) * mb_width + block_x / 4;
    const int quadrant = (block_y % 4 / 2) * 2 + block_x % 4 / 2;
    const int index = 4 * quadrant + (block_y % 2) * 2 + block_x % 2;
    unsigned short* out = sads + (BEFORE_4_4 * macroblocks + 16 * macroblock + index) * PLACES;

    const int first = threadIdx.x * A_THREAD;
    const int end = min(first + A_THREAD, POSITIONS);
    for (int position = first; position < end; position += 3) {
        const int x = 4 * block_x - RANGE + position % SIDE;
        const int y = 4 * block_y - RANGE + position / SIDE;
        int sad0 = 0, sad1 = 0, sad2 = 0;
#pragma unroll
        for (int row = 0; row < 4; row++) {
            const int pixel0 = tex2D<unsigned short>(reference, x, y + row);
            const int pixel1 = tex2D<unsigned short>(reference, x + 1, y + row);
            const int pixel2 = tex2D<unsigned short>(reference, x + 2, y + row);
            const int pixel3 = tex2D<unsigned short>(reference, x + 3, y + row);
            const int pixel4 = tex2D<unsigned short>(reference, x + 4, y + row);
            const int pixel5 = tex2D<unsigned short>(reference, x + 5, y + row);
            const int here0 = block[4 * row];
            const int here1 = block[4 * row + 1];
            const int here2 = block[4 * row + 2];
            const int here3 = block[4 * row + 3];
            sad0 += abs(pixel0 - here0) + abs(pixel1 - here1) + abs(pixel2 - here2) + abs(pixel3 - here3);
            sad1 += abs(pixel1 - here0) + abs(pixel2 - here1) + abs(pixel3 - here2) + abs(pixel4 - here3);
            sad2 += abs(pixel2 - here0) + abs(pixel3 - here1) + abs(pixel4 - here2) + abs(pixel5 - here3);
        }
        out[position] = sad0;
        out[position + 1] = sad1;
        out[position + 2] = sad2;
    }
}

extern "C" __global__ void larger_sad_8(unsigned short* sads, int mb_width, int mb_height)
{
    const int macroblocks = mb_width * mb_height;
    const int macroblock = blockIdx.y * mb_width + blockIdx.x;
    const int quadrant = threadIdx.y;
    unsigned* words = (unsigned*)sads;

    const unsigned* from = words + threadIdx.x + (BEFORE_4_4 * macroblocks + 16 * macroblock + 4 * quadrant) * (PLACES / 2);
    unsigned* to_8_8 = words + threadIdx.x + (BEFORE_8_8 * macroblocks + 4 * macroblock + quadrant) * (PLACES / 2);
    unsigned* to_8_4 = words + threadIdx.x + (BEFORE_8_4 * macroblocks + 8 * macroblock + 2 * quadrant) * (PLACES / 2);
    unsigned* to_4_8 = words + threadIdx.x + (BEFORE_4_8 * macroblocks + 8 * macroblock + 2 * quadrant) * (PLACES / 2);

    for (int pair = threadIdx.x; pair < PLACES / 2; pair += 32) {
        const unsigned sad00 = from[0];
        const unsigned sad01 = from[PLACES / 2];
        const unsigned sad10 = from[2 * (PLACES / 2)];
        const unsigned sad11 = from[3 * (PLACES / 2)];
        to_8_4[0] = sad00 + sad01;
        to_8_4[PLACES / 2] = sad10 + sad11;
        to_4_8[0] = sad00 + sad10;
        to_4_8[PLACES / 2] = sad01 + sad11;
        to_8_8[0] = (sad00 + sad01) + (sad10 + sad11);
        from += 32;
        to_8_4 += 32;
        to_4_8 += 32;
        to_8_8 += 32;
    }
}

extern "C" __global__ void larger_sad_16(unsigned short* sads, int mb_width, int mb_height)
{
    const int macroblocks = mb_width * mb_height;
    const int macroblock = blockIdx.y * mb_width + blockIdx.x;
    unsigned* words = (unsigned*)sads;

    const unsigned* from = words + threadIdx.x + (BEFORE_8_8 * macroblocks + 4 * macroblock) * (PLACES / 2);
    unsigned* to_16_16 = words + threadIdx.x + (BEFORE_16_16 * macroblocks + macroblock) * (PLACES / 2);
    unsigned* to_16_8 = words + threadIdx.x + (BEFORE_16_8 * macroblocks + 2 * macroblock) * (PLACES / 2);
    unsigned* to_8_16 = words + threadIdx.x + (BEFORE_8_16 * macroblocks + 2 * macroblock) * (PLACES / 2);

    for (int pair = threadIdx.x; pair < PLACES / 2; pair += 32) {
        const unsigned sad00 = from[0];
        const unsigned sad01 = from[PLACES / 2];
        const unsigned sad10 = from[2 * (PLACES / 2)];
        const unsigned sad11 = from[3 * (PLACES / 2)];
        to_16_8[0] = sad00 + sad01;
        to_16_8[PLACES / 2] = sad10 + sad11;
        to_8_16[0] = sad00 + sad10;
        to_8_16[PLACES / 2] = sad01 + sad11;
        to_16_16[0] = (sad00 + sad01) + (sad10 + sad11);
        from += 32;
        to_16_8 += 32;
        to_8_16 += 32;
        to_16_16 += 32;
    }
}
