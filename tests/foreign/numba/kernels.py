"""Numba kernels and their types; ``python kernels.py`` writes their PTX (numba-cuda and NVVM, no GPU)."""

import math
from pathlib import Path

import numba_cuda
from numba import cuda, float32, float64, int32, int64, uint8


def scaled_sum(a, x, y, out):
    at = cuda.grid(1)
    if at < out.size:
        out[at] = a * x[at] + y[at]


def mean_filter(image, out):
    row, column = cuda.grid(2)
    rows, columns = image.shape
    if row < rows and column < columns:
        total, count = 0.0, 0
        for r in range(max(0, row - 1), min(rows, row + 2)):
            for c in range(max(0, column - 1), min(columns, column + 2)):
                total += image[r, c]
                count += 1
        out[row, column] = total / count


def block_maximum(x, out):
    best = cuda.shared.array(64, int32)
    lane = cuda.threadIdx.x
    at = cuda.grid(1)
    best[lane] = x[at] if at < x.size else -(2**31)
    cuda.syncthreads()
    step = 32
    while step > 0:
        if lane < step:
            best[lane] = max(best[lane], best[lane + step])
        cuda.syncthreads()
        step //= 2
    if lane == 0:
        cuda.atomic.max(out, 0, best[0])


def histogram(x, bins):
    for at in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, x[at] >> 4, 1)


def distances(points, out):
    at = cuda.grid(1)
    if at < points.shape[0]:
        mine = cuda.local.array(3, float64)
        for axis in range(3):
            mine[axis] = points[at, axis]
        least = 1e300
        for other in range(points.shape[0]):
            if other != at:
                total = 0.0
                for axis in range(3):
                    total += (points[other, axis] - mine[axis]) ** 2
                least = min(least, math.sqrt(total))
        out[at] = least


KERNELS = {
    scaled_sum: ((float32, float32[::1], float32[::1], float32[::1]), ((7, 5), (8, 0), (9, 0))),
    mean_filter: ((float32[:, ::1], float32[:, ::1]), ((7, 5),)),
    block_maximum: ((int32[::1], int32[::1]), ((8, 0),)),
    histogram: ((uint8[::1], int64[::1]), ((9, 0),)),
    distances: ((float64[:, ::1], float64[::1]), ((8, 0),)),
}
"""Types of the arguments and compute capabilities; from one to the next only the .target line changes."""


def main() -> None:
    for function, (types, targets) in KERNELS.items():
        for major, minor in targets:
            text, _ = cuda.compile_ptx(function, types, cc=(major, minor))
            lines = [line for line in text.split("\n") if line.strip() and not line.strip().startswith("//")]
            header = f"// kernels.py by numba-cuda {numba_cuda.__version__}: python kernels.py"
            path = Path(__file__).with_name(f"{function.__name__}_sm_{major}{minor}.ptx")
            path.write_text("\n".join([header, *lines]) + "\n")


if __name__ == "__main__":
    main()
