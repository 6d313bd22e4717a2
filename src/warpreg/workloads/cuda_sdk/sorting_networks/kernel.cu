// Bitonic sort and odd-even merge sort of arrays of keys with values. Networks up to 1024 elements run in shared memory;
// the merges of longer sequences run in global memory, one launch per stride, until a stride fits shared memory.

#define SHARED_SIZE 1024

__device__ inline void compare_and_swap(unsigned& key_a, unsigned& value_a, unsigned& key_b, unsigned& value_b,
                                        unsigned direction)
{
    if ((key_a > key_b) == direction) {
        unsigned t = key_a;
        key_a = key_b;
        key_b = t;
        t = value_a;
        value_a = value_b;
        value_b = t;
    }
}

// Whole arrays of `length` up to 1024, one or more a block.
extern "C" __global__ void __launch_bounds__(SHARED_SIZE / 2)
bitonic_sort_shared(unsigned* out_key, unsigned* out_value, const unsigned* in_key, const unsigned* in_value,
                    unsigned length, unsigned direction)
{
    __shared__ unsigned key[SHARED_SIZE];
    __shared__ unsigned value[SHARED_SIZE];

    const unsigned first = blockIdx.x * SHARED_SIZE + threadIdx.x;
    key[threadIdx.x] = in_key[first];
    value[threadIdx.x] = in_value[first];
    key[threadIdx.x + SHARED_SIZE / 2] = in_key[first + SHARED_SIZE / 2];
    value[threadIdx.x + SHARED_SIZE / 2] = in_value[first + SHARED_SIZE / 2];

    for (unsigned size = 2; size < length; size <<= 1) {
        const unsigned up = direction ^ ((threadIdx.x & (size / 2)) != 0);
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            const unsigned place = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            compare_and_swap(key[place], value[place], key[place + stride], value[place + stride], up);
        }
    }
    for (unsigned stride = length / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        const unsigned place = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        compare_and_swap(key[place], value[place], key[place + stride], value[place + stride], direction);
    }

    __syncthreads();
    out_key[first] = key[threadIdx.x];
    out_value[first] = value[threadIdx.x];
    out_key[first + SHARED_SIZE / 2] = key[threadIdx.x + SHARED_SIZE / 2];
    out_value[first + SHARED_SIZE / 2] = value[threadIdx.x + SHARED_SIZE / 2];
}

// Sorts each 1024 elements, every other block in the opposite direction: bitonic sequences of 2048.
extern "C" __global__ void __launch_bounds__(SHARED_SIZE / 2)
bitonic_sort_alternating(unsigned* out_key, unsigned* out_value, const unsigned* in_key, const unsigned* in_value)
{
    __shared__ unsigned key[SHARED_SIZE];
    __shared__ unsigned value[SHARED_SIZE];

    const unsigned first = blockIdx.x * SHARED_SIZE + threadIdx.x;
    key[threadIdx.x] = in_key[first];
    value[threadIdx.x] = in_value[first];
    key[threadIdx.x + SHARED_SIZE / 2] = in_key[first + SHARED_SIZE / 2];
    value[threadIdx.x + SHARED_SIZE / 2] = in_value[first + SHARED_SIZE / 2];

    for (unsigned size = 2; size < SHARED_SIZE; size <<= 1) {
        const unsigned up = (threadIdx.x & (size / 2)) != 0;
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            const unsigned place = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            compare_and_swap(key[place], value[place], key[place + stride], value[place + stride], up);
        }
    }
    const unsigned up = blockIdx.x & 1;
    for (unsigned stride = SHARED_SIZE / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        const unsigned place = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        compare_and_swap(key[place], value[place], key[place + stride], value[place + stride], up);
    }

    __syncthreads();
    out_key[first] = key[threadIdx.x];
    out_value[first] = value[threadIdx.x];
    out_key[first + SHARED_SIZE / 2] = key[threadIdx.x + SHARED_SIZE / 2];
    out_value[first + SHARED_SIZE / 2] = value[threadIdx.x + SHARED_SIZE / 2];
}

extern "C" __global__ void __launch_bounds__(256)
bitonic_merge_global(unsigned* out_key, unsigned* out_value, const unsigned* in_key, const unsigned* in_value,
                     unsigned length, unsigned size, unsigned stride, unsigned direction)
{
    const unsigned comparator = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned within = comparator & (length / 2 - 1);
    const unsigned up = direction ^ ((within & (size / 2)) != 0);
    const unsigned place = 2 * comparator - (comparator & (stride - 1));

    unsigned key_a = in_key[place];
    unsigned value_a = in_value[place];
    unsigned key_b = in_key[place + stride];
    unsigned value_b = in_value[place + stride];
    compare_and_swap(key_a, value_a, key_b, value_b, up);
    out_key[place] = key_a;
    out_value[place] = value_a;
    out_key[place + stride] = key_b;
    out_value[place + stride] = value_b;
}

extern "C" __global__ void __launch_bounds__(SHARED_SIZE / 2)
bitonic_merge_shared(unsigned* out_key, unsigned* out_value, const unsigned* in_key, const unsigned* in_value,
                     unsigned length, unsigned size, unsigned direction)
{
    __shared__ unsigned key[SHARED_SIZE];
    __shared__ unsigned value[SHARED_SIZE];

    const unsigned first = blockIdx.x * SHARED_SIZE + threadIdx.x;
    key[threadIdx.x] = in_key[first];
    value[threadIdx.x] = in_value[first];
    key[threadIdx.x + SHARED_SIZE / 2] = in_key[first + SHARED_SIZE / 2];
    value[threadIdx.x + SHARED_SIZE / 2] = in_value[first + SHARED_SIZE / 2];

    const unsigned comparator = (blockIdx.x * blockDim.x + threadIdx.x) & (length / 2 - 1);
    const unsigned up = direction ^ ((comparator & (size / 2)) != 0);
    for (unsigned stride = SHARED_SIZE / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        const unsigned place = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        compare_and_swap(key[place], value[place], key[place + stride], value[place + stride], up);
    }

    __syncthreads();
    out_key[first] = key[threadIdx.x];
    out_value[first] = value[threadIdx.x];
    out_key[first + SHARED_SIZE / 2] = key[threadIdx.x + SHARED_SIZE / 2];
    out_value[first + SHARED_SIZE / 2] = value[threadIdx.x + SHARED_SIZE / 2];
}

extern "C" __global__ void __launch_bounds__(SHARED_SIZE / 2)
odd_even_sort_shared(unsigned* out_key, unsigned* out_value, const unsigned* in_key, const unsigned* in_value,
                     unsigned length, unsigned direction)
{
    __shared__ unsigned key[SHARED_SIZE];
    __shared__ unsigned value[SHARED_SIZE];

    const unsigned first = blockIdx.x * SHARED_SIZE + threadIdx.x;
    key[threadIdx.x] = in_key[first];
    value[threadIdx.x] = in_value[first];
    key[threadIdx.x + SHARED_SIZE / 2] = in_key[first + SHARED_SIZE / 2];
    value[threadIdx.x + SHARED_SIZE / 2] = in_value[first + SHARED_SIZE / 2];

    for (unsigned size = 2; size <= length; size <<= 1) {
        unsigned stride = size / 2;
        const unsigned offset = threadIdx.x & (stride - 1);

        __syncthreads();
        unsigned place = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        compare_and_swap(key[place], value[place], key[place + stride], value[place + stride], direction);
        stride >>= 1;

        for (; stride > 0; stride >>= 1) {
            __syncthreads();
            place = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            if (offset >= stride)
                compare_and_swap(key[place - stride], value[place - stride], key[place], value[place], direction);
        }
    }

    __syncthreads();
    out_key[first] = key[threadIdx.x];
    out_value[first] = value[threadIdx.x];
    out_key[first + SHARED_SIZE / 2] = key[threadIdx.x + SHARED_SIZE / 2];
    out_value[first + SHARED_SIZE / 2] = value[threadIdx.x + SHARED_SIZE / 2];
}

extern "C" __global__ void __launch_bounds__(256)
odd_even_merge_global(unsigned* out_key, unsigned* out_value, const unsigned* in_key, const unsigned* in_value,
                      unsigned length, unsigned size, unsigned stride, unsigned direction)
{
    const unsigned comparator = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned place = 2 * comparator - (comparator & (stride - 1));

    if (stride < size / 2) {
        const unsigned offset = comparator & (size / 2 - 1);
        if (offset >= stride) {
            unsigned key_a = in_key[place - stride];
            unsigned value_a = in_value[place - stride];
            unsigned key_b = in_key[place];
            unsigned value_b = in_value[place];
            compare_and_swap(key_a, value_a, key_b, value_b, direction);
            out_key[place - stride] = key_a;
            out_value[place - stride] = value_a;
            out_key[place] = key_b;
            out_value[place] = value_b;
        }
    } else {
        unsigned key_a = in_key[place];
        unsigned value_a = in_value[place];
        unsigned key_b = in_key[place + stride];
        unsigned value_b = in_value[place + stride];
        compare_and_swap(key_a, value_a, key_b, value_b, direction);
        out_key[place] = key_a;
        out_value[place] = value_a;
        out_key[place + stride] = key_b;
        out_value[place + stride] = value_b;
    }
}
