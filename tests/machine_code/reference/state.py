"""What lanes, warps and blocks hold while a launch is interpreted."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.machine_code.reference.operands import TRUE
from tests.reference.memory import ReferenceFault
from tests.reference.textures import ReferenceTexture

SHARED_WINDOW = 0x7F00_0000_0000
LOCAL_WINDOW = 0x7E00_0000_0000
WINDOW_BYTES = 1 << 24
LOCAL_BYTES = 1 << 14
"""Of each thread; the stack begins at the end."""


@dataclass
class Bytes:
    """Memory from ``base`` on."""

    name: str
    base: int
    data: bytearray

    def at(self, address: int, size: int) -> int:
        place = address - self.base
        if address % size:
            raise ReferenceFault(f"misaligned access of {size} bytes at {self.name} {address:#x}")
        if not 0 <= place <= len(self.data) - size:
            raise ReferenceFault(f"access of {size} bytes outside {self.name} at {address:#x}")
        return place

    def load(self, address: int, size: int) -> int:
        place = self.at(address, size)
        return int.from_bytes(self.data[place : place + size], "little")

    def store(self, address: int, size: int, value: int) -> None:
        place = self.at(address, size)
        self.data[place : place + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


@dataclass(eq=False)
class Barrier:
    """A convergence barrier: the lanes that still have to come."""

    members: set[Lane]


@dataclass(eq=False)
class Lane:
    """A thread.  Uniform registers are kept for each lane: where code is uniform they are equal."""

    warp: Warp
    index: int
    thread: tuple[int, int, int]
    r: list[int] = field(default_factory=lambda: [0] * 256)
    u: list[int] = field(default_factory=lambda: [0] * 64)
    p: list[bool] = field(default_factory=lambda: [False] * TRUE + [True])
    up: list[bool] = field(default_factory=lambda: [False] * TRUE + [True])
    b: dict[int, Barrier] = field(default_factory=dict)
    local: Bytes = field(default_factory=lambda: Bytes("local", 0, bytearray(LOCAL_BYTES)))
    results: list[int] = field(default_factory=list)
    """Of reductions at barriers, the oldest first, that have not been fetched."""
    landing: int = 0
    """Where a lane goes on after a region that lanes execute together."""


@dataclass(eq=False)
class Group:
    """Lanes that execute together."""

    lanes: list[Lane]
    pc: int

    def part(self, lanes: list[Lane], pc: int) -> list[Group]:
        """A group of some lanes, or none if there are no lanes."""
        return [Group(lanes, pc)] if lanes else []


@dataclass(eq=False)
class Warp:
    """Lanes that have not exited; groups that can go on; lanes that wait for others."""

    block: Block
    lanes: list[Lane] = field(default_factory=list)
    ready: list[Group] = field(default_factory=list)
    meeting: dict[Lane, tuple[Barrier, int]] = field(default_factory=dict)
    """Lanes at a ``BSYNC``, and where they go on."""
    gathering: dict[Lane, tuple[int, int, bool]] = field(default_factory=dict)
    """Lanes at a ``WARPSYNC``: the mask, where they go on, and whether a collective region follows."""
    waits: bool = False
    """A phase of an mbarrier is not over, so that other warps have their turn."""


@dataclass(eq=False)
class Arrivals:
    """Who came to a barrier of the block."""

    lanes: set[Lane] = field(default_factory=set)
    waiting: list[tuple[Warp, Group]] = field(default_factory=list)
    votes: list[bool] = field(default_factory=list)
    count: int = 0
    """Threads that it takes, or 0 for all."""
    reduction: str = ""


@dataclass(eq=False)
class Block:
    """A thread block: index, extents, shared memory, barriers."""

    launch: Launch
    index: tuple[int, int, int]
    shared: Bytes
    warps: list[Warp] = field(default_factory=list)
    barriers: dict[int, Arrivals] = field(default_factory=dict)


@dataclass(eq=False)
class Launch:
    """``constants`` are the constant banks by number, ``textures`` those of handles."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    memory: Bytes
    constants: dict[int, bytes]
    shared_bytes: int
    textures: dict[int, ReferenceTexture] = field(default_factory=dict)
    steps: int = 0
