"""spmv: products of a sparse matrix, in jagged diagonals, and a vector."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK, WARP = 192, 32


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """A matrix by rows: ``row_offsets``: int32[rows + 1], ``columns``: int32[n], ``values``: float32[n]; ``vector``.

    As in a finite-element mesh, rows have from one to ``highest_length`` elements, around half of that, within a band
    around the diagonal. The magnitudes of a row sum to one.
    """
    rows, highest = size["rows"], size["highest_length"]
    lengths = np.clip(np.rint(rng.normal(highest / 2, highest / 6, rows)), 1, min(highest, rows)).astype(np.int32)
    row_offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    row = np.repeat(np.arange(rows), lengths)
    columns = np.clip(row + rng.integers(-size["band"], size["band"] + 1, row.size), 0, rows - 1).astype(np.int32)
    weights = rng.uniform(0.5, 1.0, row.size)
    signs = rng.choice([-1.0, 1.0], row.size)
    values = signs * weights / np.add.reduceat(weights, row_offsets[:-1])[row]
    vector = rng.uniform(-1, 1, rows)
    return {
        "row_offsets": row_offsets,
        "columns": columns,
        "values": values.astype(np.float32),
        "vector": vector.astype(np.float32),
    }


def jagged_diagonals(inputs: Arrays) -> dict[str, Array]:
    """The matrix as the kernel reads it.

    ``permutation``: int32[rows], the row in each place, longest first; ``lengths``: int32[warps], the longest row of
    each 32, rounded up to even; ``starts``: int32[longest], where the k-th elements of all rows start in ``columns``
    and ``values``, which are padded with zeros in column zero.
    """
    row_offsets = inputs["row_offsets"].astype(np.int64)
    row_lengths = np.diff(row_offsets)
    permutation = np.argsort(-row_lengths, kind="stable")
    longest = row_lengths[permutation][::WARP]
    lengths = longest + longest % 2
    widths = np.minimum(np.array([np.count_nonzero(lengths > k) for k in range(lengths[0])]) * WARP, row_lengths.size)
    starts = np.cumsum(widths) - widths

    place = np.empty_like(permutation)
    place[permutation] = np.arange(permutation.size)
    row = np.repeat(np.arange(row_lengths.size), row_lengths)
    k = np.arange(row.size) - row_offsets[row]
    columns, values = np.zeros(widths.sum(), np.int32), np.zeros(widths.sum(), np.float32)
    columns[starts[k] + place[row]] = inputs["columns"]
    values[starts[k] + place[row]] = inputs["values"]
    found = {"permutation": permutation, "lengths": lengths, "starts": starts}
    return {name: array.astype(np.int32) for name, array in found.items()} | {"columns": columns, "values": values}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """The same product ``products`` times, a launch each; ``result``: float32[rows]."""
    rows = size["rows"]
    matrix = jagged_diagonals(inputs)
    device.assign("lengths", matrix["lengths"])
    device.assign("starts", matrix["starts"])
    arrays = [device.upload(matrix[name]) for name in ("values", "columns", "permutation")]
    vector, result = device.upload(inputs["vector"]), device.zeros(rows, np.float32)
    for _ in range(size["products"]):
        device.launch("spmv", blocks(rows, BLOCK), BLOCK, rows, *arrays, vector, result)
    return {"result": result.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The product row by row, in float64."""
    products = inputs["values"].astype(np.float64) * inputs["vector"][inputs["columns"]]
    return {"result": np.add.reduceat(products, inputs["row_offsets"][:-1]).astype(np.float32)}


WORKLOAD = Workload(
    name="spmv",
    title="Sparse matrix and vector",
    description=(
        "Repeated products of a sparse matrix and a vector. Rows are sorted by length, padded within a warp to an even"
        " length and stored transposed, so that a thread owns a row and warps read values and columns side by side; the"
        " vector is gathered. Starts and row lengths come from constant memory. The loop takes two elements at a time"
        " into two sums and is software-pipelined by hand: the next two column numbers are in flight for an iteration,"
        " so that they, the sums and the addresses live across the back edge. Threads of a warp run equally long."
    ),
    suite="parboil",
    tags=("float", "memory", "constant-memory", "iterative", "several-launches"),
    papers=("regmutex",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"rows": 1_001, "highest_length": 20, "band": 60, "products": 1},
        "small": {"rows": 332_003, "highest_length": 30, "band": 2_000, "products": 1},
        "full": {"rows": 44_609, "highest_length": 100, "band": 2_000, "products": 50},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # The magnitudes of a row sum to one and those of the vector are below one, so partial sums are, of even elements
    # and of odd ones: each of up to 101 additions is wrong by at most 2^-25, the values themselves by 2^-24 of a sum
    # of one.
    tolerance=Tolerance(absolute=3e-6),
)
