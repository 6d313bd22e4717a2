// Points on the wall of a heart are followed from frame to frame of an ultrasound film, a block for each.
// The block looks for the point's template in a window of the frame: it convolves the window with the template turned
// by 180 degrees, and divides by the deviation of the window's pixels under the template, which comes from sums along
// columns, then rows, of the window and of its square (Lewis, "Fast normalized cross-correlation", 1995). The place of
// the largest coefficient near the point's last place is its new one. All matrices lie column by column.
// What is one for all blocks, for a frame and for a point is in three structures in constant memory.

#define POINTS 51
#define THREADS 512
#define LARGEST_TEMPLATE 51
#define LARGEST_FULL 131

struct Shape {
    int rows, cols, elements;
};

struct Cut {
    int first_row, first_col;
};

struct Common {
    int frames, frame_rows, search, reach, refresh;
    float keep;
    Shape pattern, window, full, padded, lower, strip, right, sums, mask, marks, masked;
    Cut full_offset, padding, lower_cut, upper_cut, right_cut, left_cut, masked_offset;
};

struct Frame {
    const float* pixels;
    int number;
};

struct Point {
    int* row;
    int* col;
    int* track_row;
    int* track_col;
    float* patterns;
    float* window;
    float* full;
    float* padded;
    float* lower;
    float* strip;
    float* right;
    float* sums;
    float* window_squares;
    float* square_sums;
    float* pattern_squares;
    float* marks;
    float* masked;
    int index;
    int first_pattern;
};

__constant__ Common common;
__constant__ Frame frame;
__constant__ Point points[POINTS];

template <typename Step>
__device__ __forceinline__ void each(int count, Step step)
{
    for (int element = threadIdx.x; element < count; element += THREADS)
        step(element);
}

template <typename Step>
__device__ __forceinline__ void each_place(const Shape& shape, Step step)
{
    each(shape.elements, [&](int element) { step(element, element % shape.rows, element / shape.rows); });
}

__device__ __forceinline__ void cut(float* target, const Shape& shape, const float* source, int source_rows,
                                    const Cut& corner)
{
    each_place(shape, [&](int element, int row, int col) {
        target[element] = source[(col + corner.first_col) * source_rows + row + corner.first_row];
    });
    __syncthreads();
}

// Sums of `source`, of the window's shape, over all places of a template on it, also those partly outside.
__device__ __forceinline__ void box_sums(const Point& point, const float* source, float* target)
{
    each_place(common.padded, [&](int element, int row, int col) {
        const int source_row = row - common.padding.first_row;
        const int source_col = col - common.padding.first_col;
        if (source_row >= 0 && source_row < common.window.rows && source_col >= 0 && source_col < common.window.cols)
            point.padded[element] = source[source_col * common.window.rows + source_row];
        else
            point.padded[element] = 0.0f;
    });
    __syncthreads();

    each(common.padded.cols, [&](int col) {
        const int first = col * common.padded.rows;
        float sum = 0.0f;
        for (int i = first; i < first + common.padded.rows; ++i) {
            point.padded[i] = point.padded[i] + sum;
            sum = point.padded[i];
        }
    });
    __syncthreads();

    cut(point.lower, common.lower, point.padded, common.padded.rows, common.lower_cut);
    cut(point.strip, common.strip, point.padded, common.padded.rows, common.upper_cut);
    each(common.strip.elements, [&](int i) { point.strip[i] = point.lower[i] - point.strip[i]; });
    __syncthreads();

    each(common.strip.rows, [&](int row) {
        float sum = 0.0f;
        for (int i = row; i < common.strip.elements; i += common.strip.rows) {
            point.strip[i] = point.strip[i] + sum;
            sum = point.strip[i];
        }
    });
    __syncthreads();

    cut(point.right, common.right, point.strip, common.strip.rows, common.right_cut);
    cut(target, common.sums, point.strip, common.strip.rows, common.left_cut);
    each(common.sums.elements, [&](int i) { target[i] = point.right[i] - target[i]; });
    __syncthreads();
}

// How far a matrix reaches below one of `length`, at place `at` of their convolution, which counts from 1.
__device__ __forceinline__ int first_common(int at, int length) { return length < at + 1 ? at + 1 - length : 1; }
__device__ __forceinline__ int last_common(int at, int length) { return length < at ? length : at; }

extern "C" __global__ void __launch_bounds__(THREADS) track_points()
{
    __shared__ float turned[LARGEST_TEMPLATE * LARGEST_TEMPLATE];
    __shared__ float partial[LARGEST_TEMPLATE];
    __shared__ float partial_squares[LARGEST_TEMPLATE];
    __shared__ float largest[LARGEST_FULL];
    __shared__ int largest_place[LARGEST_FULL];
    __shared__ float sum;
    __shared__ float square_sum;
    __shared__ float deviation;

    const Point& point = points[blockIdx.x];
    const int thread = threadIdx.x;
    float* pattern = &point.patterns[point.first_pattern];

    if (frame.number == 0) {
        if (thread == 0) {
            const int slot = point.index * common.frames + frame.number;
            point.track_row[slot] = point.row[point.index];
            point.track_col[slot] = point.col[point.index];
        }
        each_place(common.pattern, [&](int element, int row, int col) {
            const int frame_row = point.row[point.index] - common.reach + row - 1;
            const int frame_col = point.col[point.index] - common.reach + col - 1;
            pattern[element] = frame.pixels[frame_col * common.frame_rows + frame_row];
        });
    }

    if (frame.number != 0) {
        const int window_row = point.row[point.index] - common.search;
        const int window_col = point.col[point.index] - common.search;
        each_place(common.window, [&](int element, int row, int col) {
            const int frame_row = row + window_row - 1;
            const int frame_col = col + window_col - 1;
            point.window[element] = frame.pixels[frame_col * common.frame_rows + frame_row];
        });
        __syncthreads();

        each_place(common.pattern, [&](int element, int row, int col) {
            const int from_row = common.pattern.rows - 1 - row;
            const int from_col = common.pattern.rows - 1 - col;
            turned[element] = pattern[from_col * common.pattern.rows + from_row];
        });
        __syncthreads();

        each_place(common.full, [&](int element, int row, int col) {
            const int j = col + 1 + common.full_offset.first_col;
            const int i = row + 1 + common.full_offset.first_row;
            const int first_col = first_common(j, common.window.cols);
            const int last_col = last_common(j, common.pattern.cols);
            const int first_row = first_common(i, common.window.rows);
            const int last_row = last_common(i, common.pattern.rows);
            float s = 0.0f;
            for (int a = first_col; a <= last_col; ++a) {
                const int b = j + 1 - a;
                for (int c = first_row; c <= last_row; ++c) {
                    const int d = i + 1 - c;
                    s += turned[common.pattern.rows * (a - 1) + c - 1] *
                         point.window[common.window.rows * (b - 1) + d - 1];
                }
            }
            point.full[element] = s;
        });
        __syncthreads();

        box_sums(point, point.window, point.sums);
        each(common.window.elements, [&](int i) {
            const float pixel = point.window[i];
            point.window_squares[i] = pixel * pixel;
        });
        __syncthreads();
        box_sums(point, point.window_squares, point.square_sums);

        each(common.sums.elements, [&](int i) {
            const float box = point.sums[i];
            float spread = point.square_sums[i] - box * box / common.pattern.elements;
            if (spread < 0.0f)
                spread = 0.0f;
            point.square_sums[i] = sqrtf(spread);
        });
        __syncthreads();

        each(common.pattern.elements, [&](int i) {
            const float pixel = pattern[i];
            point.pattern_squares[i] = pixel * pixel;
        });
        __syncthreads();
        each(common.pattern.cols, [&](int col) {
            float s = 0.0f;
            for (int i = 0; i < common.pattern.rows; ++i)
                s += pattern[col * common.pattern.rows + i];
            partial[col] = s;
        });
        __syncthreads();
        each(common.pattern.rows, [&](int row) {
            float s = 0.0f;
            for (int i = 0; i < common.pattern.cols; ++i)
                s += point.pattern_squares[row + common.pattern.rows * i];
            partial_squares[row] = s;
        });
        __syncthreads();

        if (thread == 0) {
            sum = 0.0f;
            for (int i = 0; i < common.pattern.cols; ++i)
                sum += partial[i];
        } else if (thread == 1) {
            square_sum = 0.0f;
            for (int i = 0; i < common.pattern.rows; ++i)
                square_sum += partial_squares[i];
        }
        __syncthreads();

        if (thread == 0) {
            const float mean = sum / common.pattern.elements;
            const float variance = square_sum / common.pattern.elements - mean * mean;
            deviation = sqrtf((float)(common.pattern.elements - 1)) * sqrtf(variance);
        }
        __syncthreads();

        each(common.sums.elements, [&](int i) { point.square_sums[i] = point.square_sums[i] * deviation; });
        __syncthreads();
        each(common.full.elements, [&](int i) {
            point.full[i] = point.full[i] - point.sums[i] * sum / common.pattern.elements;
        });
        __syncthreads();
        each(common.sums.elements, [&](int i) { point.square_sums[i] = point.full[i] / point.square_sums[i]; });
        __syncthreads();

        const int middle = common.search + common.reach + 1;
        const int before = frame.number - 1 + point.index * common.frames;
        const int mark_row = middle + point.track_row[before] - point.row[point.index] - 1;
        const int mark_col = middle + point.track_col[before] - point.col[point.index] - 1;
        each(common.marks.elements, [&](int i) {
            point.marks[i] = i == mark_col * common.marks.rows + mark_row ? 1.0f : 0.0f;
        });
        __syncthreads();

        each_place(common.masked, [&](int element, int row, int col) {
            const int j = col + 1 + common.masked_offset.first_col;
            const int i = row + 1 + common.masked_offset.first_row;
            const int first_col = first_common(j, common.mask.cols);
            const int last_col = last_common(j, common.marks.cols);
            const int first_row = first_common(i, common.mask.rows);
            const int last_row = last_common(i, common.marks.rows);
            float s = 0.0f;
            for (int a = first_col; a <= last_col; ++a)
                for (int c = first_row; c <= last_row; ++c)
                    s += point.marks[common.marks.rows * (a - 1) + c - 1];
            point.masked[element] = point.square_sums[element] * s;
        });
        __syncthreads();

        each(common.masked.cols, [&](int col) {
            float best = 0.0f;
            int place = 0;
            for (int row = 0; row < common.masked.rows; ++row) {
                const int i = col * common.masked.rows + row;
                const float coefficient = fabsf(point.masked[i]);
                if (coefficient > best) {
                    best = coefficient;
                    place = i;
                }
            }
            largest[col] = best;
            largest_place[col] = place;
        });
        __syncthreads();

        if (thread == 0) {
            float best = 0.0f;
            int place = 0;
            for (int col = 0; col < common.masked.cols; ++col) {
                if (largest[col] > best) {
                    best = largest[col];
                    place = largest_place[col];
                }
            }
            const int row = place % common.masked.rows + 1;
            const int col = place / common.masked.rows + 1;
            const int down = row - common.pattern.rows - (common.search - common.reach);
            const int across = col - common.pattern.cols - (common.search - common.reach);
            const int slot = frame.number + point.index * common.frames;
            point.track_row[slot] = point.row[point.index] + down;
            point.track_col[slot] = point.col[point.index] + across;
        }
        __syncthreads();
    }

    // Now and then the point's place is written down, and its template drifts towards what is there.
    if (frame.number != 0 && frame.number % common.refresh == 0) {
        const int slot = frame.number + point.index * common.frames;
        point.row[point.index] = point.track_row[slot];
        point.col[point.index] = point.track_col[slot];
        each_place(common.pattern, [&](int element, int row, int col) {
            const int frame_row = point.row[point.index] - common.reach + row - 1;
            const int frame_col = point.col[point.index] - common.reach + col - 1;
            pattern[element] = common.keep * pattern[element] +
                               (1.00 - common.keep) * frame.pixels[frame_col * common.frame_rows + frame_row];
        });
    }
}
