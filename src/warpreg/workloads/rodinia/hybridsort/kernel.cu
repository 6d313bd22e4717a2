// Sorting in two stages: numbers go to 1024 buckets of about equal size, and each bucket is merge-sorted in vectors of
// four.
//
// A histogram has two interleaved counters for each bin, so that neighbouring lanes with the same number do not meet.
// A block ranks a slab of 4096 numbers within their buckets; a ticket of two 16-bit numbers keeps bucket and rank.
// Where a slab's part of a bucket starts is summed over the slabs in eight slices, and each number then goes there.
// A merge keeps both lists' next vectors in registers and ends a list with infinity, so that a step has no special case.

constexpr int BUCKETS = 1024;
constexpr int SLAB = 4096;
constexpr int THREADS = 128;
constexpr int SLICES = 8;
#define ENDED __int_as_float(0x7f800000)  // +infinity

// Of each bucket: its first vector, its vectors, its first number among the sorted ones, its numbers.
__constant__ int4 spans[BUCKETS];

extern "C" __global__ void __launch_bounds__(THREADS)
count_bins(const float* __restrict__ values, int count, float low, float range, unsigned int* __restrict__ counts)
{
    __shared__ uint2 bins[BUCKETS];

    for (int bin = threadIdx.x; bin < BUCKETS; bin += THREADS)
        bins[bin] = make_uint2(0, 0);
    __syncthreads();

    const bool odd = threadIdx.x & 1;
    for (int at = blockIdx.x * THREADS + threadIdx.x; at < count; at += gridDim.x * THREADS) {
        const int bin = min(static_cast<int>((values[at] - low) / range * BUCKETS), BUCKETS - 1);
        atomicAdd(odd ? &bins[bin].y : &bins[bin].x, 1u);
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < BUCKETS; bin += THREADS) {
        const unsigned int found = bins[bin].x + bins[bin].y;
        if (found > 0)
            atomicAdd(counts + bin, found);
    }
}

// How many of the limits are below a value: ten dependent fetches, each of which decides a bit of the answer.
__device__ __forceinline__ int bucket_of(cudaTextureObject_t limits, float value)
{
    int below = 0;
#pragma unroll
    for (int step = BUCKETS / 2; step > 0; step /= 2)
        below += tex1Dfetch<float>(limits, below + step - 1) < value ? step : 0;
    return below;
}

extern "C" __global__ void __launch_bounds__(THREADS)
rank_in_buckets(cudaTextureObject_t limits, const float* __restrict__ values, int count,
                ushort2* __restrict__ tickets, unsigned int* __restrict__ slab_counts)
{
    __shared__ unsigned int taken[BUCKETS];

    for (int bucket = threadIdx.x; bucket < BUCKETS; bucket += THREADS)
        taken[bucket] = 0;
    __syncthreads();

    const int first = blockIdx.x * SLAB;
    const int slab = min(SLAB, count - first);
    for (int place = threadIdx.x; place < slab; place += THREADS) {
        const int bucket = bucket_of(limits, values[first + place]);
        tickets[first + place] = make_ushort2(bucket, atomicAdd(taken + bucket, 1u));
    }
    __syncthreads();

    for (int bucket = threadIdx.x; bucket < BUCKETS; bucket += THREADS)
        slab_counts[blockIdx.x * BUCKETS + bucket] = taken[bucket];
}

// Replaces counts by their sums over the slabs before. A thread walks one of eight slices of the slabs twice: for the
// slice's sum, and, when it knows the sums of the slices before, to write.
extern "C" __global__ void __launch_bounds__(32 * SLICES)
stack_slabs(unsigned int* __restrict__ slab_counts, int slabs, unsigned int* __restrict__ totals)
{
    __shared__ unsigned int sums[SLICES][32];

    const int bucket = blockIdx.x * 32 + threadIdx.x;
    const int share = (slabs + SLICES - 1) / SLICES;
    const int begin = min(threadIdx.y * share, slabs);
    const int end = min(begin + share, slabs);

    unsigned int sum = 0;
#pragma unroll 8
    for (int slab = begin; slab < end; ++slab)
        sum += slab_counts[slab * BUCKETS + bucket];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();

    unsigned int height = 0;
    for (int slice = 0; slice < threadIdx.y; ++slice)
        height += sums[slice][threadIdx.x];
    for (int slab = begin; slab < end; ++slab) {
        const unsigned int here = slab_counts[slab * BUCKETS + bucket];
        slab_counts[slab * BUCKETS + bucket] = height;
        height += here;
    }
    if (threadIdx.y == SLICES - 1)
        totals[bucket] = height;
}

extern "C" __global__ void __launch_bounds__(2 * THREADS)
scatter(const float* __restrict__ values, const ushort2* __restrict__ tickets, int count,
        const unsigned int* __restrict__ slab_starts, const unsigned int* __restrict__ bucket_starts,
        float* __restrict__ lists)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count)
        return;
    const ushort2 ticket = tickets[at];
    const unsigned int start = bucket_starts[ticket.x] + slab_starts[at / SLAB * BUCKETS + ticket.x];
    lists[start + ticket.y] = values[at];
}

__device__ __forceinline__ void put_in_order(float& first, float& second)
{
    const float smaller = fminf(first, second);
    second = fmaxf(first, second);
    first = smaller;
}

// Sorts a vector that rises and then falls, or the other way round.
__device__ __forceinline__ void sort_bitonic(float4& v)
{
    put_in_order(v.x, v.z);
    put_in_order(v.y, v.w);
    put_in_order(v.x, v.y);
    put_in_order(v.z, v.w);
}

// Leaves the four smaller numbers of two sorted vectors in the first one, the larger ones in the second, sorted.
__device__ __forceinline__ void split(float4& small, float4& large)
{
    put_in_order(small.x, large.w);
    put_in_order(small.y, large.z);
    put_in_order(small.z, large.y);
    put_in_order(small.w, large.x);
    sort_bitonic(small);
    sort_bitonic(large);
}

extern "C" __global__ void __launch_bounds__(2 * THREADS)
sort_vectors(cudaTextureObject_t source, float4* __restrict__ sorted, int vectors)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= vectors)
        return;
    float4 v = tex1Dfetch<float4>(source, at);
    put_in_order(v.x, v.y);
    put_in_order(v.w, v.z);  // falls, so that the whole is bitonic
    sort_bitonic(v);
    sorted[at] = v;
}

__device__ __forceinline__ float4 next_vector(cudaTextureObject_t source, int at, int end)
{
    return at < end ? tex1Dfetch<float4>(source, at) : make_float4(ENDED, ENDED, ENDED, ENDED);
}

// Merges lists of `length` vectors in pairs; threads along x have the pairs of a bucket, threads along y buckets.
extern "C" __global__ void __launch_bounds__(2 * THREADS)
merge_lists(cudaTextureObject_t source, float4* __restrict__ merged, int length)
{
    const int4 span = spans[blockIdx.y * blockDim.y + threadIdx.y];
    const int pair = (blockIdx.x * blockDim.x + threadIdx.x) * 2 * length;
    if (pair >= span.y)
        return;

    int left = span.x + pair;
    const int left_end = span.x + min(pair + length, span.y);
    int right = left_end;
    const int right_end = span.x + min(pair + 2 * length, span.y);

    float4* out = merged + left;
    float4* const last = merged + right_end - 1;
    float4 kept = next_vector(source, left, left_end);
    float4 from_left = next_vector(source, ++left, left_end);
    float4 from_right = next_vector(source, right, right_end);
    for (; out < last; ++out) {
        float4 least;
        if (from_left.x <= from_right.x) {
            least = from_left;
            from_left = next_vector(source, ++left, left_end);
        } else {
            least = from_right;
            from_right = next_vector(source, ++right, right_end);
        }
        split(least, kept);
        *out = least;
    }
    *out = kept;
}

// A block copies a bucket, whose fillers stand in front of its numbers.
extern "C" __global__ void __launch_bounds__(THREADS)
drop_fillers(const float* __restrict__ lists, float* __restrict__ result)
{
    const int4 span = spans[blockIdx.x];
    const float* numbers = lists + 4 * (span.x + span.y) - span.w;
    for (int at = threadIdx.x; at < span.w; at += THREADS)
        result[span.z + at] = numbers[at];
}
