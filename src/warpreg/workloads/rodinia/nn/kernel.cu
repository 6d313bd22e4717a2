// Distances of records on a map to one place, four records a thread: two vector loads and one vector store, with four
// roots between them that do not wait for each other. The last thread takes what is left one by one.

__device__ __forceinline__ float length(float across, float along) { return sqrtf(across * across + along * along); }

extern "C" __global__ void __launch_bounds__(256)
distances_to(float latitude, float longitude, const float2* __restrict__ places, int records,
             float* __restrict__ distances)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 4 <= records) {
        const float4* pairs = reinterpret_cast<const float4*>(places + first);
        const float4 a = pairs[0], b = pairs[1];
        *reinterpret_cast<float4*>(distances + first) = make_float4(
            length(a.x - latitude, a.y - longitude), length(a.z - latitude, a.w - longitude),
            length(b.x - latitude, b.y - longitude), length(b.z - latitude, b.w - longitude));
        return;
    }
    for (int at = first; at < records; ++at)
        distances[at] = length(places[at].x - latitude, places[at].y - longitude);
}
