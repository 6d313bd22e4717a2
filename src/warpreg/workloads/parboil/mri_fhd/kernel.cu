// F^H d at all voxels x: the sum over samples k of conj(phi(k)) d(k) exp(2 pi i k.x).
//
// Complex numbers lie interleaved. A thread owns a voxel, scales its coordinates by 2 pi once, sums the samples of a
// launch from zero and then adds them to what the launches before left. Samples stand in two tables, places and
// weights; the loop over them is unrolled six times.

constexpr int SAMPLES = 512;
constexpr float TURN = 6.28318530718f;

__constant__ float3 places[SAMPLES];
__constant__ float2 weights[SAMPLES];

// conj(a) b
__device__ float2 conjugate_product(float2 a, float2 b) { return {a.x * b.x + a.y * b.y, a.x * b.y - a.y * b.x}; }

extern "C" __global__ void rho_phi(float2 *rho, const float2 *phi, const float2 *d, int samples) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < samples)
        rho[k] = conjugate_product(phi[k], d[k]);
}

extern "C" __global__ void compute_fh(int samples, const float *x, const float *y, const float *z, float2 *fh) {
    int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    float3 turns = {TURN * x[voxel], TURN * y[voxel], TURN * z[voxel]};

    float2 sum = {};
#pragma unroll 6
    for (int k = 0; k < samples; ++k) {
        float phase = turns.x * places[k].x + turns.y * places[k].y + turns.z * places[k].z;
        float cosine = cosf(phase), sine = sinf(phase);
        sum.x += weights[k].x * cosine - weights[k].y * sine;
        sum.y += weights[k].x * sine + weights[k].y * cosine;
    }

    fh[voxel].x += sum.x;
    fh[voxel].y += sum.y;
}
