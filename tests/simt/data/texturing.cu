// Kernels of our own that reach textures and surfaces through CUDA's functions.

extern "C" __global__ void lines(cudaTextureObject_t linear, cudaTextureObject_t array, float *out)
{
    int i = threadIdx.x;
    out[i] = tex1Dfetch<float>(linear, i) + 100.0f * tex1D<float>(array, i + 0.5f);
}

extern "C" __global__ void pixels(cudaTextureObject_t bytes, cudaTextureObject_t smooth, float *out, int width)
{
    int x = threadIdx.x, y = blockIdx.x, i = y * width + x;
    uchar4 pixel = tex2D<uchar4>(bytes, x, y);
    out[2 * i] = pixel.x + 2.0f * pixel.y + 4.0f * pixel.z + 8.0f * pixel.w;
    out[2 * i + 1] = tex2D<float>(smooth, (x + 1.0f) / width, (y + 1.0f) / gridDim.x);
}

extern "C" __global__ void volumes(cudaTextureObject_t volume, cudaTextureObject_t layers, cudaTextureObject_t cube, float *out)
{
    int i = threadIdx.x;
    out[3 * i] = tex3D<float>(volume, i & 1, (i >> 1) & 1, i >> 2);
    out[3 * i + 1] = tex2DLayered<float>(layers, i & 1, (i >> 1) & 1, i >> 2);
    float side = i & 1 ? -1.0f : 1.0f;
    out[3 * i + 2] = texCubemap<float>(cube, i / 2 == 0 ? side : 0, i / 2 == 1 ? side : 0, i / 2 >= 2 ? side : 0);
}

extern "C" __global__ void gathers(cudaTextureObject_t image, float4 *out)
{
    out[threadIdx.x] = tex2Dgather<float4>(image, threadIdx.x + 1.0f, 1.0f, 0);
}

// A box filter over a surface, shared memory between reads and writes; wider than it needs to be at no edge.
extern "C" __global__ void box(cudaTextureObject_t in, cudaSurfaceObject_t out)
{
    __shared__ float tile[10][10];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int v = threadIdx.y; v < 10; v += 8)
        for (int u = threadIdx.x; u < 10; u += 8)
            tile[v][u] = tex2D<float>(in, blockIdx.x * 8 + u - 1 + 0.5f, blockIdx.y * 8 + v - 1 + 0.5f);
    __syncthreads();
    float sum = 0;
    for (int v = 0; v < 3; v++)
        for (int u = 0; u < 3; u++)
            sum += tile[threadIdx.y + v][threadIdx.x + u];
    surf2Dwrite(sum, out, x * 4, y, cudaBoundaryModeZero);
}

extern "C" __global__ void surfaces(cudaSurfaceObject_t flat, cudaSurfaceObject_t volume)
{
    int x = threadIdx.x, y = blockIdx.x;
    short2 found = surf2Dread<short2>(flat, (x - 1) * 4, y, cudaBoundaryModeClamp);
    found.x += 1;
    surf3Dwrite(found, volume, x * 4, y, 1);
    int4 four = make_int4(x, y, x + y, x - y);
    surf3Dwrite(four, volume, 16 * (x / 4), y, 0);
}

extern "C" __global__ void levels(cudaTextureObject_t image, float *out)
{
    float2 gradient = make_float2(0.5f, 0.25f);
    out[2 * threadIdx.x] = tex2DLod<float>(image, threadIdx.x, 1.0f, 3.0f);
    out[2 * threadIdx.x + 1] = tex2DGrad<float>(image, threadIdx.x, 0.0f, gradient, gradient);
}
