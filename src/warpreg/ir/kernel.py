"""A kernel as basic blocks: input of analyses, compiler and executor.

The same class holds virtual registers (from PTX) and architected ones (after allocation).  Block ids are positions and
do not change in any pass, so one recorded path serves all versions of a kernel.  A block ends at a branch, at an exit,
*after a barrier or a host service* (so that a warp can stop there), or where another block begins.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from warpreg.ir.errors import Location
from warpreg.ir.html_table import html_table
from warpreg.ir.instruction import Instruction
from warpreg.ir.module import Module, Variable
from warpreg.ir.operands import Register, Special
from warpreg.ir.types import Type

GRID_WORKSPACE = frozenset({"%envreg1", "%envreg2"})
"""Registers with the address of the workspace of a grid that waits for all its thread blocks, upper half first
(``driver_abi.h`` of CUDA's cooperative groups).
"""


RESERVED_SHARED = frozenset({"%reserved_smem_offset_1"})
RESERVED_SHARED_BYTES = 1024
"""Reserved shared memory of a thread block in bytes (``%reserved_smem_offset_cap`` in ptxas's code for sm_80 and
later).
"""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter in constant bank 0: ``offset``, ``bytes`` and ``alignment`` as PTX lays them out."""

    name: str
    type: Type
    offset: int
    bytes: int
    is_pointer: bool = False
    alignment: int = 1

    @property
    def is_structure(self) -> bool:
        """Whether it is bytes without a type: a structure, an array, or a number of 128 bits."""
        return self.bytes != self.type.bytes or self.type.bits > 64


@dataclass(frozen=True, slots=True)
class Placement:
    """Location of a shared, local or module variable: byte ``offset`` in its space (module variables: in bank 4)."""

    variable: Variable
    space: str
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block.

    ``successors``: (target,) of an unconditional branch or fall-through, (taken, fall-through) of a guarded branch, the
    table of ``brx.idx``, (fall-through,) of a guarded exit, barrier or service, () of an exit.  ``is_edge``: it was put
    on a control-flow edge after compilation (`warpreg.ir.edges`).
    """

    index: int
    label: str
    instructions: tuple[Instruction, ...]
    successors: tuple[int, ...]
    is_edge: bool = False

    @property
    def terminator(self) -> Instruction | None:
        """The last instruction if it is a branch, exit, barrier or host service."""
        last = self.instructions[-1] if self.instructions else None
        return last if last and last.traits.ends_block else None


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel; compared and hashed by identity, so analyses are cached with it."""

    name: str
    parameters: tuple[Parameter, ...]
    blocks: tuple[Block, ...]
    module: Module
    """Contains the variables that bank 4 addresses."""
    placements: tuple[Placement, ...] = ()
    shared_bytes: int = 0
    """Static shared memory."""
    dynamic_shared_offset: int = 0
    """Start of ``extern`` shared arrays."""
    local_bytes: int = 0
    """Local memory per thread, spills included."""
    register_count: int = 0
    """Registers used by the code, 0 with virtual registers."""
    register_demand: int = 0
    """The allocation of a thread, the target's own registers included."""
    uniform_count: int = 0
    """Uniform registers used."""
    predicate_count: int = 0
    """Predicates used by the code, 0 with virtual registers."""
    address_bits: int = 64
    """32 if addresses are computed in single registers, which requires memory below 4 GB."""
    rolled: frozenset[str] = frozenset()
    """Labels of blocks that begin with the pragma ``nounroll``."""
    location: Location | None = None
    machine_code: str = ""
    """Architecture of the vendor's machine code (``sm_80``); empty for code of this compiler."""
    block_addresses: tuple[int, ...] = ()
    """Byte addresses of the blocks of machine code in their section."""
    literals: bytes = b""
    """Bytes of constant bank 2 of machine code, such as jump tables."""
    analyses: dict[str, object] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return (
            f"<Kernel {self.name}: {len(self.blocks)} blocks, {self.instruction_count} instructions,"
            f" {self.register_demand} registers>"
        )

    def _repr_html_(self) -> str:
        """A listing, for notebooks."""
        caption = f"{self.name}: {self.register_demand} registers, {self.shared_bytes:,} bytes of shared memory"
        listed = [(block.index, instruction) for block in self.blocks for instruction in block.instructions]
        rows = [(pc, block, str(instruction)) for pc, (block, instruction) in enumerate(listed)]
        return html_table(caption, ("pc", "block", "instruction"), rows)

    @functools.cached_property
    def is_cooperative(self) -> bool:
        """Whether its thread blocks wait for each other: it reads the grid's workspace and no other environment
        register.
        """
        return self._specials("%envreg") == GRID_WORKSPACE

    @functools.cached_property
    def uses_reserved_shared(self) -> bool:
        """Whether it uses reserved shared memory, as multi-warp tiles of cooperative groups do: it reads the start of
        their part, and no other of these registers.
        """
        return self._specials("%reserved_smem") == RESERVED_SHARED

    def _specials(self, prefix: str) -> set[str]:
        """The special registers that it reads whose names begin with ``prefix``."""
        named = (o.name for i in self.instructions() for o in i.operands if isinstance(o, Special))
        return {name for name in named if name.startswith(prefix)}

    @property
    def is_allocated(self) -> bool:
        return self.register_count > 0 or self.predicate_count > 0

    @property
    def parameter_bytes(self) -> int:
        return max((p.offset + p.bytes for p in self.parameters), default=0)

    def instructions(self) -> Iterator[Instruction]:
        """Every instruction in block order; the position in this order is the instruction's *pc*."""
        for block in self.blocks:
            yield from block.instructions

    @property
    def instruction_count(self) -> int:
        return sum(len(block.instructions) for block in self.blocks)

    def first_pcs(self) -> tuple[int, ...]:
        """The pc of each block's first instruction, then the number of instructions."""
        pcs, pc = [], 0
        for block in self.blocks:
            pcs.append(pc)
            pc += len(block.instructions)
        return (*pcs, pc)

    @property
    def has_control_codes(self) -> bool:
        """Whether a compiler has set control codes; instructions that a design inserts have none."""
        return any(one.control is not None for one in self.instructions())

    def registers(self) -> frozenset[Register]:
        """Every register named in the kernel."""
        return frozenset(r for i in self.instructions() for r in (*i.defined, *i.used))
