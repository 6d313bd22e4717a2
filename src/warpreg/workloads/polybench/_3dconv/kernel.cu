// A 3 x 3 x 3 convolution with fifteen constant weights, one thread per voxel of plane `i`, one launch per plane.
// The rim of the output is left alone.

extern "C" __global__ void __launch_bounds__(256)
convolution_3d(int ni, int nj, int nk, float* a, float* b, int i)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;

    const float c11 = +2, c21 = +5, c31 = -8;
    const float c12 = -3, c22 = +6, c32 = -9;
    const float c13 = +4, c23 = +7, c33 = +10;

    if (i < ni - 1 && j < nj - 1 && k < nk - 1 && i > 0 && j > 0 && k > 0) {
        const int here = i * (nk * nj) + j * nk + k;
        const int above = (i - 1) * (nk * nj) + j * nk + k;
        const int below = (i + 1) * (nk * nj) + j * nk + k;
        b[here] = c11 * a[above - nk - 1] + c13 * a[below - nk - 1] + c21 * a[above - nk] + c23 * a[below - nk] +
                  c31 * a[above - nk + 1] + c33 * a[below - nk + 1] + c12 * a[here - 1] + c22 * a[here] +
                  c32 * a[here + 1] + c11 * a[above + nk - 1] + c13 * a[below + nk - 1] + c21 * a[above + nk] +
                  c23 * a[below + nk] + c31 * a[above + nk + 1] + c33 * a[below + nk + 1];
    }
}
