// Pixel shader: shadows by percentage-closer filtering of a depth map. One thread a pixel, blocks of 16 x 16. The
// position is taken to the light's clip space; 4 x 4 point fetches around it are compared with the distance to the
// light, and the nine overlapping squares of 2 x 2 comparisons are mixed bilinearly. Surfaces that face away from the
// light, or lie outside the map, need no fetch.

struct Light {
    float4 rows[3];  // position to texel x, texel y and depth in the map
    float4 direction;  // towards the light, and the depth bias
};

__constant__ Light light;

__device__ inline float dot(float4 row, float4 p) { return row.x * p.x + row.y * p.y + row.z * p.z + row.w; }

__device__ inline float lit(cudaTextureObject_t depth_map, float x, float y, float depth)
{
    return tex2D<float>(depth_map, x, y) >= depth ? 1.0f : 0.0f;
}

extern "C" __global__ void __launch_bounds__(256)
shadow_pixels(cudaTextureObject_t depth_map, const float4* __restrict__ positions, const float4* __restrict__ normals,
              float* __restrict__ shadows, int width, int height, float texels)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int pixel = y * width + x;

    const float4 normal = normals[pixel];
    const float facing = normal.x * light.direction.x + normal.y * light.direction.y + normal.z * light.direction.z;
    if (facing <= 0.0f) {
        shadows[pixel] = 0.0f;
        return;
    }
    const float4 position = positions[pixel];
    const float map_x = dot(light.rows[0], position);
    const float map_y = dot(light.rows[1], position);
    const float depth = dot(light.rows[2], position) - light.direction.w;
    if (map_x < 2.0f || map_y < 2.0f || map_x > texels - 2.0f || map_y > texels - 2.0f) {
        shadows[pixel] = facing;
        return;
    }

    const float first_x = floorf(map_x - 0.5f);
    const float first_y = floorf(map_y - 0.5f);
    const float right = map_x - 0.5f - first_x;
    const float below = map_y - 0.5f - first_y;
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const float row_y = first_y + (j - 0.5f);
        float row = (1.0f - right) * lit(depth_map, first_x - 0.5f, row_y, depth);
        row += lit(depth_map, first_x + 0.5f, row_y, depth);
        row += lit(depth_map, first_x + 1.5f, row_y, depth);
        row += right * lit(depth_map, first_x + 2.5f, row_y, depth);
        const float weight = j == 0 ? 1.0f - below : j == 3 ? below : 1.0f;
        sum += weight * row;
    }
    shadows[pixel] = facing * sum * (1.0f / 9.0f);
}
