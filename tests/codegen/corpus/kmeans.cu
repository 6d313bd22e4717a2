// The nearest of several centres for each point, and the sums that make the next centres.
extern "C" __global__ void kmeans_assign(const float *points, const float *centres, int *member, float *sums,
                                         int *counts, int n, int features, int clusters) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 3.4e38f;
    int nearest = 0;
    for (int c = 0; c < clusters; ++c) {
        float distance = 0.0f;
        for (int f = 0; f < features; ++f) {
            float d = points[f * n + i] - centres[c * features + f];
            distance += d * d;
        }
        if (distance < best) {
            best = distance;
            nearest = c;
        }
    }
    member[i] = nearest;
    atomicAdd(&counts[nearest], 1);
    for (int f = 0; f < features; ++f) atomicAdd(&sums[nearest * features + f], points[f * n + i]);
}
