// The distance of every record to a place, one record a thread; the host then picks the nearest.

struct Place {
    float latitude;
    float longitude;
};

extern "C" __global__ void euclid(Place* places, float* distances, int count, float latitude, float longitude)
{
    const int id = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    Place* place = places + id;
    float* distance = distances + id;
    if (id < count)
        *distance = (float)sqrt((latitude - place->latitude) * (latitude - place->latitude) +
                                (longitude - place->longitude) * (longitude - place->longitude));
}
