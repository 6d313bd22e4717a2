// A four-dimensional tensor with its axes exchanged: quotients by sizes and by constants.
extern "C" __global__ void permute(const float *in, float *out, int n, int h, int w) {
    int total = n * h * w * 12;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        int c = i % 12, rest = i / 12;
        int x = rest % w;
        rest /= w;
        int y = rest % h, b = rest / h;
        int group = c / 3, part = c % 3;
        out[(((b * 3 + part) * 4 + group) * h + y) * w + x] = in[i];
    }
}
