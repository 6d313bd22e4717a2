// Discrete cosine transform of 8 x 8 pixels: eight threads a block of pixels, rows and then columns.
__device__ void dct8(float *v) {
    float s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
    float d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
    float e0 = s0 + s3, e1 = s1 + s2, f0 = s0 - s3, f1 = s1 - s2;
    v[0] = 0.35355339f * (e0 + e1);
    v[4] = 0.35355339f * (e0 - e1);
    v[2] = 0.46193977f * f0 + 0.19134172f * f1;
    v[6] = 0.19134172f * f0 - 0.46193977f * f1;
    v[1] = 0.49039264f * d0 + 0.41573481f * d1 + 0.27778512f * d2 + 0.09754516f * d3;
    v[3] = 0.41573481f * d0 - 0.09754516f * d1 - 0.49039264f * d2 - 0.27778512f * d3;
    v[5] = 0.27778512f * d0 - 0.49039264f * d1 + 0.09754516f * d2 + 0.41573481f * d3;
    v[7] = 0.09754516f * d0 - 0.27778512f * d1 + 0.41573481f * d2 - 0.49039264f * d3;
}

extern "C" __global__ void dct8x8(const unsigned char *pixels, short *coefficients, int pitch) {
    __shared__ float tile[8][8 * 8 + 1];
    int of = threadIdx.x / 8, lane = threadIdx.x & 7;
    int x = (blockIdx.x * 8 + of) * 8, y = blockIdx.y * 8;
    float v[8];
    for (int j = 0; j < 8; ++j) v[j] = (float)pixels[(y + lane) * pitch + x + j] - 128.0f;
    dct8(v);
    for (int j = 0; j < 8; ++j) tile[lane][of * 8 + j] = v[j];
    __syncthreads();
    for (int j = 0; j < 8; ++j) v[j] = tile[j][of * 8 + lane];
    dct8(v);
    for (int j = 0; j < 8; ++j) coefficients[(y + j) * pitch + x + lane] = (short)rintf(v[j]);
}
