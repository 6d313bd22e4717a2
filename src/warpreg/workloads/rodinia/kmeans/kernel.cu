// One round of k-means: the features are turned from point-major to feature-major once, then each thread finds the
// nearest of the cluster centres for one point. Features come through a texture, centres from constant memory.

#define MOST_CLUSTERS 32
#define MOST_FEATURES 34

__constant__ float centres[MOST_CLUSTERS * MOST_FEATURES];

extern "C" __global__ void
invert_mapping(float* by_point, float* by_feature, int points, int features)
{
    const int point = threadIdx.x + blockDim.x * blockIdx.x;
    if (point < points) {
        for (int i = 0; i < features; i++)
            by_feature[point + points * i] = by_point[point * features + i];
    }
}

extern "C" __global__ void
nearest_centre(cudaTextureObject_t by_feature, int features, int points, int clusters, int* membership)
{
    const unsigned block = gridDim.x * blockIdx.y + blockIdx.x;
    const unsigned point = block * blockDim.x * blockDim.y + threadIdx.x;
    int nearest = -1;

    if (point < points) {
        float least = 3.40282347e+38f;
        for (int i = 0; i < clusters; i++) {
            const int first = i * features;
            float distance = 0.0f;
            for (int j = 0; j < features; j++) {
                const int at = point + j * points;
                const float difference = tex1Dfetch<float>(by_feature, at) - centres[first + j];
                distance += difference * difference;
            }
            if (distance < least) {
                least = distance;
                nearest = i;
            }
        }
    }
    if (point < points)
        membership[point] = nearest;
}
