// C = A B in halves with single-precision sums: 32 x 32 tiles of C by four warps, tiles of A and B double-buffered in
// shared memory by cp.async, read by ldmatrix, multiplied by mma.m16n8k16.  A is row-major, B row-major, C row-major.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int Tile = 32, Pitch = Tile + 8;

__device__ unsigned shared_address(const void* pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

__device__ void copy_tile(half (*to)[Pitch], const half* from, int pitch) {
    int row = threadIdx.x / 4, column = threadIdx.x % 4 * 8;
    __pipeline_memcpy_async(&to[row][column], from + row * pitch + column, 16);
}

extern "C" __global__ void pipelined_gemm(const half* a, const half* b, float* c, int n, int k) {
    __shared__ __align__(16) half left[2][Tile][Pitch], right[2][Tile][Pitch];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = warp / 2 * 16, column = warp % 2 * 16;
    const half *first = a + blockIdx.y * Tile * k, *second = b + blockIdx.x * Tile;
    float sums[2][4] = {};
    copy_tile(left[0], first, k);
    copy_tile(right[0], second, n);
    __pipeline_commit();
    for (int step = 0; step < k / Tile; step++) {
        if (step + 1 < k / Tile) {
            copy_tile(left[(step + 1) % 2], first + (step + 1) * Tile, k);
            copy_tile(right[(step + 1) % 2], second + (step + 1) * Tile * n, n);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int at = 0; at < Tile; at += 16) {
            unsigned x[4], y[4];
            unsigned from = shared_address(&left[step % 2][row + lane % 16][at + lane / 16 * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from));
            from = shared_address(&right[step % 2][at + lane % 16][column + lane / 16 * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(from));
            for (int half_ = 0; half_ < 2; half_++) {
                float* d = sums[half_];
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                             "{%8, %9}, {%0, %1, %2, %3};"
                             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                             : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * half_]), "r"(y[2 * half_ + 1]));
            }
        }
        __syncthreads();
    }
    for (int half_ = 0; half_ < 2; half_++)
        for (int i = 0; i < 4; i++) {
            int r = blockIdx.y * Tile + row + lane / 4 + i / 2 * 8;
            c[r * n + blockIdx.x * Tile + column + half_ * 8 + lane % 4 * 2 + i % 2] = sums[half_][i];
        }
}
