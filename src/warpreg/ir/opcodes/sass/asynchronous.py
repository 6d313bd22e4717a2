"""Bulk copies, mbarriers and their fences in machine code (sm_90).

``SYNCS`` works on an mbarrier lane by lane, at an address of each.  ``UBLKCP``, ``UBLKRED`` and ``UBLKPF`` read uniform
registers and happen once for the lanes of a warp that execute them: ``ptxas`` puts them into a loop over lanes.  A
destination in shared memory is a pair: the address, and that of the mbarrier which counts the bytes.  The lower half of
the size holds units of 16 bytes, the upper half the blocks of a multicast.  Their meanings are those of the PTX from
which ``ptxas`` makes them; copies complete where they are issued.
"""

from __future__ import annotations

from collections.abc import Callable

from warpreg.ir.opcodes.asynchronous import COMBINES, COPIES
from warpreg.ir.opcodes.form import Latency, Opcode, Unit
from warpreg.ir.opcodes.mbarrier import CHANGES, WAITS
from warpreg.ir.opcodes.sass.rows import effect
from warpreg.ir.opcodes.trait import Trait

Modifiers = tuple[str, ...]
BLOCK_COPIES = ("UBLKCP", "UBLKRED", "UBLKPF")
"""Opcodes whose operands in brackets are registers, not addresses of lanes."""

OBJECTS = {
    "EXCH": "b64 <- address b64",
    "ARRIVE": "b64 <- address b32",
    "PHASECHK": "pred <- address b32",
    "CCTL": "<- address",
}


def _object(modifiers: Modifiers) -> str:
    if "TMASK" in modifiers:
        raise ValueError("noComplete")
    return OBJECTS.get(modifiers[0], "")


def _copy(modifiers: Modifiers) -> str:
    """The destination, the source, the size, and a cache policy."""
    return f"<- b64 {'b64' if modifiers[1] == 'G' else 'b32'} b32 b64=RZ"


PATTERNS: dict[str, str | Callable[[Modifiers], str]] = {
    "SYNCS": _object,
    "ARRIVES": "<- address",
    "UBLKCP": _copy,
    "UBLKRED": _copy,
    "UBLKPF": "<- b64 b32 b64=RZ",
    "UTMACMDFLUSH": "<-",
    "FENCE": "<-",
    "ACQBULK": "<-",
    "PREEXIT": "<-",
}

MEM, OBJECT, MOVES = Unit.MEM, Trait.ASYNCHRONOUS | Trait.PINNED, Trait.READS | Trait.WRITES | Trait.ASYNCHRONOUS
BITS, INTEGERS = ".(AND|OR|XOR)[.U64]", ".(ADD|MIN|MAX)[.(S32|U64|S64)]"
FLOATS = ".(ADD.(F32|F64|F16|BF16).RN|(MIN|MAX).(F16|BF16).RN)"


def _changes(syntax: str) -> Opcode:
    return effect(syntax, CHANGES, MEM, Latency.SHARED, OBJECT)


OPCODES = (
    _changes("SYNCS.EXCH.64"),
    _changes("SYNCS.ARRIVE.TRANS64[.RED][.OPTOUT][.(A1T0|ART0|A0TR|A0TX|A0T1)]"),
    effect("SYNCS.PHASECHK.TRANS64[.TRYWAIT]", WAITS, MEM, Latency.SHARED, OBJECT | Trait.PHASE),
    effect("SYNCS.CCTL.IV", "nothing: the end of an mbarrier", traits=Trait.IDLE),
    _changes("ARRIVES.LDGSTSBAR.64.(TRANSCNT|ARVCNT)"),
    effect("UBLKCP.(S.G|G.S|S.S)[.MULTICAST]", COPIES, MEM, Latency.STORE, MOVES),
    *(
        effect(f"UBLKRED.(G.S|S.S){operation}", COMBINES, MEM, Latency.STORE, MOVES)
        for operation in (BITS, INTEGERS, FLOATS, ".(INC|DEC)")
    ),
    effect("UBLKPF.L2", "nothing: a prefetch", MEM, Latency.STORE, Trait.IDLE),
    effect("UTMACMDFLUSH", "ends a group of bulk copies; they are complete where they are issued", traits=Trait.IDLE),
    effect("FENCE.VIEW.ASYNC.(S|G)", "fence", MEM, Latency.STORE, Trait.FENCE | Trait.IDLE),
    effect("ACQBULK", "wait for the grids before", traits=Trait.IDLE),
    effect("PREEXIT", "let the grids behind begin", traits=Trait.IDLE),
)
