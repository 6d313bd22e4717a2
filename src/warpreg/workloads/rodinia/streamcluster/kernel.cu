// What opening a centre at one point would save: one thread a point. A point nearer to the candidate than to its
// centre notes that it would switch and by how much the cost would fall; another one adds to what its centre would
// still be worth. Every thread has a row of sums, one for each centre, which the host adds up.

struct Point {
    float weight;
    long long assigned;
    float cost;
};

__device__ float
squared_distance(int a, int b, int points, int dimensions, float* coordinates)
{
    float sum = 0.0f;
    for (int i = 0; i < dimensions; i++) {
        const float difference = coordinates[i * points + a] - coordinates[i * points + b];
        sum += difference * difference;
    }
    return sum;
}

extern "C" __global__ void
cost_of_opening(int points, int dimensions, long long candidate, Point* point, int centres, int stride,
                float* coordinates, float* savings, int* centre_table, bool* switches)
{
    const int block = blockIdx.x + gridDim.x * blockIdx.y;
    const int i = blockDim.x * block + threadIdx.x;

    if (i < points) {
        float* sums = &savings[i * stride];
        const float cost = squared_distance(i, candidate, points, dimensions, coordinates) * point[i].weight;
        if (cost < point[i].cost) {
            switches[i] = true;
            sums[centres] += cost - point[i].cost;
        } else {
            sums[centre_table[point[i].assigned]] += point[i].cost - cost;
        }
    }
}
