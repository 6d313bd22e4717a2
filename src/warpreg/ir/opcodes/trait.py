"""What the parts of Warpreg ask about an opcode besides its meaning: stated in its row, answered for an instruction.

A row of the table states `Trait` values.  `traits_of` in `table` joins those of the rows that an opcode with its
modifiers may match into one `Traits`, which every instruction has as ``instruction.traits``.  No other module names
opcodes to ask what they do.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Trait(enum.Flag):
    """What an opcode does besides computing results from its operands, lane by lane."""

    NONE = 0
    READS = enum.auto()
    """Reads memory, a texture or a surface."""
    WRITES = enum.auto()
    """Writes memory or a surface."""
    ATOMIC = enum.auto()
    """Reads and writes one location in one step."""
    RETURNS_OLD = enum.auto()
    """An atomic operation whose result is the old value."""
    ELEMENTS = enum.auto()
    """Each lane accesses elements of one type, in consecutive registers, at an address of its own."""
    CHANNELS = enum.auto()
    """A texture fetch: reads coordinates, and writes in pairs of registers the channels that something reads."""
    HANDLE = enum.auto()
    """Takes the handle of a texture, sampler or surface."""
    MATRIX = enum.auto()
    """All lanes hold parts of a matrix, in consecutive registers."""
    COPY = enum.auto()
    """Copies from global to shared memory without a register; its access record is that of the source."""
    ASYNCHRONOUS = enum.auto()
    """Asynchronous copies and what waits for them."""
    COMMITS_COPIES = enum.auto()
    """Ends a group of small copies."""
    AWAITS_COPIES = enum.auto()
    """Waits for groups of small copies."""
    PHASE = enum.auto()
    """Tells whether a phase of an mbarrier is complete, so a warp may wait with it for others."""
    BANK = enum.auto()
    """Loads words of a constant bank (machine code)."""
    COUNTER = enum.auto()
    """Waits for a dependence counter that it names (machine code)."""
    FENCE = enum.auto()
    """Orders the accesses before it and those after it, as other threads see them."""
    PINNED = enum.auto()
    """Keeps its place among accesses to memory."""
    IDLE = enum.auto()
    """Changes nothing where the lanes of a warp run in lock step and memory is always in order, as in the executor."""
    JUMP = enum.auto()
    """Another block follows than the next one: a branch, call or return, of PTX or machine code."""
    BRANCH = enum.auto()
    """A branch of PTX; machine code states its `Flow`."""
    INDIRECT = enum.auto()
    """A branch whose target is in a register, or is picked from a table."""
    EXIT = enum.auto()
    """The lanes end, or return from the kernel, in PTX."""
    TRAP = enum.auto()
    """The launch ends with a fault."""
    CALL = enum.auto()
    BARRIER = enum.auto()
    """A barrier of PTX; its block ends behind it."""
    REUNITES = enum.auto()
    """Lanes of a warp that have parted have to meet there."""
    SERVICE = enum.auto()
    """A service of the host; its block ends behind it."""
    COMMUTES = enum.auto()
    """The first two sources may be exchanged."""
    UNIFORM = enum.auto()
    """The uniform datapath has it, for integers of 32 bits (CUDA Binary Utilities, opcodes of sm_75 with a U)."""
    SUBROUTINE = enum.auto()
    """Calls a subroutine of the machine where it has 64 bits, or where the result is rounded exactly."""
    IGNORES_NAN_BITS = enum.auto()
    """The results do not depend on the bits of a NaN operand, for f32 and f64."""


class Flow(enum.Enum):
    """Where the lanes of a warp go behind an instruction of machine code; its block ends there but for ``NEXT``."""

    NEXT = "next"
    BRANCH = "branch"
    INDIRECT = "indirect"
    EXIT = "exit"
    CONVERGE = "converge"
    BREAK = "break"
    SYNC = "sync"
    YIELD = "yield"
    BARRIER = "barrier"
    TRAP = "trap"


@dataclass(frozen=True, slots=True)
class Traits:
    """Answers about an instruction, from every row that its opcode and modifiers may match.

    ``is_pure``, ``is_removable`` and ``takes_constant`` hold if they hold for each of these rows; the others if they
    hold for one.  An instruction without a row has none but ``has_result``.  An answer without a text is the `Trait` of
    that meaning.
    """

    is_pure: bool = False
    """It only computes results from its operands, lane by lane."""
    is_removable: bool = False
    """It can be removed if nothing reads its results."""
    takes_constant: bool = False
    """The compiler may substitute a constant for one source."""
    is_warp_wide: bool = False
    """Its result depends on other lanes."""
    has_effect: bool = False
    """Memory, control flow, or another effect that a meaning does not describe."""
    has_result: bool = True
    """Its first operand is a destination."""
    reads_carry: bool = False
    writes_carry: bool = False
    takes_address: bool = False
    """A source is an address in memory."""
    is_texture: bool = False
    """The texture unit executes it."""
    is_ordered: bool = False
    """Its access to memory is volatile, or has an order among threads."""
    flow: Flow = Flow.NEXT
    """Where a warp of machine code goes behind it."""
    space: str = ""
    """The state space that it accesses where no modifier names it, as in machine code."""

    reads_memory: bool = False
    writes_memory: bool = False
    is_atomic: bool = False
    returns_old: bool = False
    accesses_elements: bool = False
    fetches_channels: bool = False
    takes_handle: bool = False
    is_matrix: bool = False
    is_copy: bool = False
    is_asynchronous: bool = False
    commits_copies: bool = False
    awaits_copies: bool = False
    awaits_phase: bool = False
    loads_bank: bool = False
    awaits_counter: bool = False
    is_fence: bool = False
    is_pinned: bool = False
    is_idle: bool = False
    jumps: bool = False
    is_branch: bool = False
    is_indirect: bool = False
    is_direct: bool = False
    """A branch of PTX to the label that it names."""
    is_exit: bool = False
    ends_lanes: bool = False
    """Lanes end there, of PTX or machine code."""
    awaits_others: bool = False
    """A warp may wait there for other warps of its thread block: a barrier that is not only arrived at."""
    is_trap: bool = False
    is_call: bool = False
    is_barrier: bool = False
    reunites_lanes: bool = False
    is_service: bool = False
    commutes: bool = False
    is_uniform: bool = False
    calls_subroutine: bool = False
    ignores_nan_bits: bool = False

    accesses_memory: bool = False
    """Reads or writes memory, a texture or a surface."""
    loads: bool = False
    """Reads elements of memory, and writes none."""
    stores: bool = False
    """Writes elements of memory, atomic operations included."""
    stops: bool = False
    """The warp may stop behind it and continue later: barriers and services of the host."""
    ends_block: bool = False
    """A basic block ends behind it: branches, exits and stops."""


ORDERED = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"})
"""Modifiers that name an order of memory."""

ANSWERS = {
    "reads_memory": Trait.READS,
    "writes_memory": Trait.WRITES,
    "accesses_memory": Trait.READS | Trait.WRITES,
    "is_atomic": Trait.ATOMIC,
    "returns_old": Trait.RETURNS_OLD,
    "accesses_elements": Trait.ELEMENTS,
    "fetches_channels": Trait.CHANNELS,
    "takes_handle": Trait.HANDLE,
    "is_matrix": Trait.MATRIX,
    "is_copy": Trait.COPY,
    "is_asynchronous": Trait.ASYNCHRONOUS,
    "commits_copies": Trait.COMMITS_COPIES,
    "awaits_copies": Trait.AWAITS_COPIES,
    "awaits_phase": Trait.PHASE,
    "loads_bank": Trait.BANK,
    "awaits_counter": Trait.COUNTER,
    "is_fence": Trait.FENCE,
    "is_pinned": Trait.PINNED | Trait.FENCE | Trait.BARRIER | Trait.SERVICE,
    "is_idle": Trait.IDLE,
    "jumps": Trait.JUMP,
    "is_branch": Trait.BRANCH,
    "is_indirect": Trait.INDIRECT,
    "is_exit": Trait.EXIT,
    "is_trap": Trait.TRAP,
    "is_call": Trait.CALL,
    "is_barrier": Trait.BARRIER,
    "reunites_lanes": Trait.REUNITES,
    "is_service": Trait.SERVICE,
    "stops": Trait.BARRIER | Trait.SERVICE,
    "ends_block": Trait.BRANCH | Trait.EXIT | Trait.BARRIER | Trait.SERVICE,
    "commutes": Trait.COMMUTES,
    "is_uniform": Trait.UNIFORM,
    "calls_subroutine": Trait.SUBROUTINE,
    "ignores_nan_bits": Trait.IGNORES_NAN_BITS,
}
"""The traits of which one is enough for an answer."""
