// The matrix Q of a magnetic resonance image reconstruction: for each voxel the sum over sample points in k-space of
// a magnitude times cosine and sine of a phase. Samples come from constant memory, 1024 a launch, two an iteration.

#define SAMPLES 1024
#define TWO_PI 6.2831853071795864769252867665590058f

struct Sample {
    float x;
    float y;
    float z;
    float magnitude;
};

__constant__ Sample samples[SAMPLES];

extern "C" __global__ void magnitudes(float* phi_r, float* phi_i, float* magnitude, int count)
{
    const int sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample < count) {
        const float real = phi_r[sample];
        const float imaginary = phi_i[sample];
        magnitude[sample] = real * real + imaginary * imaginary;
    }
}

extern "C" __global__ void __launch_bounds__(256)
compute_q(int count, int first, float* x, float* y, float* z, float* q_r, float* q_i)
{
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    const float my_x = x[voxel];
    const float my_y = y[voxel];
    const float my_z = z[voxel];
    float real = q_r[voxel];
    float imaginary = q_i[voxel];

    int sample = 0;
    if (count % 2) {
        const float phase = TWO_PI * (samples[0].x * my_x + samples[0].y * my_y + samples[0].z * my_z);
        real += samples[0].magnitude * cosf(phase);
        imaginary += samples[0].magnitude * sinf(phase);
        sample++;
        first++;
    }

    for (; (sample < SAMPLES) && (first < count); sample += 2, first += 2) {
        const float phase =
            TWO_PI * (samples[sample].x * my_x + samples[sample].y * my_y + samples[sample].z * my_z);
        real += samples[sample].magnitude * cosf(phase);
        imaginary += samples[sample].magnitude * sinf(phase);

        const int next = sample + 1;
        const float next_phase = TWO_PI * (samples[next].x * my_x + samples[next].y * my_y + samples[next].z * my_z);
        real += samples[next].magnitude * cosf(next_phase);
        imaginary += samples[next].magnitude * sinf(next_phase);
    }

    q_r[voxel] = real;
    q_i[voxel] = imaginary;
}
