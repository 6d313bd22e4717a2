// The vector F^H d of a magnetic resonance image reconstruction: for each voxel the sum over samples in k-space of a
// complex number times a phase factor. First those numbers; then samples come from constant memory, 512 a launch, six
// an iteration after what does not divide.

#define SAMPLES 512
#define UNROLL 6
#define TWO_PI 6.2831853071795864769252867665590058f

struct Sample {
    float x;
    float y;
    float z;
    float real;
    float imaginary;
};

__constant__ Sample samples[SAMPLES];

extern "C" __global__ void
rho_phi(int count, float* phi_r, float* phi_i, float* d_r, float* d_i, float* real, float* imaginary)
{
    const int sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample < count) {
        const float my_phi_r = phi_r[sample];
        const float my_phi_i = phi_i[sample];
        const float my_d_r = d_r[sample];
        const float my_d_i = d_i[sample];
        real[sample] = my_phi_r * my_d_r + my_phi_i * my_d_i;
        imaginary[sample] = my_phi_r * my_d_i - my_phi_i * my_d_r;
    }
}

__device__ inline void add_sample(float& sum_r, float& sum_i, const Sample& sample, float x, float y, float z)
{
    const float phase = TWO_PI * (sample.x * x + sample.y * y + sample.z * z);
    const float cosine = cosf(phase);
    const float sine = sinf(phase);
    sum_r += sample.real * cosine - sample.imaginary * sine;
    sum_i += sample.imaginary * cosine + sample.real * sine;
}

extern "C" __global__ void __launch_bounds__(256)
compute_fh(int count, float* x, float* y, float* z, float* fh_r, float* fh_i)
{
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    const float my_x = x[voxel];
    const float my_y = y[voxel];
    const float my_z = z[voxel];
    float sum_r = fh_r[voxel];
    float sum_i = fh_i[voxel];

    int sample = 0;
    #pragma unroll 1
    for (; sample < count % UNROLL; sample++)
        add_sample(sum_r, sum_i, samples[sample], my_x, my_y, my_z);

    for (; sample < count; sample += UNROLL) {
        #pragma unroll
        for (int next = 0; next < UNROLL; next++)
            add_sample(sum_r, sum_i, samples[sample + next], my_x, my_y, my_z);
    }

    fh_r[voxel] = sum_r;
    fh_i[voxel] = sum_i;
}
