// Merge sort of keys with values, stable. Blocks sort 1024 elements in shared memory by merging; then pairs of sorted
// segments are merged in four steps, until one is left: every 128th key of both segments is a sample, whose rank in the
// other segment is searched for; the two rows of ranks are merged, which cuts both segments into elementary intervals
// of at most 128 elements; a block merges one pair of intervals in shared memory.
// (Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs", 2009.)
// Lengths are powers of two.

typedef unsigned int uint;

#define SHARED_SIZE 1024
#define SAMPLE 128

__device__ uint samples_of(uint elements) { return (elements + SAMPLE - 1) / SAMPLE; }

__device__ uint power_of_two_above(uint x) { return 1u << (32 - __clz(x - 1)); }

// How many of the sorted `data` are less than `key`, or at most `key`; `stride` is a power of two, at least `length`.
template <bool OR_EQUAL>
__device__ uint count_below(uint key, const uint* data, uint length, uint stride)
{
    if (length == 0)
        return 0;
    uint place = 0;
    for (; stride > 0; stride >>= 1) {
        const uint next = min(place + stride, length);
        const uint other = data[next - 1];
        if (OR_EQUAL ? other <= key : other < key)
            place = next;
    }
    return place;
}

extern "C" __global__ void __launch_bounds__(SHARED_SIZE / 2)
sort_shared(uint* out_keys, uint* out_values, const uint* in_keys, const uint* in_values, uint length)
{
    __shared__ uint keys[SHARED_SIZE];
    __shared__ uint values[SHARED_SIZE];

    const uint first = blockIdx.x * SHARED_SIZE + threadIdx.x;
    keys[threadIdx.x] = in_keys[first];
    values[threadIdx.x] = in_values[first];
    keys[threadIdx.x + SHARED_SIZE / 2] = in_keys[first + SHARED_SIZE / 2];
    values[threadIdx.x + SHARED_SIZE / 2] = in_values[first + SHARED_SIZE / 2];

    for (uint stride = 1; stride < length; stride <<= 1) {
        const uint place = threadIdx.x & (stride - 1);
        uint* pair_keys = keys + 2 * (threadIdx.x - place);
        uint* pair_values = values + 2 * (threadIdx.x - place);
        __syncthreads();
        const uint key_a = pair_keys[place];
        const uint value_a = pair_values[place];
        const uint key_b = pair_keys[place + stride];
        const uint value_b = pair_values[place + stride];
        const uint place_a = count_below<false>(key_a, pair_keys + stride, stride, stride) + place;
        const uint place_b = count_below<true>(key_b, pair_keys, stride, stride) + place;
        __syncthreads();
        pair_keys[place_a] = key_a;
        pair_values[place_a] = value_a;
        pair_keys[place_b] = key_b;
        pair_values[place_b] = value_b;
    }

    __syncthreads();
    out_keys[first] = keys[threadIdx.x];
    out_values[first] = values[threadIdx.x];
    out_keys[first + SHARED_SIZE / 2] = keys[threadIdx.x + SHARED_SIZE / 2];
    out_values[first + SHARED_SIZE / 2] = values[threadIdx.x + SHARED_SIZE / 2];
}

// A thread for each pair of samples: `ranks_a` and `ranks_b` say where a sample stands in either segment.
extern "C" __global__ void rank_samples(uint* ranks_a, uint* ranks_b, const uint* keys, uint stride, uint n,
                                        uint threads)
{
    const uint position = blockIdx.x * blockDim.x + threadIdx.x;
    if (position >= threads)
        return;

    const uint i = position & (stride / SAMPLE - 1);
    const uint base = (position - i) * (2 * SAMPLE);
    keys += base;
    ranks_a += base / SAMPLE;
    ranks_b += base / SAMPLE;
    const uint length_a = stride;
    const uint length_b = min(stride, n - base - stride);

    if (i < samples_of(length_a)) {
        ranks_a[i] = i * SAMPLE;
        ranks_b[i] = count_below<false>(keys[i * SAMPLE], keys + stride, length_b, power_of_two_above(length_b));
    }
    if (i < samples_of(length_b)) {
        ranks_b[stride / SAMPLE + i] = i * SAMPLE;
        ranks_a[stride / SAMPLE + i] =
            count_below<true>(keys[stride + i * SAMPLE], keys, length_a, power_of_two_above(length_a));
    }
}

// The ranks of both segments' samples, in ascending order: where elementary intervals begin.
extern "C" __global__ void merge_ranks(uint* limits, const uint* ranks, uint stride, uint n, uint threads)
{
    const uint position = blockIdx.x * blockDim.x + threadIdx.x;
    if (position >= threads)
        return;

    const uint i = position & (stride / SAMPLE - 1);
    const uint base = (position - i) * (2 * SAMPLE);
    ranks += (position - i) * 2;
    limits += (position - i) * 2;
    const uint samples_a = samples_of(stride);
    const uint samples_b = samples_of(min(stride, n - base - stride));

    if (i < samples_a) {
        const uint place = count_below<false>(ranks[i], ranks + samples_a, samples_b, power_of_two_above(samples_b));
        limits[place + i] = ranks[i];
    }
    if (i < samples_b) {
        const uint place = count_below<true>(ranks[samples_a + i], ranks, samples_a, power_of_two_above(samples_a));
        limits[place + i] = ranks[samples_a + i];
    }
}

// A block of 128 threads merges one elementary interval of each segment.
extern "C" __global__ void __launch_bounds__(SAMPLE)
merge_intervals(uint* out_keys, uint* out_values, const uint* in_keys, const uint* in_values, const uint* limits_a,
                const uint* limits_b, uint stride, uint n)
{
    __shared__ uint keys[2 * SAMPLE];
    __shared__ uint values[2 * SAMPLE];
    __shared__ uint start_a, start_b, length_a, length_b, target_a, target_b;

    const uint interval = blockIdx.x & (2 * stride / SAMPLE - 1);
    const uint base = (blockIdx.x - interval) * SAMPLE;
    in_keys += base;
    in_values += base;
    out_keys += base;
    out_values += base;

    if (threadIdx.x == 0) {
        const uint elements_a = stride;
        const uint elements_b = min(stride, n - base - stride);
        const bool last = interval + 1 >= samples_of(elements_a) + samples_of(elements_b);
        start_a = limits_a[blockIdx.x];
        start_b = limits_b[blockIdx.x];
        length_a = (last ? elements_a : limits_a[blockIdx.x + 1]) - start_a;
        length_b = (last ? elements_b : limits_b[blockIdx.x + 1]) - start_b;
        target_a = start_a + start_b;
        target_b = target_a + length_a;
    }
    __syncthreads();

    uint key_a, value_a, key_b, value_b;
    const bool has_a = threadIdx.x < length_a;
    const bool has_b = threadIdx.x < length_b;
    if (has_a) {
        keys[threadIdx.x] = key_a = in_keys[start_a + threadIdx.x];
        values[threadIdx.x] = value_a = in_values[start_a + threadIdx.x];
    }
    if (has_b) {
        keys[SAMPLE + threadIdx.x] = key_b = in_keys[stride + start_b + threadIdx.x];
        values[SAMPLE + threadIdx.x] = value_b = in_values[stride + start_b + threadIdx.x];
    }
    __syncthreads();

    uint place_a, place_b;
    if (has_a)
        place_a = count_below<false>(key_a, keys + SAMPLE, length_b, SAMPLE) + threadIdx.x;
    if (has_b)
        place_b = count_below<true>(key_b, keys, length_a, SAMPLE) + threadIdx.x;
    __syncthreads();
    if (has_a) {
        keys[place_a] = key_a;
        values[place_a] = value_a;
    }
    if (has_b) {
        keys[place_b] = key_b;
        values[place_b] = value_b;
    }
    __syncthreads();

    if (has_a) {
        out_keys[target_a + threadIdx.x] = keys[threadIdx.x];
        out_values[target_a + threadIdx.x] = values[threadIdx.x];
    }
    if (has_b) {
        out_keys[target_b + threadIdx.x] = keys[length_a + threadIdx.x];
        out_values[target_b + threadIdx.x] = values[length_a + threadIdx.x];
    }
}
