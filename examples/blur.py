"""A kernel that reads a texture: each pixel becomes the mean of the four that touch its lower right corner."""

import numpy as np

import warpreg

SOURCE = """
extern "C" __global__ void blur(cudaTextureObject_t image, float *out, int width)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = tex2D<float>(image, x + 1.0f, y + 1.0f);
}
"""

image = np.arange(64, dtype=np.float32).reshape(2, 32)
out = np.zeros_like(image)
blur = warpreg.compile(SOURCE)["blur"]
blur[2, 32](warpreg.texture(image, filter="linear", address="clamp"), out, 32)
print(out[0, :3])  # [16.5 17.5 18.5]
