"""Everything that the file of a design imports.

A design is one file.  It declares ``DESIGN = Declaration(...)`` and, where needed: a frozen dataclass ``Parameters``
whose fields are made by ``parameter``; ``class State(NamedTuple)`` and ``init(parameters, program) -> State``;
``compile(program, parameters) -> Program``, which fills hint columns; ``hints(program, parameters, analysis)``, which
returns hints of its own; ``rewrite(kernel, parameters) -> Kernel``, which
inserts or renames instructions; ``residency(parameters, program, machine) -> Residency``, the register-file share of a
warp; ``structures(parameters)``, the storage of each level; ``hardware(parameters, machine)``, tables and logic that it
adds; ``paths(parameters, machine)``, bandwidth and latency between its levels; ``banks(parameters, machine)`` and
``collectors(parameters, machine)``, how operands are fetched; and functions under ``@hook``.  Without a hook that plans
it, an operand goes to level 0, the MRF.
"""

from __future__ import annotations

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface.banks import Banks, Collectors
from warpreg.designs.interface.declaration import MRF, Declaration
from warpreg.designs.interface.hardware import Logic, Table
from warpreg.designs.interface.hooks import hook
from warpreg.designs.interface.loads import HELD, complete, lane_address, this_load
from warpreg.designs.interface.own_memory import fetch, spill
from warpreg.designs.interface.parameters import NoParameters, parameter
from warpreg.designs.interface.paths import MEMORY, Path, transfer
from warpreg.designs.interface.patterns import (
    CONSTANT,
    HALVES_CONSTANT,
    HALVES_STRIDE_1,
    HALVES_STRIDE_4,
    STRIDE,
    STRIDE_1,
    STRIDE_4,
    UNEVEN,
    delta_bytes,
    is_partial,
    shape_of,
)
from warpreg.designs.interface.plan import GO, IRREGULAR, PRIVATE, READ, SHARED, UNSET, WRITE, Plan
from warpreg.designs.interface.plan_functions import (
    after,
    change,
    count,
    extra,
    is_served,
    is_timed,
    level,
    lookup,
    move,
    now,
    nowhere,
    pattern,
    postpone,
    read,
    stay,
    update,
    wake,
    width,
    write,
)
from warpreg.designs.interface.program import Program, result_operands, source_operands
from warpreg.designs.interface.residency import Launch, Residency, Room
from warpreg.designs.interface.state import (
    pair_of,
    per_kernel,
    per_pair,
    per_scheduler,
    per_sm,
    per_warp,
    scheduler_of,
    sm_of,
)
from warpreg.designs.interface.thread_blocks import index_in_block, thread_block
from warpreg.designs.interface.turns import (
    BARRIER,
    END,
    FENCE,
    LONG_RESULT,
    NOBODY,
    NOTHING,
    RESULT,
    TOKEN,
    age,
    can_issue,
    is_fetched,
    next_pc,
    waits_for,
    warps_of,
)
from warpreg.energy.array import ArraySpec
from warpreg.energy.counts import Structure
from warpreg.ir.edges import on_edges

__all__ = [
    "BARRIER", "CONSTANT", "END", "FENCE", "GO", "HALVES_CONSTANT", "HALVES_STRIDE_1", "HALVES_STRIDE_4", "HELD",
    "IRREGULAR", "LONG_RESULT", "MEMORY", "MRF", "NOBODY", "NOTHING", "PRIVATE", "READ", "RESULT", "SHARED", "STRIDE",
    "STRIDE_1", "STRIDE_4", "TOKEN", "UNEVEN", "UNSET", "WRITE", "Analysis", "ArraySpec", "Banks", "Collectors",
    "Declaration", "Launch", "Logic", "NoParameters", "Path", "Plan", "Program", "Residency", "Room", "Structure",
    "Table", "after", "age", "can_issue", "change", "complete", "count", "delta_bytes", "extra", "fetch", "hook",
    "index_in_block", "is_fetched", "is_partial", "is_served", "is_timed", "lane_address", "level", "lookup", "move",
    "next_pc", "now", "nowhere", "on_edges", "pair_of", "parameter", "pattern", "per_kernel", "per_pair",
    "per_scheduler", "per_sm", "per_warp", "postpone", "read", "result_operands", "scheduler_of", "shape_of", "sm_of",
    "source_operands", "spill", "stay", "this_load", "thread_block", "transfer", "update", "waits_for", "wake",
    "warps_of", "width", "write",
]  # fmt: skip
