"""Copies and matrices in shared memory, texture fetches, fences and moves of convergence barriers."""

from __future__ import annotations

from collections.abc import Callable

from warpreg.ir.opcodes.form import Latency, Unit
from warpreg.ir.opcodes.sass.rows import effect

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

OPCODES = (
    effect(COPY, "copy from global to shared memory, or zeros where the predicate fails", Unit.MEM, Latency.GLOBAL),
    effect("LDSM.16.(M88|MT88)[.(2|4)]", "load matrices of 8 x 8 halves from shared memory", Unit.MEM, Latency.SHARED),
    effect("STSM.16.(M88|MT88)[.(2|4)]", "store matrices of 8 x 8 halves to shared memory", Unit.MEM, Latency.STORE),
    effect(f"TEX{FETCH}", "texture fetch", Unit.TEX, Latency.TEXTURE),
    effect(f"TLD{FETCH}", "texture fetch by integer coordinates", Unit.TEX, Latency.TEXTURE),
    effect(f"TXD{FETCH}", "texture fetch by gradients", Unit.TEX, Latency.TEXTURE),
    effect("TXQ", "extents of a texture or surface", Unit.TEX, Latency.TEXTURE),
    effect(f"SULD.D.BA{SURFACE}{SIZE}{SCOPE}{OUTSIDE}", "load from a surface", Unit.TEX, Latency.TEXTURE),
    effect(f"SUST.D.BA{SURFACE}{SIZE}{SCOPE}{OUTSIDE}", "store to a surface", Unit.TEX, Latency.STORE),
    effect(f"SUST.P{SURFACE}{SCOPE}[.(R|RG|RGB)]{OUTSIDE}", "store in a surface's format", Unit.TEX, Latency.STORE),
    effect(f"SURED.D[.BA]{SURFACE}{REDUCED}{SCOPE}{OUTSIDE}", "reduce on a surface", Unit.TEX, Latency.STORE),
    effect("QSPC[.E].(S|L|G|D)", "whether an address is in a state space", Unit.MEM, Latency.SHARED),
    effect("ATOM[.E].CAST.SPIN[.64][.STRONG][.(SM|GPU|SYS|CTA)]", "compare and swap", Unit.MEM, Latency.GLOBAL),
    effect("LDGDEPBAR", "order of copies; they are complete where they are issued"),
    effect("ERRBAR", "nothing"),
    effect("CGAERRBAR", "nothing"),
    effect(
        "CCTL[.E][.IVALL][.(IV|PF1|PF1_5|PF2|WB|RS|RML2|PML2|DML2|U|C|D)]",
        "nothing: caches do not change results",
        Unit.MEM,
        Latency.STORE,
    ),
    effect("NANOSLEEP", "nothing"),
    effect("BPT[.TRAP][.INT]", "the launch ends with a fault"),
    effect("KILL", "end the lanes"),
    effect("BMOV[.32][.64][.CLEAR][.PQUAD]", "move between a convergence barrier and a register"),
    effect("JMP", "branch"),
)
