"""The references of the image and video workloads by hand, and a JPEG scan read back."""

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads.media import image_blur, jpeg, motion_estimation
from warpreg.workloads.media.jpeg import huffman
from warpreg.workloads.workload import Array


def test_blur_of_a_bright_pixel_is_the_product_of_the_weights() -> None:
    image = np.zeros((9, 9, 1), np.uint8)
    image[4, 4] = 255
    found = workloads.find("image-blur").reference({}, {"image": image})["by_texture"][:, :, 0]
    # exp(-d^2 / 5.12) is 1, 0.8226, 0.4578, 0.1724, 0.0439 at distances 0 to 4; with both sides the sum is 3.9935.
    assert image_blur.weights()[4] == pytest.approx(1 / 3.9935, rel=1e-4)
    assert (found[4, 4], found[4, 5], found[5, 5], found[4, 8]) == (16, 13, 11, 1)


def test_vectors_cost_their_exponential_golomb_bits() -> None:
    # Codes 0, 1, 2, 7 and 8 have 1, 3, 3, 7 and 7 bits.
    assert motion_estimation.vector_bits(np.array([[0, 0], [1, -1], [4, -4]])).tolist() == [2, 6, 14]


def test_a_macroblock_that_moved_is_found() -> None:
    rng = np.random.default_rng(2)
    before = rng.integers(0, 256, (48, 48))
    modes, vectors = motion_estimation.search(np.roll(before, (3, -2), axis=(0, 1)), before)
    # What came down by 3 and left by 2 was 3 higher and 2 to the right: in quarters (8, -12), in one piece.
    assert (modes[4], vectors[4].tolist()) == (0, [[8, -12]] * 4)


def test_samples_between_pixels_follow_the_six_taps() -> None:
    ramp = np.tile(np.arange(0, 160, 10), (16, 1))
    planes = motion_estimation.half_pixels(ramp)
    assert planes[:, 8, 7].tolist() == [70, 75, 70, 75]
    # A quarter right of 70 lies between 70 and 75, rounded up; three quarters between 75 and 80.
    x, y = np.array([28, 29, 30, 31]), np.full(4, 32)
    assert motion_estimation.quarter_samples(planes, x, y).tolist() == [70, 73, 75, 78]


def test_the_zigzag_goes_to_and_fro() -> None:
    assert jpeg.zigzag()[:10].tolist() == [0, 1, 8, 16, 9, 2, 3, 10, 17, 24]
    assert jpeg.zigzag()[-3:].tolist() == [55, 62, 63]


def test_grey_and_primary_colours() -> None:
    image = np.zeros((16, 16, 4), np.uint8)
    image[:, :, :3] = 100
    luma, blue, red = jpeg.colour_planes(image)
    assert (luma[0, 0], blue[0, 0], red[0, 0]) == (100, 128, 128)
    image[:, :, :3] = [255, 0, 0]
    # 0.299 * 255 = 76.2; 128 - 0.1687 * 255 = 85; 128 + 0.5 * 255 = 255.5
    luma, blue, red = jpeg.colour_planes(image)
    assert (luma[0, 0], blue[0, 0], red[0, 0]) == (76, 85, 255)


def test_the_transform_of_a_flat_block_is_its_mean() -> None:
    levels = jpeg.quantised(np.full((8, 8), 148), jpeg.divisors(chroma=False))
    # The first frequency is 8 times the mean 20, divided by the step 8.
    assert levels[0, 0] == 20
    assert not levels[0, 1:].any()


def test_huffman_words_are_short_for_what_is_frequent() -> None:
    words = huffman.code_words([8, 0, 4, 2, 1])
    # The reserved symbol takes 11111, so that the rarest has 11110.
    assert [int(word) for word in words] == [0b0 << 8 | 1, 0, 0b10 << 8 | 2, 0b110 << 8 | 3, 0b1110 << 8 | 4]


def test_huffman_words_have_at_most_16_bits() -> None:
    fibonacci = [1, 1]
    while len(fibonacci) < 24:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    lengths = huffman.code_lengths(fibonacci)
    assert max(lengths.values()) <= 16
    assert sum(2.0**-length for length in lengths.values()) < 1


def test_a_scan_can_be_read_back() -> None:
    rng = np.random.default_rng(5)
    levels = rng.integers(-40, 41, (30, 64)) * (rng.random((30, 64)) < 0.1)
    levels[3] = 0
    levels[4, 1:63], levels[4, 63] = 0, 7
    symbols, _, _ = jpeg.symbols_of(levels)
    codes = jpeg.both_codes(np.bincount(symbols, minlength=jpeg.SYMBOLS))
    bits = "".join(f"{word:032b}" for word in jpeg.scan_words(levels))
    assert decoded(bits, codes, len(levels)).tolist() == levels.tolist()


def decoded(bits: str, codes: Array, count: int) -> Array:
    """Levels [count, 64] of a scan, bit by bit."""
    tables = [
        {f"{code >> 8:0{code & 255}b}": number for number, code in enumerate(part.tolist()) if code}
        for part in (codes[: jpeg.DC_SYMBOLS], codes[jpeg.DC_SYMBOLS :])
    ]
    at = 0

    def symbol(table: dict[str, int]) -> int:
        nonlocal at
        start = at
        while bits[start:at] not in table:
            at += 1
        return table[bits[start:at]]

    def number(size: int) -> int:
        nonlocal at
        at += size
        value = int(bits[at - size : at] or "0", 2)
        return value if not size or value >> (size - 1) else value - (1 << size) + 1

    levels = np.zeros((count, 64), int)
    for block in range(count):
        levels[block, 0] = levels[block - 1, 0] * (block > 0) + number(symbol(tables[1]))
        place = 1
        while place < 64:
            run = symbol(tables[0])
            if run == 0:
                break
            place += run >> 4
            levels[block, place] = number(run & 15)
            place += 1
    return levels
