"""jpeg: a colour image to the bits of a baseline JPEG file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.media import photograph
from warpreg.workloads.media.jpeg.huffman import code_words
from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload, blocks

SIDE = 8
PIXELS = SIDE * SIDE
BLOCKS_A_GROUP = 8
DC_SYMBOLS = 256
SYMBOLS = DC_SYMBOLS + 16
ZERO_RUN = 0xF0
THREADS = 64
SCAN_THREADS = 256
PLANES = ("luma", "blue", "red")


def zigzag() -> Array:
    """uint8[64]: places of the coefficients from low frequencies to high, along the diagonals to and fro."""
    rows, cols = np.divmod(np.arange(PIXELS), SIDE)
    along = np.where((rows + cols) % 2 == 0, cols, rows)
    result: Array = np.lexsort((along, rows + cols)).astype(np.uint8)
    return result


def divisors(chroma: bool) -> Array:
    """int32[64], eight times the quantisation steps: coarser for high frequencies, more so for chroma."""
    rows, cols = np.divmod(np.arange(PIXELS), SIDE)
    steps = 8 + 2 * (rows + cols) + (rows * cols) // 3
    result: Array = SIDE * (steps + (6 + rows + cols if chroma else 0))
    return result.astype(np.int32)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: uint8[height, width, 4], red, green, blue, and a channel that is not read."""
    return {"image": photograph(rng, size["height"], size["width"], 4)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Colour conversion, then six launches a component; levels in order of frequency, and the words of each scan."""
    height, width = size["height"], size["width"]
    quad_rows, quad_cols = (SIDE * blocks(extent, 2 * SIDE) for extent in (height, width))
    shapes = dict.fromkeys(PLANES, (quad_rows, quad_cols)) | {"luma": (2 * quad_rows, 2 * quad_cols)}
    planes = {name: device.zeros(shape, np.uint8) for name, shape in shapes.items()}
    grid = blocks(quad_cols, 32), blocks(quad_rows, 8)
    extents = (width, height), (quad_cols, quad_rows)
    image = device.upload(inputs["image"])
    device.launch("convert_colour", grid, (32, 8), image, *extents[0], *planes.values(), *extents[1])
    device.assign("order", zigzag())
    outputs = {}
    for name, plane in planes.items():
        device.assign("divisors", divisors(name != "luma"))
        cols = shapes[name][1] // SIDE
        count = shapes[name][0] // SIDE * cols
        levels = device.zeros((count, PIXELS), np.int16)
        groups = blocks(count, BLOCKS_A_GROUP)
        device.launch("transform_blocks", groups, (SIDE, BLOCKS_A_GROUP), plane, levels, cols, count)
        outputs[f"{name}_levels"] = levels.download()
        outputs[f"{name}_words"] = _entropy_stage(device, levels, count)
    return outputs


def _entropy_stage(device: Device, levels: Buffer, count: int) -> Array:
    """The scan of one component, uint32 words filled from the top."""
    grid = blocks(count, THREADS)
    counts, lengths = device.zeros(SYMBOLS, np.uint32), device.zeros(count, np.uint32)
    device.launch("count_symbols", grid, THREADS, levels, count, counts)
    device.assign("codes", both_codes(counts.download()))
    device.launch("count_bits", grid, THREADS, levels, count, lengths)
    places = device.zeros(count + 1, np.uint32)
    device.launch("place_bits", 1, SCAN_THREADS, lengths, count, places)
    words = device.zeros(blocks(int(places.download()[-1]), 32), np.uint32)
    device.launch("pack_bits", grid, THREADS, levels, count, places, words)
    return words.download()


def both_codes(counts: Array) -> Array:
    """uint32[272]: the code of the runs and sizes, then that of the differences of means."""
    return np.concatenate([code_words(counts[:DC_SYMBOLS].tolist()), code_words(counts[DC_SYMBOLS:].tolist())])


def reference(size: Size, inputs: Arrays) -> Arrays:
    """All blocks at once in integers; the words come from the sorted list of all symbols."""
    outputs = {}
    for name, plane in zip(PLANES, colour_planes(inputs["image"]), strict=True):
        levels = quantised(plane, divisors(name != "luma"))
        outputs[f"{name}_levels"] = levels.astype(np.int16)
        outputs[f"{name}_words"] = scan_words(levels)
    return outputs


def colour_planes(image: Array) -> tuple[Array, Array, Array]:
    """Luma, and blue and red differences at half the resolution; extents are multiples of 16 and 8."""
    padding = [(0, -extent % (2 * SIDE)) for extent in image.shape[:2]]
    r, g, b = np.moveaxis(np.pad(image.astype(np.int32), [*padding, (0, 0)], mode="edge"), 2, 0)[:3]
    luma = (19595 * r + 38470 * g + 7471 * b + 32768) >> 16
    blue = (-11059 * r - 21709 * g + 32768 * b + 8421375) >> 16
    red = (32768 * r - 27439 * g - 5329 * b + 8421375) >> 16
    return luma, _halved(blue), _halved(red)


def _halved(plane: Array) -> Array:
    """Means of 2 x 2 pixels."""
    rows, cols = plane.shape
    result: Array = (plane.reshape(rows // 2, 2, cols // 2, 2).sum(axis=(1, 3)) + 2) >> 2
    return result


def quantised(plane: Array, steps: Array) -> Array:
    """Levels, int[blocks, 64] in order of frequency, of an integer plane."""
    rows, cols = plane.shape[0] // SIDE, plane.shape[1] // SIDE
    tiles = plane.reshape(rows, SIDE, cols, SIDE).transpose(0, 2, 1, 3).reshape(rows * cols, SIDE, SIDE) - 128
    across = _transform(tiles, 2, 11)
    down = _transform(across.transpose(0, 2, 1), -2, 15).transpose(0, 2, 1)
    coefficients = down.reshape(rows * cols, PIXELS)
    levels = np.sign(coefficients) * ((np.abs(coefficients) + steps // 2) // steps)
    result: Array = levels[:, zigzag()]
    return result


def _transform(values: Array, up: int, down: int) -> Array:
    """Frequencies along the last axis, by a matrix in 8192ths; the first and the fifth are sums, scaled by ``up``."""
    positions, frequencies = np.arange(SIDE), np.arange(SIDE)[:, None]
    matrix = np.rint(8192 * np.sqrt(2) * np.cos((2 * positions + 1) * frequencies * np.pi / 16)).astype(np.int64)
    result: Array = (values @ matrix.T + (1 << (down - 1))) >> down
    for frequency, signs in ((0, [1] * SIDE), (4, [1, -1, -1, 1, 1, -1, -1, 1])):
        sums = values @ np.array(signs)
        result[..., frequency] = sums << up if up >= 0 else (sums + (1 << (-up - 1))) >> -up
    return result


def scan_words(levels: Array) -> Array:
    """The packed Huffman code of levels [blocks, 64], made for their own symbols."""
    symbols, extras, sizes = symbols_of(levels)
    codes = both_codes(np.bincount(symbols, minlength=SYMBOLS))[symbols].astype(np.int64)
    lengths = (codes & 0xFF) + sizes
    numbers = (codes >> 8) << sizes | extras
    ends = np.cumsum(lengths)
    behind = np.repeat(ends, lengths) - 1 - np.arange(ends[-1])
    bits = (np.repeat(numbers, lengths) >> behind & 1).astype(np.uint8)
    packed = np.packbits(np.pad(bits, (0, -len(bits) % 32)))
    return packed.view(">u4").astype(np.uint32)


def symbols_of(levels: Array) -> tuple[Array, Array, Array]:
    """Every symbol in the order of the scan, the bits that follow it, and how many they are."""
    block, place = np.nonzero(levels[:, 1:])
    values = levels[:, 1:][block, place]
    first = np.r_[True, block[1:] != block[:-1]][: len(block)]
    zeros = place - np.where(first, -1, np.r_[0, place[:-1]][: len(place)]) - 1
    long_runs = zeros // 16
    ended = np.flatnonzero(levels[:, -1] == 0)
    means = np.diff(levels[:, 0], prepend=0)
    count = len(levels)
    runs, ends = np.zeros(long_runs.sum(), np.int64), np.zeros(len(ended), np.int64)
    blocks_of = np.concatenate([np.arange(count), np.repeat(block, long_runs), block, ended])
    places = np.concatenate([np.full(count, -1), np.repeat(2 * place, long_runs), 2 * place + 1, ends + 2 * PIXELS])
    sized = zeros % 16 << 4 | _bit_lengths(values)
    symbols = np.concatenate([DC_SYMBOLS + _bit_lengths(means), runs + ZERO_RUN, sized, ends])
    numbers = np.concatenate([means, runs, values, ends])
    inorder = np.lexsort((places, blocks_of))
    sizes = _bit_lengths(numbers)
    extras = (numbers - (numbers < 0)) & ((1 << sizes) - 1)
    return symbols[inorder], extras[inorder], sizes[inorder]


def _bit_lengths(numbers: Array) -> Array:
    """Bits of the magnitudes."""
    return np.frexp(np.abs(numbers).astype(np.float64))[1].astype(np.int64)


WORKLOAD = Workload(
    name="jpeg",
    title="JPEG encoder",
    description=(
        "A colour image to the scans of a baseline JPEG file, one a component, with chroma at half the resolution. A"
        " thread converts 2 x 2 pixels. Eight threads transform an 8 x 8 block in integers, rows and then columns,"
        " eight values each in registers and shared memory between, divide by the quantisation steps and store levels"
        " in zigzag order. The entropy stage runs three times through the levels, one thread a block, run by run: to"
        " count symbols with shared atomics, of which the host makes a Huffman code, to count bits, and, after a"
        " prefix sum in one block of threads, to pack them with a bit buffer in a register and atomics where words are"
        " shared. It diverges as the content does, with codes in constant memory and much shifting and masking."
    ),
    suite="media",
    tags=(
        "integer",
        "compute",
        "divergence",
        "shared-memory",
        "barriers",
        "atomics",
        "constant-memory",
        "several-launches",
    ),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    # Small has 332,800 quads of pixels, a thread each.
    sizes={
        "tiny": {"height": 45, "width": 61},
        "small": {"height": 1040, "width": 1280},
        "full": {"height": 2160, "width": 3840},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance=Tolerance(),
)
