"""One thread: its registers, position in the program, local memory and frames of its calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.reference.memory import LOCAL_WINDOW, SHARED_WINDOW, Region, Space
from tests.reference.reader import Function, Statement

if TYPE_CHECKING:
    from tests.reference.calls import Host
    from tests.reference.compiled import CompiledFunction


@dataclass
class Frame:
    """A running function; ``parameters`` holds its ``.param`` variables by name, ``results`` where the caller wants
    them; ``local`` is where its local variables begin, ``top`` where its stack ends.
    """

    function: CompiledFunction
    parameters: dict[str, bytearray]
    results: tuple[str, ...] = ()
    pc: int = 0
    local: int = 0
    top: int = 0
    registers: dict[str, int] = field(default_factory=dict)


@dataclass
class Block:
    """A thread block: its place in the grid, its shared memory and the device's global memory."""

    index: tuple[int, int, int]
    grid: tuple[int, int, int]
    shape: tuple[int, int, int]
    shared: Space
    memory: Space
    host: Host
    dynamic_shared: int = 0
    barriers: dict[int, object] = field(default_factory=dict)
    """The mbarriers in shared memory."""
    reserved_shared: int = 0
    """Where the reserved part of shared memory begins."""
    workspace: int = 0
    """Where blocks that wait for each other meet."""


@dataclass
class Waiting:
    """A thread that stopped before a warp-wide instruction or a barrier."""

    statement: Statement
    resume: Callable[..., None]
    key: tuple[int, ...] = ()
    together: Callable[[list[Thread], dict[int, tuple[int, ...]]], dict[int, tuple[int, ...]]] | None = None
    """What all waiting lanes of a warp, given what each brings by lane, get by lane."""

    @property
    def kind(self) -> str:
        """The opcode, ``bar.warp`` apart from the barriers of the block."""
        return "bar.warp" if "warp" in self.statement.modifiers else self.statement.opcode


class Thread:
    """``number`` is the linear index in the block; lane and warp follow from it."""

    def __init__(self, block: Block, number: int, local_bytes: int) -> None:
        self.block = block
        self.number = number
        self.lane = number % 32
        self.warp = number // 32
        width, height, _ = block.shape
        self.index = (number % width, number // width % height, number // (width * height))
        self.local = Space("local", [Region(0, bytearray(local_bytes))])
        self.frames: list[Frame] = []
        self.carry = 0
        self.waiting: Waiting | None = None
        self.copies: Any = None

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def is_waiting(self) -> bool:
        return self.waiting is not None

    @property
    def finished(self) -> bool:
        return not self.frames

    def memory_of(self, space: str, address: int) -> tuple[Space, int]:
        """The space and the address in it of an access; a generic address tells its space by its window."""
        if space == "shared":
            return self.block.shared, address
        if space == "local":
            return self.local, address
        if space == "" and SHARED_WINDOW <= address < SHARED_WINDOW + 0x0100_0000:
            return self.block.shared, address - SHARED_WINDOW
        if space == "" and LOCAL_WINDOW <= address < LOCAL_WINDOW + 0x0100_0000:
            return self.local, address - LOCAL_WINDOW
        return self.block.memory, address

    def special(self, name: str) -> int:
        """The value of ``%tid.x`` and its kin."""
        base, _, component = name.partition(".")
        axis = "xyz".find(component) if component else 0
        vectors = {
            "%tid": self.index,
            "%ntid": self.block.shape,
            "%ctaid": self.block.index,
            "%nctaid": self.block.grid,
            "%clusterid": self.block.index,
            "%nclusterid": self.block.grid,
        }
        if base in vectors:
            return vectors[base][axis]
        values = {
            "%laneid": self.lane,
            "%warpid": self.warp,
            "%nwarpid": -(-self.block.shape[0] * self.block.shape[1] * self.block.shape[2] // 32),
            "%lanemask_eq": 1 << self.lane,
            "%lanemask_lt": (1 << self.lane) - 1,
            "%lanemask_le": (2 << self.lane) - 1,
            "%lanemask_gt": (0xFFFFFFFF << (self.lane + 1)) & 0xFFFFFFFF,
            "%lanemask_ge": (0xFFFFFFFF << self.lane) & 0xFFFFFFFF,
            "%WARP_SZ": 32,
            "WARP_SZ": 32,
            "%nsmid": 1,
            "%cluster_nctarank": 1,
            "%cluster_nctaid": 1,
            "%dynamic_smem_size": self.block.dynamic_shared,
            "%reserved_smem_offset_1": self.block.reserved_shared,
            "%envreg1": self.block.workspace >> 32,
            "%envreg2": self.block.workspace & 0xFFFFFFFF,
            "%total_smem_size": len(self.block.shared.regions[0].data),
        }
        return values.get(name, values.get(base, 0))


ZERO = (
    "%smid", "%gridid", "%is_explicit_cluster", "%cluster_ctarank", "%cluster_ctaid", "%envreg", "%pm",
    "%reserved_smem_offset", "%aggr_smem_size", "%current_graph_exec",
)  # fmt: skip
"""Special registers that are 0: the machine is one SM, a cluster one thread block, and nothing is counted."""
SPECIALS = (
    "%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%laneid", "%warpid", "%nwarpid", "%lanemask_",
    "%WARP_SZ", "WARP_SZ", "%nsmid", "%cluster_nctarank", "%cluster_nctaid", "%dynamic_smem_size", "%total_smem_size",
    *ZERO,
)  # fmt: skip

__all__ = ["SPECIALS", "Block", "Frame", "Function", "Thread", "Waiting"]
