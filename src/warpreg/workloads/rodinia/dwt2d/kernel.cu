// The wavelet transforms of JPEG 2000, reversible 5/3 on integers and irreversible 9/7 on floats, forward and back, in
// two dimensions at once. A block has one thread for each column of a window of 192 x 8 pixels, which slides down the
// image: columns are lifted by their own threads, rows by all in shared memory, where even and odd columns lie apart.
// The last rows of a window stay in registers for the next one. The first threads also have a column beyond the sides.
// A transformed image is four bands one after the other: low, high along x, high along y, high along both.

#define THREADS 256
#define WIDTH 192
#define HEIGHT 8
#define BANKS 32

// Lifting steps in their order; step 0 changes odd places. EXTRA rows and columns around a window are needed.
struct Reversible {
    typedef int Value;
    static const int EXTRA = 3;
    static const int STEPS = 2;
    static __device__ __forceinline__ void forward(int step, int before, int& middle, int after)
    {
        if (step == 0)
            middle -= (before + after) >> 1;
        else
            middle += (before + after + 2) >> 2;
    }
    static __device__ __forceinline__ void back(int step, int before, int& middle, int after)
    {
        if (step == 0)
            middle += (before + after) >> 1;
        else
            middle -= (before + after + 2) >> 2;
    }
    static __device__ __forceinline__ int even_scale() { return 1; }
    static __device__ __forceinline__ int odd_scale() { return 1; }
};

struct Irreversible {
    typedef float Value;
    static const int EXTRA = 7;
    static const int STEPS = 4;
    static __device__ __forceinline__ float factor(int step)
    {
        return step == 0 ? -1.586134342f : step == 1 ? -0.05298011854f : step == 2 ? 0.8829110762f : 0.4435068522f;
    }
    static __device__ __forceinline__ void forward(int step, float before, float& middle, float after)
    {
        middle += factor(step) * (before + after);
    }
    static __device__ __forceinline__ void back(int step, float before, float& middle, float after)
    {
        middle -= factor(step) * (before + after);
    }
    static __device__ __forceinline__ float even_scale() { return 1.0f / 1.23017410491400f; }
    static __device__ __forceinline__ float odd_scale() { return 1.23017410491400f; }
};

template <typename Filter>
struct Window {
    typedef typename Filter::Value Value;
    static const int MARGIN = (Filter::EXTRA + 1) / 2;
    static const int ROWS = HEIGHT + Filter::EXTRA;
    static const int STRIDE = MARGIN + WIDTH / 2;
    static const int ODD = STRIDE * ROWS + BANKS - (STRIDE * ROWS + BANKS / 2) % BANKS;

    Value data[ODD + STRIDE * ROWS];

    // Columns count from the window's first; `MARGIN` of them lie before it.
    __device__ __forceinline__ Value* column(int x)
    {
        x += MARGIN;
        return data + x / 2 + (x & 1) * ODD;
    }

    template <bool FORWARD>
    static __device__ __forceinline__ void lift_column(Value* column)
    {
#pragma unroll
        for (int turn = 0; turn < Filter::STEPS; turn++) {
#pragma unroll
            for (int row = 1 + turn; row < ROWS - 1 - turn; row += 2) {
                Value& middle = column[row * STRIDE];
                const Value before = column[(row - 1) * STRIDE];
                const Value after = column[(row + 1) * STRIDE];
                if (FORWARD)
                    Filter::forward(turn, before, middle, after);
                else
                    Filter::back(Filter::STEPS - 1 - turn, before, middle, after);
            }
        }
    }

    // One lifting step along the rows from `first` on; places at the ends of rows get numbers that nobody uses.
    template <bool FORWARD, int LINES>
    __device__ __forceinline__ void lift_rows(int first, int step)
    {
        const int count = LINES * STRIDE - 1;
        Value* even = data + first * STRIDE;
        Value* odd = even + ODD;
        Value* sides = step % 2 ? odd : even;
        Value* middle = step % 2 ? even + 1 : odd;
#pragma unroll
        for (int done = 0; done < count; done += WIDTH) {
            const int i = done + threadIdx.x;
            if (done + WIDTH <= count || i < count) {
                if (FORWARD)
                    Filter::forward(step, sides[i], middle[i], sides[i + 1]);
                else
                    Filter::back(step, sides[i], middle[i], sides[i + 1]);
            }
        }
        __syncthreads();
    }

    template <int LINES>
    __device__ __forceinline__ void scale_rows(int first, Value even_scale, Value odd_scale)
    {
        const int count = LINES * STRIDE;
        Value* even = data + first * STRIDE;
#pragma unroll
        for (int done = 0; done < count; done += WIDTH) {
            const int i = done + threadIdx.x;
            if (done + WIDTH <= count || i < count) {
                even[i] *= even_scale;
                even[i + ODD] *= odd_scale;
            }
        }
        __syncthreads();
    }
};

__device__ __forceinline__ int mirrored(int at, int size)
{
    at = abs(at);
    at = at < size ? at : 2 * (size - 1) - at;
    return max(at, 0);
}

// Goes down a column; CHECKED turns round at the last row.
template <bool CHECKED>
struct Rows {
    int row;
    int step;
    int count;
    __device__ __forceinline__ int next()
    {
        const int here = row;
        if (CHECKED && (row + step == count || row + step < 0))
            step = -step;
        row += CHECKED ? step : 1;
        return here;
    }
};

// Where a column of the image lies in the bands: `low` has its even rows, `high` its odd ones, `width` apart.
struct Bands {
    int low, high, width;
    __device__ __forceinline__ Bands(int x, int size_x, int size_y)
    {
        const int low_width = (size_x + 1) / 2;
        const int low_height = (size_y + 1) / 2;
        const int odd = x & 1;
        width = odd ? size_x / 2 : low_width;
        low = x / 2 + odd * low_width * low_height;
        high = x / 2 + low_height * size_x + odd * low_width * (size_y / 2);
    }
};

// One column of the window and the rows that it keeps from one window to the next.
template <typename Filter, bool CHECKED>
struct ForwardColumn {
    typedef typename Filter::Value Value;
    typedef Window<Filter> Buffer;
    Value* place;
    int x;
    Rows<CHECKED> rows;
    Value kept[Filter::EXTRA];

    __device__ __forceinline__ void start(Buffer& window, const Value* in, int column, int size_x, int size_y,
                                          int first)
    {
        place = window.column(column);
        x = mirrored(blockIdx.x * WIDTH + column, size_x);
#pragma unroll
        for (int i = 0; i < Filter::EXTRA; i++)
            kept[i] = in[mirrored(first - Buffer::MARGIN + i, size_y) * size_x + x];
        rows.row = first + Filter::EXTRA - Buffer::MARGIN;
        rows.step = 1;
        rows.count = size_y;
        if (CHECKED && rows.row >= size_y) {
            rows.row = mirrored(rows.row, size_y);
            rows.step = -1;
        }
    }

    __device__ __forceinline__ void load_and_lift(const Value* in, int size_x)
    {
#pragma unroll
        for (int i = 0; i < Filter::EXTRA; i++)
            place[i * Buffer::STRIDE] = kept[i];
#pragma unroll
        for (int i = Filter::EXTRA; i < Buffer::ROWS; i++)
            place[i * Buffer::STRIDE] = in[rows.next() * size_x + x];
#pragma unroll
        for (int i = 0; i < Filter::EXTRA; i++)
            kept[i] = place[(HEIGHT + i) * Buffer::STRIDE];
        Buffer::template lift_column<true>(place);
        if (Filter::STEPS > 2) {
#pragma unroll
            for (int i = Buffer::MARGIN; i < Buffer::MARGIN + HEIGHT; i++)
                place[i * Buffer::STRIDE] *= i & 1 ? Filter::odd_scale() : Filter::even_scale();
        }
    }
};

template <typename Filter, bool CHECK_LOADS, bool CHECK_WRITES>
__device__ __forceinline__ void forward_windows(Window<Filter>& window, const typename Filter::Value* in,
                                                typename Filter::Value* out, int size_x, int size_y, int steps)
{
    typedef Window<Filter> Buffer;
    const int first = blockIdx.y * HEIGHT * steps;
    const int t = threadIdx.x;
    const bool has_side = t < Filter::EXTRA;

    ForwardColumn<Filter, CHECK_LOADS> column, side;
    column.start(window, in, t, size_x, size_y, first);
    const int side_column = t < Buffer::MARGIN ? t - Buffer::MARGIN : WIDTH + t - Buffer::MARGIN;
    if (has_side)
        side.start(window, in, side_column, size_x, size_y, first);

    // The first half of the threads write even columns, the second odd ones.
    const int out_column = t * 2 - (WIDTH - 1) * (t / (WIDTH / 2));
    const int x = blockIdx.x * WIDTH + out_column;
    Bands bands(x, size_x, size_y);
    int low = bands.low + first / 2 * bands.width;
    int high = bands.high + first / 2 * bands.width;
    int left = x < size_x ? size_y - first : 0;
    const typename Filter::Value* results = window.column(out_column) + Buffer::MARGIN * Buffer::STRIDE;

    for (int step = 0; step < steps; step++) {
        column.load_and_lift(in, size_x);
        if (has_side)
            side.load_and_lift(in, size_x);
        __syncthreads();
#pragma unroll
        for (int turn = 0; turn < Filter::STEPS; turn++)
            window.template lift_rows<true, HEIGHT>(Buffer::MARGIN, turn);
        if (Filter::STEPS > 2)
            window.template scale_rows<HEIGHT>(Buffer::MARGIN, Filter::even_scale(), Filter::odd_scale());
#pragma unroll
        for (int i = 0; i < HEIGHT; i += 2) {
            if (!CHECK_WRITES || left > i)
                out[low] = results[i * Buffer::STRIDE];
            if (!CHECK_WRITES || left > i + 1)
                out[high] = results[(i + 1) * Buffer::STRIDE];
            low += bands.width;
            high += bands.width;
        }
        left -= HEIGHT;
        __syncthreads();
    }
}

template <typename Filter, bool CHECKED>
struct BackColumn {
    typedef typename Filter::Value Value;
    typedef Window<Filter> Buffer;
    Value* place;
    int low, high, width;
    Rows<CHECKED> rows;

    __device__ __forceinline__ Value load(const Value* in, int row)
    {
        return in[(row & 1 ? high : low) + (row >> 1) * width];
    }

    // Loads the rows that the first window has in common with the one before.
    __device__ __forceinline__ void start(Buffer& window, const Value* in, int column, int size_x, int size_y,
                                          int first)
    {
        place = window.column(column);
        const Bands bands(mirrored(blockIdx.x * WIDTH + column, size_x), size_x, size_y);
        low = bands.low;
        high = bands.high;
        width = bands.width;
#pragma unroll
        for (int i = 0; i < Filter::EXTRA; i++)
            place[i * Buffer::STRIDE] = load(in, mirrored(first - (Buffer::MARGIN - 1) + i, size_y));
        rows.row = first + Buffer::MARGIN;
        rows.step = 1;
        rows.count = size_y;
        if (CHECKED && rows.row >= size_y) {
            rows.row = mirrored(rows.row, size_y);
            rows.step = -1;
        }
    }

    __device__ __forceinline__ void load_window(const Value* in)
    {
#pragma unroll
        for (int i = Filter::EXTRA; i < Buffer::ROWS; i++)
            place[i * Buffer::STRIDE] = load(in, rows.next());
    }
};

template <typename Filter, int LINES>
__device__ __forceinline__ void rows_back(Window<Filter>& window, int first)
{
    __syncthreads();
    if (Filter::STEPS > 2)
        window.template scale_rows<LINES>(first, Filter::odd_scale(), Filter::even_scale());
#pragma unroll
    for (int turn = 0; turn < Filter::STEPS; turn++)
        window.template lift_rows<false, LINES>(first, Filter::STEPS - 1 - turn);
}

template <typename Filter, bool CHECK_LOADS, bool CHECK_WRITES>
__device__ __forceinline__ void windows_back(Window<Filter>& window, const typename Filter::Value* in,
                                             typename Filter::Value* out, int size_x, int size_y, int steps)
{
    typedef Window<Filter> Buffer;
    typedef typename Filter::Value Value;
    const int first = blockIdx.y * HEIGHT * steps;
    const int t = threadIdx.x;
    const int before = Buffer::MARGIN - 1;
    const bool has_side = t < Filter::EXTRA;

    BackColumn<Filter, CHECK_LOADS> column, side;
    column.start(window, in, t, size_x, size_y, first);
    if (has_side)
        side.start(window, in, t < before ? t - before : WIDTH + t - before, size_x, size_y, first);
    rows_back<Filter, Filter::EXTRA>(window, 0);

    const int x = blockIdx.x * WIDTH + t;
    int to = first * size_x + x;
    int left = x < size_x ? size_y - first : 0;
    Value* place = column.place;

    for (int step = 0; step < steps; step++) {
        column.load_window(in);
        if (has_side)
            side.load_window(in);
        rows_back<Filter, HEIGHT>(window, Filter::EXTRA);

        Value kept[Filter::EXTRA];
#pragma unroll
        for (int i = 0; i < Filter::EXTRA; i++)
            kept[i] = place[(HEIGHT + i) * Buffer::STRIDE];
        if (Filter::STEPS > 2) {
#pragma unroll
            for (int i = 0; i < Buffer::ROWS; i++)
                place[i * Buffer::STRIDE] *= i & 1 ? Filter::odd_scale() : Filter::even_scale();
        }
        Buffer::template lift_column<false>(place);
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
            if (!CHECK_WRITES || left > i)
                out[to] = place[(before + i) * Buffer::STRIDE];
            to += size_x;
        }
        left -= HEIGHT;
#pragma unroll
        for (int i = 0; i < Filter::EXTRA; i++)
            place[i * Buffer::STRIDE] = kept[i];
        __syncthreads();
    }
}

// Blocks at the bottom check loads and writes, those at the right side writes only.
template <typename Filter>
__device__ __forceinline__ void transform(const typename Filter::Value* in, typename Filter::Value* out, int size_x,
                                          int size_y, int steps)
{
    __shared__ Window<Filter> window;
    if ((blockIdx.y + 1) * HEIGHT * steps + Window<Filter>::MARGIN >= size_y)
        forward_windows<Filter, true, true>(window, in, out, size_x, size_y, steps);
    else if ((blockIdx.x + 1) * WIDTH + Window<Filter>::MARGIN >= size_x)
        forward_windows<Filter, false, true>(window, in, out, size_x, size_y, steps);
    else
        forward_windows<Filter, false, false>(window, in, out, size_x, size_y, steps);
}

template <typename Filter>
__device__ __forceinline__ void transform_back(const typename Filter::Value* in, typename Filter::Value* out,
                                               int size_x, int size_y, int steps)
{
    __shared__ Window<Filter> window;
    if ((blockIdx.y + 1) * HEIGHT * steps + Window<Filter>::MARGIN >= size_y)
        windows_back<Filter, true, true>(window, in, out, size_x, size_y, steps);
    else if ((blockIdx.x + 1) * WIDTH + Window<Filter>::MARGIN >= size_x)
        windows_back<Filter, false, true>(window, in, out, size_x, size_y, steps);
    else
        windows_back<Filter, false, false>(window, in, out, size_x, size_y, steps);
}

extern "C" __global__ void __launch_bounds__(WIDTH)
forward53(const int* in, int* out, int size_x, int size_y, int steps)
{
    transform<Reversible>(in, out, size_x, size_y, steps);
}

extern "C" __global__ void __launch_bounds__(WIDTH)
reverse53(const int* in, int* out, int size_x, int size_y, int steps)
{
    transform_back<Reversible>(in, out, size_x, size_y, steps);
}

extern "C" __global__ void __launch_bounds__(WIDTH)
forward97(const float* in, float* out, int size_x, int size_y, int steps)
{
    transform<Irreversible>(in, out, size_x, size_y, steps);
}

extern "C" __global__ void __launch_bounds__(WIDTH)
reverse97(const float* in, float* out, int size_x, int size_y, int steps)
{
    transform_back<Irreversible>(in, out, size_x, size_y, steps);
}

__device__ __forceinline__ void centre(unsigned char value, int* out)
{
    *out = value - 128;
}

__device__ __forceinline__ void centre(unsigned char value, float* out)
{
    *out = value / 255.0f - 0.5f;
}

// Pixels of three bytes become three images; a block brings in its bytes four at a time.
template <typename T>
__device__ __forceinline__ void split(T* red, T* green, T* blue, const unsigned char* pixels, int count)
{
    __shared__ __align__(4) unsigned char bytes[THREADS * 3];
    const int t = threadIdx.x;
    const int first = blockIdx.x * THREADS;
    if (t * 4 < THREADS * 3)
        ((unsigned*)bytes)[t] = ((const unsigned*)pixels)[((first * 3) >> 2) + t];
    __syncthreads();
    if (first + t < count) {
        centre(bytes[t * 3], &red[first + t]);
        centre(bytes[t * 3 + 1], &green[first + t]);
        centre(bytes[t * 3 + 2], &blue[first + t]);
    }
}

extern "C" __global__ void
split_components_int(int* red, int* green, int* blue, unsigned char* pixels, int count)
{
    split(red, green, blue, pixels, count);
}

extern "C" __global__ void
split_components_float(float* red, float* green, float* blue, unsigned char* pixels, int count)
{
    split(red, green, blue, pixels, count);
}
