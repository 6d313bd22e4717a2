"""Copies and matrices in shared memory, texture fetches, fences and moves of convergence barriers."""

from __future__ import annotations

from collections.abc import Callable

from warpreg.ir.opcodes.form import Latency, Unit
from warpreg.ir.opcodes.sass.rows import access, effect, end
from warpreg.ir.opcodes.trait import Flow, Trait

Modifiers = tuple[str, ...]


def _matrices(modifiers: Modifiers) -> str:
    """One to four registers, one for each matrix."""
    return {"2": "b64", "4": "b128"}.get(modifiers[-1], "b32")


def _load_matrices(modifiers: Modifiers) -> str:
    return f"{_matrices(modifiers)} <- address"


def _store_matrices(modifiers: Modifiers) -> str:
    return f"<- address {_matrices(modifiers)}"


def _cache_control(modifiers: Modifiers) -> str:
    return "<-" if "IVALL" in modifiers else "<- address"


PATTERNS: dict[str, str | Callable[[Modifiers], str]] = {
    "LDGSTS": "<- address address pred=PT",
    "LDSM": _load_matrices,
    "STSM": _store_matrices,
    "QSPC": "pred=PT b32 <- address",
    "LDGDEPBAR": "<-",
    "ERRBAR": "<-",
    "CGAERRBAR": "<-",
    "CCTL": _cache_control,
    "NANOSLEEP": "<- b32",
    "BPT": "<- b32=RZ",
    "KILL": "<-",
    "BMOV": "b32 <- b32",
    "JMP": "<- pred=PT label",
}

COPY = "LDGSTS.E[.BYPASS][.(LTC64B|LTC128B|LTC256B)][.(64|128)][.ZFILL][.(LTC64B|LTC128B|LTC256B)]"
SURFACE = ".(1D|2D|3D|1D_ARRAY|2D_ARRAY)"
SIZE, SCOPE, OUTSIDE = "[.(U8|U16|64|128)]", "[.STRONG][.WEAK][.(CTA|SM|GPU|SYS)]", "[.(TRAP|IGN)]"
REDUCED = ".(ADD|MIN|MAX|AND|OR)[.(S32|SD32|U64|S64|SD64)]"
FETCH = "[.B][.SCR][.(LL|LZ|LB)][.CL][.AOFFI][.NODEP]"

IDLE, MATRIX, FETCHES = Trait.IDLE, Trait.MATRIX, Trait.READS | Trait.CHANNELS | Trait.HANDLE
MOVES = Trait.READS | Trait.WRITES
UPDATES = MOVES | Trait.ATOMIC | Trait.RETURNS_OLD
MEM, TEX, FAR, SHARED, STORE = Unit.MEM, Unit.TEX, Latency.GLOBAL, Latency.SHARED, Latency.STORE

OPCODES = (
    effect(COPY, "copy from global to shared memory, or zeros where the predicate fails", MEM, FAR, MOVES | Trait.COPY),
    effect("LDSM.16.(M88|MT88)[.(2|4)]", "load matrices of 8 x 8 halves from shared memory", MEM, SHARED,
           MATRIX | Trait.READS),
    effect("STSM.16.(M88|MT88)[.(2|4)]", "store matrices of 8 x 8 halves to shared memory", MEM, STORE,
           MATRIX | Trait.WRITES),
    effect(f"TEX{FETCH}", "texture fetch", TEX, Latency.TEXTURE, FETCHES),
    effect(f"TLD{FETCH}", "texture fetch by integer coordinates", TEX, Latency.TEXTURE, FETCHES),
    effect(f"TXD{FETCH}", "texture fetch by gradients", TEX, Latency.TEXTURE, FETCHES),
    effect("TXQ", "extents of a texture or surface", TEX, Latency.TEXTURE, Trait.HANDLE),
    effect(f"SULD.D.BA{SURFACE}{SIZE}{SCOPE}{OUTSIDE}", "load from a surface", TEX, Latency.TEXTURE,
           Trait.READS | Trait.HANDLE),
    effect(f"SUST.D.BA{SURFACE}{SIZE}{SCOPE}{OUTSIDE}", "store to a surface", TEX, STORE, Trait.WRITES | Trait.HANDLE),
    effect(f"SUST.P{SURFACE}{SCOPE}[.(R|RG|RGB)]{OUTSIDE}", "store in a surface's format", TEX, STORE,
           Trait.WRITES | Trait.HANDLE),
    effect(f"SURED.D[.BA]{SURFACE}{REDUCED}{SCOPE}{OUTSIDE}", "reduce on a surface", TEX, STORE, MOVES | Trait.HANDLE),
    effect("QSPC[.E].(S|L|G|D)", "whether an address is in a state space", MEM, SHARED),
    access("ATOM[.E].CAST.SPIN[.64][.STRONG][.(SM|GPU|SYS|CTA)]", "compare and swap", "generic", FAR, UPDATES),
    effect("LDGDEPBAR", "order of copies; they are complete where they are issued", traits=IDLE | Trait.COMMITS_COPIES),
    effect("ERRBAR", "nothing", traits=IDLE),
    effect("CGAERRBAR", "nothing", traits=IDLE),
    effect("CCTL[.E][.IVALL][.(IV|PF1|PF1_5|PF2|WB|RS|RML2|PML2|DML2|U|C|D)]", "nothing: caches do not change results",
           MEM, STORE, IDLE),
    effect("NANOSLEEP[.SYNCS]", "nothing", traits=IDLE),
    end("BPT[.TRAP][.INT]", "the launch ends with a fault", Flow.TRAP, Trait.TRAP),
    end("KILL", "end the lanes", Flow.EXIT),
    effect("BMOV[.32][.64][.CLEAR][.PQUAD]", "move between a convergence barrier and a register"),
    end("JMP", "branch", Flow.BRANCH, Trait.JUMP),
)  # fmt: skip
