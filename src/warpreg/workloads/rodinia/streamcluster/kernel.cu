// What opening a centre at a candidate point would change, for each point: local search for clusters.
//
// A thread owns a point, and loads coordinates in batches of eight before it sums squared differences in their order.
// Changes have a row for each centre and a column for each point, so that the threads of a warp whose points belong to
// the same centre write side by side; the last row belongs to the candidate. What is known of a point is one vector.

constexpr int THREADS = 512;
constexpr int BATCH = 8;

struct alignas(16) Point {
    float weight;
    float cost;  // of the way to its present centre
    long long centre;
};

extern "C" __global__ void __launch_bounds__(THREADS)
price_opening(const Point* __restrict__ described, const int* __restrict__ row_of_centre, int centres,
              const float* __restrict__ coordinates, int dimensions, long long points, int candidate,
              float* __restrict__ changes, bool* __restrict__ switches)
{
    const int point = blockIdx.x * THREADS + threadIdx.x;
    if (point >= points)
        return;

    const float* here = coordinates + point;
    const float* there = coordinates + candidate;
    float way = 0.0f;
    int left = dimensions;
    for (; left >= BATCH; left -= BATCH) {
        float gaps[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; ++i, here += points, there += points)
            gaps[i] = *here - *there;
#pragma unroll
        for (int i = 0; i < BATCH; ++i)
            way = fmaf(gaps[i], gaps[i], way);
    }
    for (; left > 0; --left, here += points, there += points)
        way = fmaf(*here - *there, *here - *there, way);

    const Point own = described[point];
    const float change = way * own.weight - own.cost;
    if (change < 0.0f) {
        switches[point] = true;
        changes[centres * points + point] = change;
    } else {
        changes[row_of_centre[own.centre] * points + point] = -change;
    }
}
