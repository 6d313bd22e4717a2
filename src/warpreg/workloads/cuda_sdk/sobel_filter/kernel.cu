// The Sobel operator on a grey image, twice: with nine texture fetches a pixel, and from a tile in shared memory that a
// block fetches with a halo of one pixel, each thread then computing four pixels and storing them as one word.
// Also the sample's copy of an image through a texture. Beyond the image its outermost pixels are repeated.

#define RADIUS 1
#define WHITE 255

__device__ unsigned char sobel(unsigned char ul, unsigned char um, unsigned char ur, unsigned char ml, unsigned char mr,
                               unsigned char ll, unsigned char lm, unsigned char lr, float scale)
{
    const short horizontal = ur + 2 * mr + lr - ul - 2 * ml - ll;
    const short vertical = ul + 2 * um + ur - ll - 2 * lm - lr;
    const short sum = scale * (abs((int)horizontal) + abs((int)vertical));
    return sum < 0 ? 0 : sum > WHITE ? WHITE : sum;
}

// Blocks of 16 x 4 threads compute 4 * tile_width x 4 pixels. A thread fetches every 16th pixel of its row of the tile,
// then computes every 16th group of four.
extern "C" __global__ void sobel_shared(uchar4* out, unsigned short pitch, short tile_width, short shared_pitch,
                                        short width, short height, float scale, cudaTextureObject_t image)
{
    extern __shared__ unsigned char tile[];

    const short u = 4 * blockIdx.x * tile_width;
    const short v = blockIdx.y * blockDim.y + threadIdx.y;
    const short row = threadIdx.y * shared_pitch;

    short i;
    for (i = threadIdx.x; i < 4 * tile_width + 2 * RADIUS; i += blockDim.x)
        tile[row + i] = tex2D<unsigned char>(image, u + i - RADIUS, v - RADIUS);
    if (threadIdx.y < 2 * RADIUS)
        for (i = threadIdx.x; i < 4 * tile_width + 2 * RADIUS; i += blockDim.x)
            tile[row + blockDim.y * shared_pitch + i] =
                tex2D<unsigned char>(image, u + i - RADIUS, v + blockDim.y - RADIUS);
    __syncthreads();

    const unsigned char* upper = tile + row;
    for (i = threadIdx.x; i < tile_width && u / 4 + i < width / 4 && v < height; i += blockDim.x) {
        const unsigned char* above = upper + 4 * i;
        const unsigned char* here = above + shared_pitch;
        const unsigned char* below = here + shared_pitch;
        unsigned char p00 = above[0], p01 = above[1], p02 = above[2];
        unsigned char p10 = here[0], p11 = here[1], p12 = here[2];
        unsigned char p20 = below[0], p21 = below[1], p22 = below[2];
        uchar4 result;
        result.x = sobel(p00, p01, p02, p10, p12, p20, p21, p22, scale);
        p00 = above[3], p10 = here[3], p20 = below[3];
        result.y = sobel(p01, p02, p00, p11, p10, p21, p22, p20, scale);
        p01 = above[4], p11 = here[4], p21 = below[4];
        result.z = sobel(p02, p00, p01, p12, p11, p22, p20, p21, scale);
        p02 = above[5], p12 = here[5], p22 = below[5];
        result.w = sobel(p00, p01, p02, p10, p12, p20, p21, p22, scale);
        out[v * (pitch / 4) + u / 4 + i] = result;
    }
}

// One block a row.
extern "C" __global__ void copy_image(unsigned char* out, unsigned int pitch, int width, float scale,
                                      cudaTextureObject_t image)
{
    unsigned char* row = out + blockIdx.x * pitch;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        row[i] = min(max(tex2D<unsigned char>(image, i, blockIdx.x) * scale, 0.0f), (float)WHITE);
}

extern "C" __global__ void sobel_texture(unsigned char* out, unsigned int pitch, int width, float scale,
                                         cudaTextureObject_t image)
{
    unsigned char* row = out + blockIdx.x * pitch;
    const float y = blockIdx.x;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        const unsigned char p00 = tex2D<unsigned char>(image, i - 1.0f, y - 1.0f);
        const unsigned char p01 = tex2D<unsigned char>(image, i + 0.0f, y - 1.0f);
        const unsigned char p02 = tex2D<unsigned char>(image, i + 1.0f, y - 1.0f);
        const unsigned char p10 = tex2D<unsigned char>(image, i - 1.0f, y);
        const unsigned char p12 = tex2D<unsigned char>(image, i + 1.0f, y);
        const unsigned char p20 = tex2D<unsigned char>(image, i - 1.0f, y + 1.0f);
        const unsigned char p21 = tex2D<unsigned char>(image, i + 0.0f, y + 1.0f);
        const unsigned char p22 = tex2D<unsigned char>(image, i + 1.0f, y + 1.0f);
        row[i] = sobel(p00, p01, p02, p10, p12, p20, p21, p22, scale);
    }
}
