// The eigenvalues of symmetric tridiagonal matrices by bisection. How many eigenvalues are less than x is the number of
// negative pivots when the matrix less x is factored; a thread counts for one interval, splits it in the middle, and
// keeps the halves that have eigenvalues, until an interval is short enough. One block holds the intervals of a small
// matrix in shared memory and all threads run down the matrix together. For large matrices a first kernel bisects until
// it has as many intervals as threads; those with one eigenvalue are then bisected by a thread each, those with several
// are dealt out to blocks, which go on as for a small matrix.
// (Demmel, Dhillon and Ren, "On the correctness of some bisection-like parallel eigenvalue algorithms", 1995; Lessig,
// "Eigenvalue computation with CUDA", 2007.)

typedef unsigned int uint;
typedef unsigned short ushort;

#define SMALL_THREADS 512
#define LARGE_THREADS 256
#define GROUP (LARGE_THREADS / 2)
#define SHORTEST 5e-37f

// The intervals of a block, and what is needed to keep them together. While the matrix is read, `left` and `right` hold
// its diagonal and superdiagonal.
template <int MOST>
struct Intervals {
    float left[MOST];
    float right[MOST];
    ushort left_count[MOST];
    ushort right_count[MOST];
    uint places[MOST + 1];  // running number of each thread's second half, from element 1
    uint active;
    uint scanned;  // a power of two, at least `active`
    uint has_second;
    uint done;
};

// The interval of a thread.
struct Interval {
    float left, middle, right;
    uint left_count, middle_count, right_count;
    bool has_second;

    __device__ bool is_converged() const { return left == right; }
};

__device__ int power_of_two_from(int n) { return n <= 1 ? 1 : 1 << (32 - __clz(n - 1)); }

__device__ float middle_of(float left, float right)
{
    return (left < 0) == (right < 0) ? left + (right - left) * 0.5f : (left + right) * 0.5f;
}

__device__ bool is_short(float left, float right, float precision)
{
    return fabsf(right - left) <= fmaxf(SHORTEST, fmaxf(fabsf(left), fabsf(right)) * precision);
}

// How many eigenvalues are less than x. `beside[i]` is the superdiagonal before diagonal element i, 0 for the first.
// All threads of the block read pieces of the matrix into shared memory, and those that are needed count.
__device__ uint count_less(const float* diagonal, const float* beside, uint n, float x, bool is_needed, float* piece_d,
                           float* piece_s)
{
    float pivot = 1.0f;
    uint count = 0;
    for (uint first = 0; first < n; first += blockDim.x) {
        __syncthreads();
        if (first + threadIdx.x < n) {
            piece_d[threadIdx.x] = diagonal[first + threadIdx.x];
            piece_s[threadIdx.x] = beside[first + threadIdx.x];
        }
        __syncthreads();
        if (is_needed) {
            const uint length = min(n - first, blockDim.x);
            for (uint k = 0; k < length; ++k) {
                pivot = piece_d[k] - x - (piece_s[k] * piece_s[k]) / pivot;
                count += pivot < 0;
            }
        }
    }
    return count;
}

template <int MOST>
__device__ void store(Intervals<MOST>& all, uint place, float left, float right, uint left_count, uint right_count,
                      float precision)
{
    all.left_count[place] = left_count;
    all.right_count[place] = right_count;
    if (is_short(left, right, precision))
        left = right = middle_of(left, right);
    all.left[place] = left;
    all.right[place] = right;
}

// Inclusive sums of places[1] to places[scanned], by sweeps up and down a tree.
template <int MOST>
__device__ void scan_places(Intervals<MOST>& all)
{
    uint* places = all.places + 1;
    const uint t = threadIdx.x;
    uint offset = 1;
    for (uint d = all.scanned >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            places[offset * (2 * t + 2) - 1] += places[offset * (2 * t + 1) - 1];
        offset <<= 1;
    }
    for (uint d = 2; d < all.scanned; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (t < d - 1)
            places[offset * (t + 1) - 1 + (offset >> 1)] += places[offset * (t + 1) - 1];
    }
    __syncthreads();
}

// Splits the thread's interval and stores the first half that has eigenvalues in its place. With SEPARATE, a converged
// interval of several eigenvalues is split too, into two at the same place.
template <bool SEPARATE, int MOST>
__device__ void split(Intervals<MOST>& all, Interval& mine, float precision)
{
    const uint t = threadIdx.x;
    mine.has_second = false;
    if (mine.is_converged()) {
        all.left[t] = all.right[t] = mine.left;
        all.left_count[t] = mine.left_count;
        const uint several = mine.right_count - mine.left_count;
        mine.middle = mine.left;
        mine.middle_count = mine.left_count + (several >> 1);
        mine.has_second = SEPARATE && several > 1;
        all.right_count[t] = mine.has_second ? mine.middle_count : mine.right_count;
    } else if (mine.left_count != mine.middle_count && mine.middle_count != mine.right_count) {
        store(all, t, mine.left, mine.middle, mine.left_count, mine.middle_count, precision);
        mine.has_second = true;
    } else if (mine.left_count != mine.middle_count) {
        store(all, t, mine.left, mine.middle, mine.left_count, mine.middle_count, precision);
    } else {
        store(all, t, mine.middle, mine.right, mine.middle_count, mine.right_count, precision);
    }
    all.places[t + 1] = mine.has_second;
    if (mine.has_second)
        atomicExch(&all.has_second, 1);
}

// Bisects until all intervals are short, or, without SEPARATE, until there may be more than threads.
template <bool SEPARATE, int MOST>
__device__ void bisect(Intervals<MOST>& all, const float* diagonal, const float* beside, uint n, float precision)
{
    const uint t = threadIdx.x;
    Interval mine = {0, 0, 0, 0, 0, 0, false};
    while (true) {
        if (t < all.active) {
            mine.left = all.left[t];
            mine.right = all.right[t];
            mine.left_count = all.left_count[t];
            mine.right_count = all.right_count[t];
            mine.middle = middle_of(mine.left, mine.right);
            if (!mine.is_converged() || (SEPARATE && mine.right_count - mine.left_count > 1))
                all.done = 0;
        }
        __syncthreads();
        if (all.done)
            break;

        mine.middle_count = count_less(diagonal, beside, n, mine.middle, t < all.active && !mine.is_converged(),
                                       all.left, all.right);
        __syncthreads();
        if (t < all.active)
            split<SEPARATE>(all, mine, precision);
        __syncthreads();

        if (all.has_second) {
            scan_places(all);
            if (t < all.active && mine.has_second) {
                const uint place = all.active + all.places[t];
                store(all, place, mine.middle, mine.right, mine.middle_count, mine.right_count, precision);
            }
        }
        __syncthreads();

        if (t == 0) {
            if (all.has_second)
                all.active += all.places[all.active];
            all.scanned = power_of_two_from(all.active);
            all.has_second = 0;
            all.done = 1;
        }
        __syncthreads();
        for (uint place = t; place < MOST; place += blockDim.x)
            all.places[place + 1] = 0;
        __syncthreads();
        if (!SEPARATE && all.scanned > blockDim.x)
            break;
    }
}

template <int MOST>
__device__ void clear(Intervals<MOST>& all, uint active)
{
    for (uint place = threadIdx.x; place <= MOST; place += blockDim.x)
        all.places[place] = 0;
    if (threadIdx.x == 0) {
        all.active = active;
        all.scanned = power_of_two_from(active);
        all.has_second = 0;
        all.done = 1;
    }
}

// One block. All eigenvalues lie between `lowest` and `highest`; `counts[i]` of them are less than `eigenvalues[i]`.
extern "C" __global__ void __launch_bounds__(SMALL_THREADS)
bisect_small(const float* diagonal, const float* beside, uint n, float lowest, float highest, float precision,
             float* eigenvalues, uint* counts)
{
    __shared__ Intervals<SMALL_THREADS> all;

    clear(all, 1);
    if (threadIdx.x == 0)
        store(all, 0, lowest, highest, 0, n, 0);
    __syncthreads();
    bisect<true>(all, diagonal, beside, n, precision);
    if (threadIdx.x < n) {
        eigenvalues[threadIdx.x] = all.left[threadIdx.x];
        counts[threadIdx.x] = all.left_count[threadIdx.x];
    }
}

// The sums of what all threads have, two numbers each, before either number; returns the sum of all.
template <int MOST>
__device__ uint scan_flags(Intervals<MOST>& all, uint first, uint second, uint (&before)[2])
{
    __syncthreads();
    all.places[threadIdx.x + 1] = first;
    all.places[threadIdx.x + 1 + LARGE_THREADS] = second;
    if (threadIdx.x == 0)
        all.scanned = MOST;
    __syncthreads();
    scan_places(all);
    before[0] = all.places[threadIdx.x];
    before[1] = all.places[threadIdx.x + LARGE_THREADS];
    return all.places[MOST];
}

__device__ bool ends_block(uint before, uint count)
{
    return count > 1 && before / GROUP != (before + count) / GROUP;
}

// One block, for matrices with more eigenvalues than it has threads. Leaves two lists: intervals with one eigenvalue,
// and intervals with several, which are dealt out to blocks: one ends where the eigenvalues of the list reach or pass a
// multiple of GROUP, and the last may have none. `sizes` gets the lengths of both lists, the number of blocks, and the
// number of eigenvalues in the second list.
extern "C" __global__ void __launch_bounds__(LARGE_THREADS)
bisect_large(const float* diagonal, const float* beside, uint n, float lowest, float highest, float precision,
             float* left_one, float* right_one, uint* count_one, float* left_several, float* right_several,
             uint* left_count_several, uint* right_count_several, uint* block_starts, uint* block_counts, uint* sizes)
{
    __shared__ Intervals<2 * LARGE_THREADS> all;

    clear(all, 1);
    if (threadIdx.x == 0)
        store(all, 0, lowest, highest, 0, n, 0);
    __syncthreads();
    bisect<false>(all, diagonal, beside, n, precision);

    uint count[2];
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
        const uint i = threadIdx.x + half * LARGE_THREADS;
        count[half] = i < all.active ? all.right_count[i] - all.left_count[i] : 0;
    }
    uint place_one[2], place_several[2], before[2], block[2];
    const uint ones = scan_flags(all, count[0] == 1, count[1] == 1, place_one);
    const uint severals = scan_flags(all, count[0] > 1, count[1] > 1, place_several);
    const uint eigenvalues = scan_flags(all, count[0] > 1 ? count[0] : 0, count[1] > 1 ? count[1] : 0, before);
    const bool ends[2] = {ends_block(before[0], count[0]), ends_block(before[1], count[1])};
    const uint full_blocks = scan_flags(all, ends[0], ends[1], block);

    #pragma unroll
    for (int half = 0; half < 2; ++half) {
        const uint i = threadIdx.x + half * LARGE_THREADS;
        if (count[half] == 1) {
            left_one[place_one[half]] = all.left[i];
            right_one[place_one[half]] = all.right[i];
            count_one[place_one[half]] = all.left_count[i];
        } else if (count[half] > 1) {
            const uint place = place_several[half];
            left_several[place] = all.left[i];
            right_several[place] = all.right[i];
            left_count_several[place] = all.left_count[i];
            right_count_several[place] = all.right_count[i];
            if (ends[half]) {
                block_starts[block[half] + 1] = place + 1;
                block_counts[block[half] + 1] = before[half] + count[half];
            }
        }
    }
    if (threadIdx.x == 0) {
        block_starts[0] = 0;
        block_counts[0] = 0;
        block_starts[full_blocks + 1] = severals;
        sizes[0] = ones;
        sizes[1] = severals;
        sizes[2] = full_blocks + 1;
        sizes[3] = eigenvalues;
    }
}

// A thread an interval with one eigenvalue.
extern "C" __global__ void __launch_bounds__(LARGE_THREADS)
bisect_one(const float* diagonal, const float* beside, uint n, uint intervals, float* left_one, const float* right_one,
           const uint* count_one, float precision)
{
    __shared__ float piece_d[LARGE_THREADS];
    __shared__ float piece_s[LARGE_THREADS];
    __shared__ uint unfinished;

    const uint i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_used = i < intervals;
    float left = 0, right = 0;
    uint right_count = 0;
    if (is_used) {
        left = left_one[i];
        right = right_one[i];
        right_count = count_one[i] + 1;
    }
    bool is_active = is_used && left != right;
    while (true) {
        if (threadIdx.x == 0)
            unfinished = 0;
        __syncthreads();
        if (is_active)
            unfinished = 1;
        __syncthreads();
        if (!unfinished)
            break;

        const float middle = middle_of(left, right);
        const uint count = count_less(diagonal, beside, n, middle, is_active, piece_d, piece_s);
        __syncthreads();
        if (is_active) {
            if (count == right_count)
                right = middle;
            else
                left = middle;
            if (is_short(left, right, precision)) {
                left = middle_of(left, right);
                is_active = false;
            }
        }
    }
    if (is_used)
        left_one[i] = left;
}

// A block a group of intervals with several eigenvalues each.
extern "C" __global__ void __launch_bounds__(LARGE_THREADS)
bisect_several(const float* diagonal, const float* beside, uint n, const uint* block_starts, const uint* block_counts,
               const float* left_several, const float* right_several, const uint* left_count_several,
               const uint* right_count_several, float* eigenvalues, uint* counts, float precision)
{
    __shared__ Intervals<2 * LARGE_THREADS> all;

    const uint start = block_starts[blockIdx.x];
    const uint length = block_starts[blockIdx.x + 1] - start;
    clear(all, length);
    if (threadIdx.x < length) {
        all.left[threadIdx.x] = left_several[start + threadIdx.x];
        all.right[threadIdx.x] = right_several[start + threadIdx.x];
        all.left_count[threadIdx.x] = left_count_several[start + threadIdx.x];
        all.right_count[threadIdx.x] = right_count_several[start + threadIdx.x];
    }
    __syncthreads();
    bisect<true>(all, diagonal, beside, n, precision);
    if (threadIdx.x < all.active) {
        eigenvalues[block_counts[blockIdx.x] + threadIdx.x] = all.left[threadIdx.x];
        counts[block_counts[blockIdx.x] + threadIdx.x] = all.left_count[threadIdx.x];
    }
}
