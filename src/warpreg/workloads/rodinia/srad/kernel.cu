// Speckle reducing anisotropic diffusion of an ultrasound image, in two versions.
// The first works on a column-major image of any size with one thread a pixel in blocks of 512: neighbours are found
// through tables of row and column numbers in memory, and the statistics of the image come from a reduction that is
// repeated until one block is left. The second has 16 x 16 tiles in shared memory with the edges of their neighbours,
// and leaves the statistics to the host.

#define THREADS 512
#define TILE 16

extern "C" __global__ void
extract(long long pixels, float* image)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels)
        image[i] = expf(image[i] / 255);
}

extern "C" __global__ void
prepare(long long pixels, float* image, float* sums, float* squares)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels) {
        sums[i] = image[i];
        squares[i] = image[i] * image[i];
    }
}

// Sums `count` numbers, `step` apart, and their companions; each block leaves its two sums in its first place.
extern "C" __global__ void
reduce(long long pixels, int count, int step, float* sums, float* squares)
{
    const int bx = blockIdx.x;
    const int tx = threadIdx.x;
    const int i = bx * THREADS + tx;
    const int in_last = THREADS - (gridDim.x * THREADS - count);
    int power = 0;

    __shared__ float partial[THREADS];
    __shared__ float partial_squares[THREADS];

    if (i < count) {
        partial[tx] = sums[i * step];
        partial_squares[tx] = squares[i * step];
    }
    __syncthreads();

    if (in_last == THREADS) {
        for (int width = 2; width <= THREADS; width = 2 * width) {
            if ((tx + 1) % width == 0) {
                partial[tx] = partial[tx] + partial[tx - width / 2];
                partial_squares[tx] = partial_squares[tx] + partial_squares[tx - width / 2];
            }
            __syncthreads();
        }
        if (tx == THREADS - 1) {
            sums[bx * step * THREADS] = partial[tx];
            squares[bx * step * THREADS] = partial_squares[tx];
        }
    } else {
        if (bx != gridDim.x - 1) {
            for (int width = 2; width <= THREADS; width = 2 * width) {
                if ((tx + 1) % width == 0) {
                    partial[tx] = partial[tx] + partial[tx - width / 2];
                    partial_squares[tx] = partial_squares[tx] + partial_squares[tx - width / 2];
                }
                __syncthreads();
            }
            if (tx == THREADS - 1) {
                sums[bx * step * THREADS] = partial[tx];
                squares[bx * step * THREADS] = partial_squares[tx];
            }
        } else {
            // A tree over the largest power of two that is there; one thread adds the rest.
            for (int width = 1; width <= THREADS; width = 2 * width)
                if (in_last >= width)
                    power = width;
            for (int width = 2; width <= power; width = 2 * width) {
                if ((tx + 1) % width == 0 && tx < power) {
                    partial[tx] = partial[tx] + partial[tx - width / 2];
                    partial_squares[tx] = partial_squares[tx] + partial_squares[tx - width / 2];
                }
                __syncthreads();
            }
            if (tx == power - 1) {
                for (int rest = bx * THREADS + power; rest < bx * THREADS + in_last; rest++) {
                    partial[tx] = partial[tx] + sums[rest * step];
                    partial_squares[tx] = partial_squares[tx] + squares[rest * step];
                }
                sums[bx * step * THREADS] = partial[tx];
                squares[bx * step * THREADS] = partial_squares[tx];
            }
        }
    }
}

// Differences to the four neighbours and the diffusion coefficient of a pixel.
extern "C" __global__ void
srad(float lambda, int rows, int cols, long long pixels, int* north_row, int* south_row, int* east_col, int* west_col,
     float* north, float* south, float* east, float* west, float noise, float* coefficient, float* image)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels) {
        const int row = i % rows;
        const int col = i / rows;
        const float here = image[i];
        const float n = image[north_row[row] + rows * col] - here;
        const float s = image[south_row[row] + rows * col] - here;
        const float w = image[row + rows * west_col[col]] - here;
        const float e = image[row + rows * east_col[col]] - here;

        const float gradient = (n * n + s * s + w * w + e * e) / (here * here);
        const float laplacian = (n + s + w + e) / here;
        const float numerator = (0.5 * gradient) - ((1.0 / 16.0) * (laplacian * laplacian));
        float denominator = 1 + (0.25 * laplacian);
        const float variation = numerator / (denominator * denominator);
        denominator = (variation - noise) / (noise * (1 + noise));
        float c = 1.0 / (1.0 + denominator);
        if (c < 0)
            c = 0;
        else if (c > 1)
            c = 1;

        north[i] = n;
        south[i] = s;
        west[i] = w;
        east[i] = e;
        coefficient[i] = c;
    }
}

extern "C" __global__ void
srad2(float lambda, int rows, int cols, long long pixels, int* north_row, int* south_row, int* east_col, int* west_col,
      float* north, float* south, float* east, float* west, float* coefficient, float* image)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels) {
        const int row = i % rows;
        const int col = i / rows;
        const float c_north = coefficient[i];
        const float c_south = coefficient[south_row[row] + rows * col];
        const float c_west = coefficient[i];
        const float c_east = coefficient[row + rows * east_col[col]];
        const float divergence = c_north * north[i] + c_south * south[i] + c_west * west[i] + c_east * east[i];
        image[i] = image[i] + 0.25 * lambda * divergence;
    }
}

extern "C" __global__ void
compress(long long pixels, float* image)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels)
        image[i] = logf(image[i]) * 255;
}

extern "C" __global__ void
srad_tiles_1(float* east_out, float* west_out, float* north_out, float* south_out, float* image, float* coefficient,
             int cols, int rows, float noise)
{
    const int bx = blockIdx.x;
    const int by = blockIdx.y;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;

    const int corner = cols * TILE * by + TILE * bx;
    const int at = corner + cols * ty + tx;
    const int above = by == 0 ? corner + tx : corner + tx - cols;
    const int below = corner + tx + cols * (by == gridDim.y - 1 ? TILE - 1 : TILE);
    const int left = bx == 0 ? corner + cols * ty : corner + cols * ty - 1;
    const int right = corner + cols * ty + (bx == gridDim.x - 1 ? TILE - 1 : TILE);

    __shared__ float tile[TILE][TILE];
    __shared__ float result[TILE][TILE];
    __shared__ float north[TILE][TILE];
    __shared__ float south[TILE][TILE];
    __shared__ float east[TILE][TILE];
    __shared__ float west[TILE][TILE];

    north[ty][tx] = image[above];
    south[ty][tx] = image[below];
    __syncthreads();
    west[ty][tx] = image[left];
    east[ty][tx] = image[right];
    __syncthreads();
    tile[ty][tx] = image[at];
    __syncthreads();

    const float here = tile[ty][tx];
    float n, s, w, e;
    if (ty == 0 && tx == 0) {
        n = north[ty][tx] - here;
        s = tile[ty + 1][tx] - here;
        w = west[ty][tx] - here;
        e = tile[ty][tx + 1] - here;
    } else if (ty == 0 && tx == TILE - 1) {
        n = north[ty][tx] - here;
        s = tile[ty + 1][tx] - here;
        w = tile[ty][tx - 1] - here;
        e = east[ty][tx] - here;
    } else if (ty == TILE - 1 && tx == TILE - 1) {
        n = tile[ty - 1][tx] - here;
        s = south[ty][tx] - here;
        w = tile[ty][tx - 1] - here;
        e = east[ty][tx] - here;
    } else if (ty == TILE - 1 && tx == 0) {
        n = tile[ty - 1][tx] - here;
        s = south[ty][tx] - here;
        w = west[ty][tx] - here;
        e = tile[ty][tx + 1] - here;
    } else if (ty == 0) {
        n = north[ty][tx] - here;
        s = tile[ty + 1][tx] - here;
        w = tile[ty][tx - 1] - here;
        e = tile[ty][tx + 1] - here;
    } else if (tx == TILE - 1) {
        n = tile[ty - 1][tx] - here;
        s = tile[ty + 1][tx] - here;
        w = tile[ty][tx - 1] - here;
        e = east[ty][tx] - here;
    } else if (ty == TILE - 1) {
        n = tile[ty - 1][tx] - here;
        s = south[ty][tx] - here;
        w = tile[ty][tx - 1] - here;
        e = tile[ty][tx + 1] - here;
    } else if (tx == 0) {
        n = tile[ty - 1][tx] - here;
        s = tile[ty + 1][tx] - here;
        w = west[ty][tx] - here;
        e = tile[ty][tx + 1] - here;
    } else {
        n = tile[ty - 1][tx] - here;
        s = tile[ty + 1][tx] - here;
        w = tile[ty][tx - 1] - here;
        e = tile[ty][tx + 1] - here;
    }

    const float gradient = (n * n + s * s + w * w + e * e) / (here * here);
    const float laplacian = (n + s + w + e) / here;
    const float numerator = (0.5 * gradient) - ((1.0 / 16.0) * (laplacian * laplacian));
    float denominator = 1 + (0.25 * laplacian);
    const float variation = numerator / (denominator * denominator);
    denominator = (variation - noise) / (noise * (1 + noise));
    const float c = 1.0 / (1.0 + denominator);
    if (c < 0)
        result[ty][tx] = 0;
    else if (c > 1)
        result[ty][tx] = 1;
    else
        result[ty][tx] = c;
    __syncthreads();

    coefficient[at] = result[ty][tx];
    east_out[at] = e;
    west_out[at] = w;
    south_out[at] = s;
    north_out[at] = n;
}

extern "C" __global__ void
srad_tiles_2(float* east_in, float* west_in, float* north_in, float* south_in, float* image, float* coefficient,
             int cols, int rows, float lambda, float noise)
{
    const int bx = blockIdx.x;
    const int by = blockIdx.y;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;

    const int corner = cols * TILE * by + TILE * bx;
    const int at = corner + cols * ty + tx;
    const int below = corner + tx + cols * (by == gridDim.y - 1 ? TILE - 1 : TILE);
    const int right = corner + cols * ty + (bx == gridDim.x - 1 ? TILE - 1 : TILE);

    __shared__ float south[TILE][TILE];
    __shared__ float east[TILE][TILE];
    __shared__ float tile[TILE][TILE];
    __shared__ float result[TILE][TILE];
    __shared__ float pixels[TILE][TILE];

    pixels[ty][tx] = image[at];
    __syncthreads();
    south[ty][tx] = coefficient[below];
    __syncthreads();
    east[ty][tx] = coefficient[right];
    __syncthreads();
    tile[ty][tx] = coefficient[at];
    __syncthreads();

    const float c_north = tile[ty][tx];
    const float c_west = c_north;
    float c_south, c_east;
    if (ty == TILE - 1 && tx == TILE - 1) {
        c_south = south[ty][tx];
        c_east = east[ty][tx];
    } else if (tx == TILE - 1) {
        c_south = tile[ty + 1][tx];
        c_east = east[ty][tx];
    } else if (ty == TILE - 1) {
        c_south = south[ty][tx];
        c_east = tile[ty][tx + 1];
    } else {
        c_south = tile[ty + 1][tx];
        c_east = tile[ty][tx + 1];
    }

    const float flow = c_north * north_in[at] + c_south * south_in[at] + c_west * west_in[at] + c_east * east_in[at];
    result[ty][tx] = pixels[ty][tx] + 0.25 * lambda * flow;
    __syncthreads();
    image[at] = result[ty][tx];
}
