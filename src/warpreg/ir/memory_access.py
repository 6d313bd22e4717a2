"""What a memory instruction of PTX or machine code accesses: action, state space, type and number of elements.

Modifiers of machine code: the CUDA Binary Utilities list the opcodes; their meaning is that of the PTX from which ptxas
makes them (``ld.global.v2.f32`` is ``LDG.E.64``, ``red.shared.inc`` is ``ATOMS.POPC.INC`` where all lanes add 1).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import Traits, traits_of
from warpreg.ir.types import B32, B64, TYPES, Type

SPACES = {"global": "global", "const": "const", "shared": "shared", "local": "local", "param": "param"}
"""Maps the state space of a PTX instruction to that of the access."""

ATOMICS = frozenset("add and or xor exch cas min max inc dec".split())

NARROW = {"U8": "u8", "S8": "s8", "U16": "u16", "S16": "s16"}
NUMBERS = {"64": "b64", "S32": "s32", "S64": "s64", "U64": "u64", "32": "b32"}
FLOATS = {"F32": "f32", "F64": "f64", "F16x2": "f16x2", "BF16x2": "bf16x2"}
UNTYPED = frozenset({"and", "or", "xor", "exch", "cas"})


@dataclass(frozen=True, slots=True)
class MemoryForm:
    """``action`` is ``load``, ``store``, ``atomic`` or ``reduction`` (an atomic without result); ``space`` is a state
    space or ``generic``; each lane accesses ``count`` elements of ``type``.  ``operation`` is that of an atomic, such
    as ``add``; ``counts_lanes``: each lane adds 1 (``POPC.INC``); ``tests``: the result of ``cas`` is whether it
    swapped (``CAST``)."""

    action: str
    space: str
    type: Type
    count: int = 1
    operation: str = ""
    counts_lanes: bool = False
    tests: bool = False

    @property
    def bytes(self) -> int:
        """Bytes of one lane, to which its address is aligned; in machine code, also the unit of recorded addresses."""
        return self.type.bytes * self.count

    @property
    def is_atomic(self) -> bool:
        return self.action in ("atomic", "reduction")


def memory_form(instruction: Instruction) -> MemoryForm | None:
    """The form of a load, store or atomic operation; None for anything else."""
    return _form(instruction.opcode, instruction.modifiers)


def bank_type(modifiers: tuple[str, ...]) -> Type:
    """The type that LDC and ULDC load."""
    narrow = next((TYPES[NARROW[m]] for m in modifiers if m in NARROW), None)
    return narrow or (B64 if "64" in modifiers else B32)


@functools.lru_cache(maxsize=4096)
def _form(opcode: str, modifiers: tuple[str, ...]) -> MemoryForm | None:
    traits = traits_of(opcode, modifiers)
    if not traits.accesses_elements:
        return None
    if traits.space:
        return _machine_form(traits, modifiers)
    spaces = [SPACES[m.split("::")[0]] for m in modifiers if m.split("::")[0] in SPACES]
    types = [TYPES[m] for m in modifiers if m in TYPES]
    operation = [m for m in modifiers if m in ATOMICS][-1] if traits.is_atomic else ""
    count = next((int(m[1:]) for m in modifiers if m in ("v2", "v4", "v8")), 1)
    return MemoryForm(_action(traits), spaces[0] if spaces else "generic", types[-1], count, operation)


def _action(traits: Traits) -> str:
    if traits.is_atomic:
        return "atomic" if traits.returns_old else "reduction"
    return "store" if traits.writes_memory else "load"


def _machine_form(traits: Traits, modifiers: tuple[str, ...]) -> MemoryForm:
    action, space = _action(traits), traits.space
    if not traits.is_atomic:
        narrow = next((TYPES[NARROW[m]] for m in modifiers if m in NARROW), B32)
        count = 4 if "128" in modifiers else 2 if "64" in modifiers else 1
        return MemoryForm(action, space, narrow, count)
    tests = "CAST" in modifiers
    named = ["cas" if m == "CAST" else m.lower() for m in modifiers if m == "CAST" or m.lower() in ATOMICS]
    operation = named[-1] if named else "add"
    if "POPC" in modifiers:
        return MemoryForm(action, space, TYPES["u32"], 1, "add", counts_lanes=True)
    return MemoryForm(action, space, _atomic_type(operation, modifiers), 1, operation, tests=tests)


def _atomic_type(operation: str, modifiers: tuple[str, ...]) -> Type:
    """The type of an atomic operation, as PTX names it: unsigned where no other is named."""
    named = [FLOATS[m] for m in modifiers if m in FLOATS] or [NUMBERS[m] for m in modifiers if m in NUMBERS]
    name = named[0] if named else "b32"
    if name.startswith("b") and not name.startswith("bf") and operation not in UNTYPED:
        name = f"u{name[1:]}"
    return TYPES[name]
