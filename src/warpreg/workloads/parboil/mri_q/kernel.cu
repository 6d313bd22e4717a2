// Q(x) = sum over samples k of |phi(k)|^2 exp(2 pi i k.x), for all voxels x.
//
// A thread owns a voxel, and scales its coordinates by 2 pi once. Samples come in pairs, the last one padded by the
// host with a sample of magnitude zero; those with even and with odd numbers are summed apart, two independent chains
// that meet when a launch adds its share to Q.

constexpr int PAIRS = 512;
constexpr float TURN = 6.28318530718f;

// A sample's place in k-space, and its magnitude in w.
__constant__ float4 samples[PAIRS][2];

extern "C" __global__ void magnitudes(const float2 *phi, float *magnitude, int count) {
    int sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample < count) {
        float2 value = phi[sample];
        magnitude[sample] = value.x * value.x + value.y * value.y;
    }
}

extern "C" __global__ void compute_q(int pairs, const float *x, const float *y, const float *z, float *real,
                                     float *imaginary) {
    int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    float3 place = {TURN * x[voxel], TURN * y[voxel], TURN * z[voxel]};

    float cosines[2] = {}, sines[2] = {};
    for (int pair = 0; pair < pairs; ++pair)
        for (int odd = 0; odd < 2; ++odd) {
            float4 sample = samples[pair][odd];
            float phase = place.x * sample.x + place.y * sample.y + place.z * sample.z;
            cosines[odd] += sample.w * cosf(phase);
            sines[odd] += sample.w * sinf(phase);
        }

    real[voxel] += cosines[0] + cosines[1];
    imaginary[voxel] += sines[0] + sines[1];
}
