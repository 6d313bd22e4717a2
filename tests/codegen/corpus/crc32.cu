// Check sums of records, four bits at a time with a table in constant memory.
__constant__ unsigned steps[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                   0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                   0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

extern "C" __global__ void crc32(const unsigned char *data, unsigned *sums, int records, int bytes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= records) return;
    const unsigned char *record = data + (size_t)i * bytes;
    unsigned crc = ~0u;
    for (int j = 0; j < bytes; ++j) {
        crc ^= record[j];
        crc = crc >> 4 ^ steps[crc & 15];
        crc = crc >> 4 ^ steps[crc & 15];
    }
    sums[i] = ~crc;
}
