// k-means: points are given to the nearest of a few centres.
//
// turn_table: a thread moves four features of a point, all loaded before the first is stored, so that a table by point
// becomes one by feature, where neighbouring threads fetch neighbouring numbers.
// nearest_centre: a thread owns a point and sums its distances from three centres at once, so that a feature is fetched
// once for three; a last group that is not full repeats the last centre, which cannot be nearer than itself.

constexpr int FEATURES = 4;
constexpr int GROUP = 3;

__constant__ float centres[1024];  // by feature

extern "C" __global__ void __launch_bounds__(256)
turn_table(const float* __restrict__ by_point, float* __restrict__ by_feature, int points, int features)
{
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points)
        return;

    const int first = blockIdx.y * FEATURES;
    const float* source = by_point + point * features + first;
    float* target = by_feature + first * points + point;
    float moved[FEATURES];
#pragma unroll
    for (int i = 0; i < FEATURES; ++i)
        moved[i] = first + i < features ? source[i] : 0.0f;
#pragma unroll
    for (int i = 0; i < FEATURES; ++i)
        if (first + i < features)
            target[i * points] = moved[i];
}

extern "C" __global__ void __launch_bounds__(256)
nearest_centre(cudaTextureObject_t by_feature, int features, int points, int clusters, int* __restrict__ membership)
{
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points)
        return;

    int nearest = 0;
    float least = 3.4e38f;
    for (int first = 0; first < clusters; first += GROUP) {
        int cluster[GROUP];
        float distance[GROUP] = {};
#pragma unroll
        for (int i = 0; i < GROUP; ++i)
            cluster[i] = min(first + i, clusters - 1);

#pragma unroll 4
        for (int feature = 0; feature < features; ++feature) {
            const float here = tex1Dfetch<float>(by_feature, feature * points + point);
#pragma unroll
            for (int i = 0; i < GROUP; ++i) {
                const float gap = here - centres[feature * clusters + cluster[i]];
                distance[i] = fmaf(gap, gap, distance[i]);
            }
        }

#pragma unroll
        for (int i = 0; i < GROUP; ++i)
            if (distance[i] < least) {
                least = distance[i];
                nearest = cluster[i];
            }
    }
    membership[point] = nearest;
}
