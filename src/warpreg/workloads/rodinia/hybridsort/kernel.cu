// Sorting by buckets, then by merging. A histogram lets the host choose the limits of 1024 buckets of about equal size;
// each number finds its bucket and its place there, the numbers move to their buckets, and these are sorted by merging
// lists of four-element vectors, one thread a pair of lists. Vectors and limits come through textures, starts of the
// buckets from constant memory.

#define BUCKETS 1024
#define LOG_BUCKETS 10
#define LOG_WARP 5
#define HISTOGRAM_WARPS 3
#define COUNT_MASK 0x07FFFFFFU

__constant__ int starts[BUCKETS + 1];
__constant__ int final_starts[BUCKETS + 1];
__constant__ int fillers[BUCKETS];

// Adds one to a counter of the thread's warp and returns what it was. Lanes that hit one counter overwrite each other;
// a lane knows by its number in the upper bits whether its sum has stayed, or tries again.
__device__ __forceinline__ unsigned count_one(volatile unsigned* counters, unsigned which, unsigned tag)
{
    unsigned count;
    do {
        count = counters[which] & COUNT_MASK;
        count = tag | (count + 1);
        counters[which] = count;
    } while (counters[which] != count);
    return (count & COUNT_MASK) - 1;
}

extern "C" __global__ void
histogram1024(unsigned* counts, float* data, float minimum, float maximum, int size)
{
    __shared__ unsigned counters[HISTOGRAM_WARPS * BUCKETS];
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int threads = blockDim.x * gridDim.x;
    const unsigned tag = threadIdx.x << (32 - LOG_WARP);
    const int own = (threadIdx.x >> LOG_WARP) * BUCKETS;

    for (int i = threadIdx.x; i < HISTOGRAM_WARPS * BUCKETS; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();

    for (int i = thread; i < size; i += threads) {
        const unsigned bin = ((data[i] - minimum) / (maximum - minimum)) * BUCKETS;
        count_one(counters + own, min(bin, BUCKETS - 1), tag);
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < BUCKETS; bin += blockDim.x) {
        unsigned sum = 0;
        for (int base = 0; base < HISTOGRAM_WARPS * BUCKETS; base += BUCKETS)
            sum += counters[base + bin] & COUNT_MASK;
        atomicAdd(counts + bin, sum);
    }
}

// A block is one warp. `places` gets the bucket of each number and its rank among those of the block.
extern "C" __global__ void
bucket_count(cudaTextureObject_t limits, float* input, int* places, unsigned* block_counts, int size)
{
    __shared__ unsigned counters[BUCKETS];
    const unsigned tag = threadIdx.x << (32 - LOG_WARP);
    const int own = (threadIdx.x >> LOG_WARP) * BUCKETS;
    const int threads = blockDim.x * gridDim.x;

    for (int i = threadIdx.x; i < BUCKETS; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += threads) {
        const float element = input[i];
        int bucket = BUCKETS / 2 - 1;
        int jump = BUCKETS / 4;
        float limit = tex1Dfetch<float>(limits, bucket);
        while (jump >= 1) {
            bucket = (element < limit) ? bucket - jump : bucket + jump;
            limit = tex1Dfetch<float>(limits, bucket);
            jump /= 2;
        }
        bucket = (element < limit) ? bucket : bucket + 1;
        places[i] = (count_one(counters + own, bucket, tag) << LOG_BUCKETS) + bucket;
    }
    __syncthreads();

    const int base = blockIdx.x * BUCKETS;
    for (int i = threadIdx.x; i < BUCKETS; i += blockDim.x)
        block_counts[base + i] = counters[i] & COUNT_MASK;
}

// One thread a bucket: the counts of the blocks become sums of those before.
extern "C" __global__ void
bucket_prefix(unsigned* block_counts, unsigned* totals, int blocks)
{
    const int bucket = blockIdx.x * blockDim.x + threadIdx.x;
    const int size = blocks * BUCKETS;
    int sum = 0;
    for (int i = bucket; i < size; i += BUCKETS) {
        const int count = block_counts[i];
        block_counts[i] = sum;
        sum += count;
    }
    totals[bucket] = sum;
}

extern "C" __global__ void
bucket_sort(float* input, int* places, float* output, int size, unsigned* block_counts, unsigned* bucket_starts)
{
    __shared__ unsigned offset[BUCKETS];
    const int base = blockIdx.x * BUCKETS;
    const int own = (threadIdx.x >> LOG_WARP) * BUCKETS;
    const int threads = blockDim.x * gridDim.x;

#pragma unroll 1
    for (int i = threadIdx.x; i < BUCKETS; i += blockDim.x)
        offset[i] = bucket_starts[i & (BUCKETS - 1)] + block_counts[base + i];
    __syncthreads();

#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += threads) {
        const float element = input[i];
        const int place = places[i];
        output[offset[own + (place & (BUCKETS - 1))] + (place >> LOG_BUCKETS)] = element;
    }
}

__device__ __forceinline__ float4 sorted(float4 v)
{
    float4 pairs;
    pairs.x = (v.x > v.y) ? v.y : v.x;
    pairs.y = (v.y > v.x) ? v.y : v.x;
    pairs.z = (v.z > v.w) ? v.w : v.z;
    pairs.w = (v.w > v.z) ? v.w : v.z;
    v.x = (pairs.x > pairs.z) ? pairs.z : pairs.x;
    v.y = (pairs.y > pairs.w) ? pairs.w : pairs.y;
    v.z = (pairs.z > pairs.x) ? pairs.z : pairs.x;
    v.w = (pairs.w > pairs.y) ? pairs.w : pairs.y;
    pairs.x = v.x;
    pairs.y = (v.y > v.z) ? v.z : v.y;
    pairs.z = (v.z > v.y) ? v.z : v.y;
    pairs.w = v.w;
    return pairs;
}

// The four least and the four greatest of two ascending vectors, in no order.
__device__ __forceinline__ float4 lowest(float4 a, float4 b)
{
    a.x = (a.x < b.w) ? a.x : b.w;
    a.y = (a.y < b.z) ? a.y : b.z;
    a.z = (a.z < b.y) ? a.z : b.y;
    a.w = (a.w < b.x) ? a.w : b.x;
    return a;
}

__device__ __forceinline__ float4 highest(float4 a, float4 b)
{
    b.x = (a.w >= b.x) ? a.w : b.x;
    b.y = (a.z >= b.y) ? a.z : b.y;
    b.z = (a.y >= b.z) ? a.y : b.z;
    b.w = (a.x >= b.w) ? a.x : b.w;
    return b;
}

extern "C" __global__ void
merge_first(cudaTextureObject_t vectors, float4* result, int size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size / 4)
        result[i] = sorted(tex1Dfetch<float4>(vectors, i));
}

// Each thread merges two lists of `length` / 2 vectors.
extern "C" __global__ void
merge_pass(cudaTextureObject_t vectors, float4* result, int length, int bucket_threads)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int bucket = thread / bucket_threads;
    if (bucket >= BUCKETS)
        return;
    const int within = thread - bucket * bucket_threads;
    const int first_a = starts[bucket] + within * length;
    const int first_b = first_a + length / 2;
    float4* out = &result[first_a];

    if (first_a >= starts[bucket + 1])
        return;
    if (first_b >= starts[bucket + 1]) {
        for (int i = 0; i < starts[bucket + 1] - first_a; i++)
            out[i] = tex1Dfetch<float4>(vectors, first_a + i);
        return;
    }

    int at_a = 0;
    int at_b = 0;
    int at_out = 0;
    float4 a = tex1Dfetch<float4>(vectors, first_a);
    float4 b = tex1Dfetch<float4>(vectors, first_b);
    while (true) {
        const float4 next_a = tex1Dfetch<float4>(vectors, first_a + at_a + 1);
        const float4 next_b = tex1Dfetch<float4>(vectors, first_b + at_b + 1);
        const float4 low = lowest(a, b);
        const float4 high = highest(a, b);
        a = sorted(low);
        b = sorted(high);
        out[at_out++] = a;

        const bool left_in_a = at_a + 1 < length / 2;
        const bool left_in_b = (at_b + 1 < length / 2) && (first_b + at_b + 1 < starts[bucket + 1]);
        if (left_in_a) {
            if (left_in_b) {
                if (next_a.x < next_b.x) {
                    at_a += 1;
                    a = next_a;
                } else {
                    at_b += 1;
                    a = next_b;
                }
            } else {
                at_a += 1;
                a = next_a;
            }
        } else {
            if (left_in_b) {
                at_b += 1;
                a = next_b;
            } else {
                break;
            }
        }
    }
    out[at_out++] = b;
}

// Leaves out what fills up the buckets to whole vectors.
extern "C" __global__ void
merge_pack(float* vectors, float* result)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int bucket = blockIdx.y;
    if (final_starts[bucket] + i >= final_starts[bucket + 1])
        return;
    result[final_starts[bucket] + i] = vectors[starts[bucket] * 4 + fillers[bucket] + i];
}
