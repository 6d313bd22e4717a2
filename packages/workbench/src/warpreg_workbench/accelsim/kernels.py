"""Twelve synthetic kernels, each limited by one resource; the cycles of Accel-Sim are in ``cycles.toml``.

Addresses are above 4 GiB, so that nothing is in the L2 cache at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from warpreg_workbench.accelsim.stream import ZERO, Stream, steps, strided

INPUT, SECOND_INPUT, OUTPUT = 0x7E0000000000, 0x7E0010000000, 0x7E0020000000
Body = Callable[[Stream], None]
Sources = Callable[[int], Sequence[int]]
LINE = 128
TILE = 16
"""Rows and columns of a tile of the matrix product."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A grid of ``blocks`` times ``threads``; ``body`` writes the stream of one warp."""

    body: Body
    blocks: int
    threads: int
    registers: int = 64
    shared_bytes: int = 0
    columns: int = 0

    @property
    def grid(self) -> tuple[int, int]:
        """Width and height; one row unless ``columns`` says otherwise."""
        width = self.columns or self.blocks
        return width, self.blocks // width


def chain(trips: int) -> Body:
    """A chain of dependent additions."""

    def body(warp: Stream) -> None:
        def iteration(_: int) -> None:
            for _ in range(32):
                warp.issue("FADD", [8], [8, 9])

        warp.prologue()
        warp.loop(trips, iteration)
        warp.issue("EXIT")

    return body


def independent(
    opcode: str, count: int, trips: int, sources: Callable[[int], Sequence[int]]
) -> Callable[[Stream], None]:
    """``count`` independent instructions per iteration."""

    def body(warp: Stream) -> None:
        def iteration(_: int) -> None:
            for k in range(count):
                warp.issue(opcode, [40 + k], sources(k))

        warp.prologue()
        warp.loop(trips, iteration)
        warp.issue("EXIT")

    return body


def shared_loads(ways: int) -> Body:
    """Shared loads with a stride of ``ways`` words between lanes, and as many additions that use them."""

    def body(warp: Stream) -> None:
        def iteration(_: int) -> None:
            for k in range(4):
                warp.issue("LDS", [20 + k], [6], strided(4 * k, 4 * ways))
            for k in range(4):
                warp.issue("FADD", [30 + k], [30 + k, 20 + k])

        warp.prologue()
        warp.loop(32, iteration)
        warp.issue("EXIT")

    return body


def barriers(warp: Stream) -> None:
    """A barrier after every four additions; odd warps do six."""

    def iteration(_: int) -> None:
        for k in range(4 + 2 * (warp.warp & 1)):
            warp.issue("FADD", [20 + k], [20 + k, 8])
        warp.issue("BAR")

    warp.prologue()
    warp.repeat(40, iteration)
    warp.issue("EXIT")


def stream(blocks: int, stride: int, trips: int, stores: bool) -> Body:
    """Four loads in flight with ``stride`` words between lanes, then a product and optionally a store for each."""

    def body(warp: Stream) -> None:
        total = warp.block_warps * blocks

        def iteration(i: int) -> None:
            places = [((4 * i + k) * total + warp.index) * LINE * stride for k in range(4)]
            for k, place in enumerate(places):
                warp.issue("LDG", [20 + k], [2], strided(INPUT + place, 4 * stride))
            for k, place in enumerate(places):
                warp.issue("FFMA", [30 + k], [20 + k, 8, 9])
                if stores:
                    warp.issue("STG", [], [4, 30 + k], strided(OUTPUT + place, 4 * stride))
            warp.issue("IADD3", [2], [2, 10, ZERO])

        warp.prologue()
        warp.loop(trips, iteration)
        warp.issue("EXIT")

    return body


def pointer_chase(warp: Stream) -> None:
    """Dependent loads at random addresses in 2 MB; all lanes load the same word."""
    places = _random_numbers(5000 + warp.index, (2 << 20) // LINE)

    def iteration(_: int) -> None:
        warp.issue("LDG", [4], [4], strided(INPUT + LINE * next(places), 0))
        warp.issue("IADD3", [5], [4, 8, ZERO])
        warp.issue("IMAD", [4], [5, 9, 10])

    warp.prologue()
    warp.loop(110, iteration)
    warp.issue("EXIT")


def matrix_product(warp: Stream) -> None:
    """A tiled product of 64 by 64 and 64 by 128 elements, one element per thread; a warp is two rows of a tile."""
    width, depth = 8 * TILE, 64
    row, column = warp.block // 8 * TILE + 2 * warp.warp, warp.block % 8 * TILE

    def two_rows(base: int, pitch: int) -> str:
        return steps([base + r * pitch + 4 * c for r in range(2) for c in range(TILE)])

    def tile(t: int) -> None:
        warp.issue("LDG", [20], [2], two_rows(INPUT + (row * depth + TILE * t) * 4, 4 * depth))
        below = TILE * t + 2 * warp.warp
        warp.issue("LDG", [21], [4], two_rows(SECOND_INPUT + (below * width + column) * 4, 4 * width))
        warp.issue("STS", [], [6, 20], strided(128 * warp.warp, 4))
        warp.issue("STS", [], [6, 21], strided(1024 + 128 * warp.warp, 4))
        warp.issue("BAR")
        for k in range(TILE):
            first = 128 * warp.warp + 4 * k
            warp.issue("LDS", [24 + k % 4], [14], steps([first] * TILE + [first + 64] * TILE))
            warp.issue("LDS", [28 + k % 4], [15], steps([1024 + 64 * k + 4 * c for c in range(TILE)] * 2))
            warp.issue("FFMA", [40], [24 + k % 4, 28 + k % 4, 40])
        warp.issue("BAR")
        warp.issue("IADD3", [2], [2, 10, ZERO])
        warp.issue("IADD3", [4], [4, 11, ZERO])

    warp.prologue()
    warp.issue("MOV", [40], [ZERO])
    warp.loop(depth // TILE, tile)
    warp.issue("STG", [], [12, 40], two_rows(OUTPUT + (row * width + column) * 4, 4 * width))
    warp.issue("EXIT")


def _random_numbers(seed: int, below: int) -> Iterator[int]:
    """Numbers below ``below`` from a 64-bit linear congruential generator with Knuth's MMIX constants."""
    state = (seed * 2654435761 + 12345) % (1 << 64)
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        yield (state >> 33) % below


KERNELS = {
    "alu_dependent_chain_1_warp_per_sm": Kernel(chain(40), 16, 32),
    "alu_dependent_chain_32_warps_per_sm": Kernel(chain(5), 16, 1024),
    "ffma_sources_distinct_banks": Kernel(independent("FFMA", 24, 14, lambda k: (8, 13, 18)), 16, 256),
    "ffma_sources_same_bank": Kernel(independent("FFMA", 24, 14, lambda k: (8, 12, 16)), 16, 256),
    "sfu_bound": Kernel(independent("MUFU.RCP", 16, 12, lambda k: (8 + k % 4,)), 16, 256),
    "shared_load_no_conflict": Kernel(shared_loads(1), 16, 128, shared_bytes=8192),
    "shared_load_8_way_conflict": Kernel(shared_loads(8), 16, 128, shared_bytes=8192),
    "barrier_heavy": Kernel(barriers, 16, 256, shared_bytes=1024),
    "stream_coalesced_cold": Kernel(stream(80, 1, 3, stores=True), 80, 256),
    "stream_stride_8": Kernel(stream(40, 8, 6, stores=False), 40, 256),
    "pointer_chase_2mb": Kernel(pointer_chase, 16, 64),
    "matmul_tiled_16x16": Kernel(matrix_product, 32, 256, registers=48, shared_bytes=2048, columns=8),
}
