// Finding and tracking white blood cells in video microscopy.
// `gicov` scores every pixel as the centre of a dark round cell: along circles of several radii the gradient should
// point outwards everywhere, so its radial part should have a large mean and a small variance. A block is one column
// of the frame. `dilate` takes the largest score in a disk around each pixel; a pixel that equals its disk is a cell.
// `imgvf` spreads the edges of one tracked cell into a motion gradient vector field: a block is one cell, whose field
// stays in shared memory from the first iteration to convergence.

#define CIRCLES 7
#define POINTS 150
#define MARGIN 22
#define STRUCTURE 25
#define CELL_ROWS 41
#define CELL_COLS 81
#define THREADS 320
#define HALF 256

#define ONE_OVER_PI (1.0 / 3.14159)
#define MU 0.5
#define LAMBDA (8.0 * MU + 1.0)

__constant__ float sine[POINTS];
__constant__ float cosine[POINTS];
__constant__ int offset_x[CIRCLES * POINTS];
__constant__ int offset_y[CIRCLES * POINTS];
__constant__ float structure[STRUCTURE * STRUCTURE];

extern "C" __global__ void gicov(cudaTextureObject_t gradient_x, cudaTextureObject_t gradient_y, int rows, float* scores)
{
    const int col = blockIdx.x + MARGIN;
    const int row = threadIdx.x + MARGIN;
    float best = 0.0f;

    for (int circle = 0; circle < CIRCLES; ++circle) {
        float sum = 0.0f;
        float mean = 0.0f;
        float squares = 0.0f;
        for (int point = 0; point < POINTS; ++point) {
            const int y = row + offset_y[circle * POINTS + point];
            const int x = col + offset_x[circle * POINTS + point];
            const int pixel = x * rows + y;
            const float radial = tex1Dfetch<float>(gradient_x, pixel) * cosine[point] +
                                 tex1Dfetch<float>(gradient_y, pixel) * sine[point];
            sum += radial;
            const float distance = radial - mean;
            mean += distance / (float)(point + 1);
            squares += distance * (radial - mean);
        }
        mean = sum / (float)POINTS;
        const float variance = squares / (float)(POINTS - 1);
        const float score = mean * mean / variance;
        if (score > best)
            best = score;
    }
    scores[col * rows + row] = best;
}

// The scores lie column by column, their maxima row by row.
extern "C" __global__ void dilate(cudaTextureObject_t scores, int rows, int cols, int structure_rows,
                                  int structure_cols, float* maxima)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread % rows;
    const int col = thread / rows;
    if (col >= cols)
        return;
    const int middle_row = structure_rows / 2;
    const int middle_col = structure_cols / 2;
    float largest = 0.0f;

    for (int i = 0; i < structure_rows; ++i) {
        const int y = row - middle_row + i;
        if (y >= 0 && y < rows) {
            for (int j = 0; j < structure_cols; ++j) {
                const int x = col - middle_col + j;
                if (x >= 0 && x < cols && structure[i * structure_cols + j] != 0.0f) {
                    const float score = tex1Dfetch<float>(scores, x * rows + y);
                    if (score > largest)
                        largest = score;
                }
            }
        }
    }
    maxima[row * cols + col] = largest;
}

// A smooth step from 0 to 1.
__device__ __forceinline__ float heaviside(float x)
{
    return atan(x) * ONE_OVER_PI + 0.5;
}

// One Jacobi step of the field of a cell after the other, in tiles of one element a thread. The new values of a tile
// wait in `waiting` until the next tile, which still needs the old ones, has been computed.
extern "C" __global__ void imgvf(float** fields, float** images, int* heights, int* widths, float vx, float vy,
                                 float sharpness, int most_iterations, float cutoff)
{
    __shared__ float field[CELL_ROWS * CELL_COLS];
    __shared__ float waiting[THREADS];
    __shared__ int converged;

    float* stored = fields[blockIdx.x];
    const float* image = images[blockIdx.x];
    const int height = heights[blockIdx.x];
    const int width = widths[blockIdx.x];
    const int thread = threadIdx.x;
    const int elements = height * width;
    const int tiles = (elements + THREADS - 1) / THREADS;

    for (int i = thread; i < elements; i += THREADS)
        field[i] = stored[i];
    if (thread == 0)
        converged = 0;
    __syncthreads();

    const float over_width = 1.0f / (float)width;
    const int first_col = thread % width;
    const int cols_a_tile = THREADS % width;
    const float steepness = 1.0f / sharpness;
    const float pull = 1.0f / LAMBDA;

    for (int iteration = 0; !converged && iteration < most_iterations; ++iteration) {
        float change = 0.0f;
        int row = 0;
        int col = first_col - cols_a_tile;

#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            const int row_before = row;
            const int col_before = col;
            // The quotient is exact: the widest field is far narrower than 2^12.
            row = (int)((float)(thread + tile * THREADS) * over_width + 0.5f * over_width);
            col += cols_a_tile;
            if (col >= width)
                col -= width;
            float now = 0.0f;
            float old = 0.0f;

            if (row < height) {
                const int above = (row == 0 ? 0 : row - 1) * width;
                const int below = (row == height - 1 ? height - 1 : row + 1) * width;
                const int here = row * width;
                const int left = col == 0 ? 0 : col - 1;
                const int right = col == width - 1 ? width - 1 : col + 1;
                old = field[here + col];
                const float n = field[above + col] - old;
                const float s = field[below + col] - old;
                const float w = field[here + left] - old;
                const float e = field[here + right] - old;
                const float ne = field[above + right] - old;
                const float se = field[below + right] - old;
                const float nw = field[above + left] - old;
                const float sw = field[below + left] - old;

                float flow = heaviside(n * -vy * steepness) * n;
                flow += heaviside(s * vy * steepness) * s;
                flow += heaviside(w * -vx * steepness) * w;
                flow += heaviside(e * vx * steepness) * e;
                flow += heaviside(ne * (vx - vy) * steepness) * ne;
                flow += heaviside(se * (vx + vy) * steepness) * se;
                flow += heaviside(nw * (-vx - vy) * steepness) * nw;
                flow += heaviside(sw * (-vx + vy) * steepness) * sw;

                now = old + (float)(MU / LAMBDA) * flow;
                const float edge = image[here + col];
                now -= pull * edge * (now - edge);
            }
            __syncthreads();

            if (tile > 0 && row_before < height)
                field[row_before * width + col_before] = waiting[thread];
            if (tile < tiles - 1)
                waiting[thread] = now;
            else if (row < height)
                field[row * width + col] = now;
            change += fabsf(now - old);
            __syncthreads();
        }

        waiting[thread] = change;
        __syncthreads();
        if (thread >= HALF)
            waiting[thread - HALF] += waiting[thread];
        __syncthreads();
        for (int half = HALF / 2; half > 0; half /= 2) {
            if (thread < half)
                waiting[thread] += waiting[thread + half];
            __syncthreads();
        }
        if (thread == 0 && waiting[0] / (float)elements < cutoff)
            converged = 1;
        __syncthreads();
    }

    for (int i = thread; i < elements; i += THREADS)
        stored[i] = field[i];
}
