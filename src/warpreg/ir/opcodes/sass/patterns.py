"""The operand pattern of every opcode; those that depend on modifiers are functions of them."""

from __future__ import annotations

from collections.abc import Callable

from warpreg.ir.opcodes.sass import asynchronous, staging

Modifiers = tuple[str, ...]
Pattern = str | Callable[[Modifiers], str]


def _imad(modifiers: Modifiers) -> str:
    if "WIDE" in modifiers:
        sign = "u" if "U32" in modifiers else "s"
        return f"b64 pred=PT <- {sign}32 {sign}32 {sign}64 pred=!PT"
    if "HI" in modifiers:
        sign = "u" if "U32" in modifiers else "s"
        return f"b32 pred=PT <- {sign}32 {sign}32 {sign}64 pred=!PT"
    return "b32 pred=PT <- s32 s32 s32 pred=!PT"


def _lea(modifiers: Modifiers) -> str:
    if "HI" in modifiers and "SX32" not in modifiers:
        return "b32 pred=PT <- s32 s32 s32 s32 pred=!PT"
    return "b32 pred=PT <- s32 s32 s32 pred=!PT"


def _setp(kind: str) -> Callable[[Modifiers], str]:
    def pattern(modifiers: Modifiers) -> str:
        type_ = "u32" if "U32" in modifiers else kind
        return f"pred pred <- {type_} {type_} pred{' pred' if 'EX' in modifiers else ''}"

    return pattern


def _memory_type(modifiers: Modifiers) -> str:
    """``64``, ``S64`` and ``F64`` of an atomic operation name a pair."""
    return next((f"b{one.lstrip('SUF')}" for one in modifiers if one.lstrip("SUF") in ("64", "128")), "b32")


def _load(modifiers: Modifiers) -> str:
    return f"{_memory_type(modifiers)} <- address"


def _checked_load(modifiers: Modifiers) -> str:
    return f"pred=PT {_memory_type(modifiers)} <- address pred=PT"


def _store(modifiers: Modifiers) -> str:
    return f"<- address {_memory_type(modifiers)}"


def _bank_load(modifiers: Modifiers) -> str:
    return f"{_memory_type(modifiers)} <- bank"


def _atomic(modifiers: Modifiers) -> str:
    type_ = _memory_type(modifiers)
    if "ARRIVE" in modifiers:
        raise ValueError("no atomic operation")
    if "CAS" in modifiers or "CAST" in modifiers:
        return f"{type_} <- address {type_} {type_}"
    return f"{type_} <- address" if "POPC" in modifiers else f"{type_} <- address {type_}"


def _global_atomic(modifiers: Modifiers) -> str:
    results, sources = _atomic(modifiers).split("<-")
    return f"pred=PT {results}<-{sources}"


def _float_to_float(modifiers: Modifiers) -> str:
    to, source = (m.lower() for m in modifiers if m in ("F16", "BF16", "F32", "F64"))
    return f"{to} <- {source}"


def _float_to_integer(modifiers: Modifiers) -> str:
    source = next((m.lower() for m in modifiers if m in ("F16", "BF16", "F64")), "f32")
    return f"{'b64' if {'S64', 'U64'} & {*modifiers} else 'b32'} <- {source}"


def _integer_to_float(modifiers: Modifiers) -> str:
    source = next((m.lower() for m in modifiers if m in ("S64", "U64")), "b32")
    if {"F16", "BF16"} & {*modifiers}:
        return f"b32 <- {source}"
    return f"{'f64' if 'F64' in modifiers else 'f32'} <- {source}"


def _round(modifiers: Modifiers) -> str:
    if {"F16", "BF16"} & {*modifiers}:
        return "b32 <- b32"
    return "f64 <- f64" if "F64" in modifiers else "f32 <- f32"


def _special(modifiers: Modifiers) -> str:
    return "b32 <- special" if "32" in modifiers else "b64 <- special"


def _halves(count: int, *more: str) -> Callable[[Modifiers], str]:
    """Pairs of halves, of the format that ``BF16_V2`` names."""

    def pattern(modifiers: Modifiers) -> str:
        type_ = "bf16x2" if "BF16_V2" in modifiers else "f16x2"
        return f"{type_} <- {' '.join((*(type_,) * count, *more))}"

    return pattern


def _half_sum(modifiers: Modifiers) -> str:
    return "f32 <- f16x2 f16x2" if "F32" in modifiers else _halves(2)(modifiers)


def _half_predicates(modifiers: Modifiers) -> str:
    return _halves(2, "pred")(modifiers).replace(_halves(0)(modifiers).split()[0], "pred pred", 1)


def _half_truths(modifiers: Modifiers) -> str:
    return _halves(2, "pred")(modifiers).replace(_halves(0)(modifiers).split()[0], "b32", 1)


PACKS = {
    "PACK_AB": "b32 <- f32 f32",
    "PACK_AB_MERGE_C": "b32 <- f32 f32 b32",
    "MERGE_C": "b32 <- f32 b32",
    "PACK_B": "b32 <- f32",
    "UNPACK_B": "b32 <- b32",
    "UNPACK_B_MERGE_C": "b32 <- b32 b32",
}


def _pack(modifiers: Modifiers) -> str:
    return next(PACKS[one] for one in (*modifiers, "PACK_AB") if one in PACKS)


def _match(modifiers: Modifiers) -> str:
    type_ = "b64" if "U64" in modifiers else "b32"
    return f"pred b32 <- {type_}" if "ALL" in modifiers else f"b32 <- {type_}"


def _elementary(modifiers: Modifiers) -> str:
    is_word = modifiers[0].endswith("64H") or bool({"F16", "BF16"} & {*modifiers})
    return "b32 <- b32" if is_word else "f32 <- f32"


def _branch(modifiers: Modifiers) -> str:
    return "<- b32 label" if {"DIV", "CONV"} & {*modifiers} else "<- pred=PT label"


def _lane_barrier(modifiers: Modifiers) -> str:
    if "COLLECTIVE" in modifiers:
        return "<- b32 label"
    return "<-" if "ALL" in modifiers else "<- b32"


def _barrier(modifiers: Modifiers) -> str:
    return "<- b32 b32=RZ pred" if "RED" in modifiers else "<- b32 b32=RZ"


ADD3 = "b32 pred=PT pred=PT <- s32 s32 s32 pred=!PT pred=!PT"
LOP3 = "pred=PT b32 <- b32 b32 b32 b32 pred"
SHIFT = "b32 <- b32 b32 b32"
VOTE = "b32=RZ pred <- pred"
MINMAX = "b32 <- s32 s32 pred"

PLACES = {"FADD": (0, 2), "DADD": (0, 2), "MOV": (1,), "IABS": (1,), "I2FP": (1,)}
"""Which of the three operands of an encoding the sources are, for opcodes where that is not their order: found in the
reuse flags of encodings that ``ptxas`` makes of all workloads for sm_90."""

PATTERNS: dict[str, Pattern] = {
    **staging.PATTERNS,
    **asynchronous.PATTERNS,
    "IADD3": ADD3,
    "UIADD3": lambda modifiers: "b64 <- s64 s64 s64" if "64" in modifiers else ADD3,
    "VIADD": "b32 <- s32 s32",
    "IMAD": _imad,
    "UIMAD": _imad,
    "LEA": _lea,
    "ULEA": _lea,
    "LOP3": LOP3,
    "ULOP3": LOP3,
    "PLOP3": "pred pred <- pred pred pred b32 b32",
    "UPLOP3": "pred pred <- pred pred pred b32 b32",
    "SHF": SHIFT,
    "USHF": SHIFT,
    "IABS": "b32 <- s32",
    "IMNMX": MINMAX,
    "UIMNMX": MINMAX,
    "VIMNMX": MINMAX,
    "VIMNMX3": "b32 <- s32 s32 s32 pred",
    "VIADDMNMX": "b32 <- s32 s32 s32 pred",
    "VABSDIFF": "b32 <- u32 u32 u32",
    "IDP": "b32 <- b32 b32 b32",
    "ISETP": _setp("s32"),
    "UISETP": _setp("s32"),
    "FSETP": _setp("f32"),
    "DSETP": _setp("f64"),
    "FSET": "b32 <- f32 f32 pred",
    "SEL": "b32 <- b32 b32 pred",
    "USEL": "b32 <- b32 b32 pred",
    "FSEL": "f32 <- f32 f32 pred",
    "MOV": "b32 <- b32",
    "UMOV": "b32 <- b32",
    "R2UR": lambda modifiers: f"pred=PT b32 <- b32{' pred=!PT' if 'OR' in modifiers else ''}",
    "PRMT": "b32 <- b32 b32 b32",
    "UPRMT": "b32 <- b32 b32 b32",
    "BREV": "b32 <- b32",
    "UBREV": "b32 <- b32",
    "POPC": "b32 <- b32",
    "UPOPC": "b32 <- b32",
    "FLO": "b32 pred=PT <- b32",
    "UFLO": "b32 pred=PT <- b32",
    "FADD": "f32 <- f32 f32",
    "FMUL": "f32 <- f32 f32",
    "FFMA": "f32 <- f32 f32 f32",
    "FMNMX": "f32 <- f32 f32 pred",
    "FCHK": "pred <- f32 f32",
    "MUFU": _elementary,
    "DADD": "f64 <- f64 f64",
    "DMUL": "f64 <- f64 f64",
    "DFMA": "f64 <- f64 f64 f64",
    "HFMA2": _halves(3),
    "HMNMX2": _halves(2, "pred"),
    "HADD2": _half_sum,
    "HSETP2": _half_predicates,
    "HSET2": _half_truths,
    "HMUL2": _halves(2),
    "DMNMX": "f64 <- f64 f64 pred",
    "F2FP": _pack,
    "BMSK": "b32 <- b32 b32",
    "UBMSK": "b32 <- b32 b32",
    "SGXT": "b32 <- b32 b32",
    "USGXT": "b32 <- b32 b32",
    "MATCH": _match,
    "MEMBAR": "<-",
    "F2F": _float_to_float,
    "F2I": _float_to_integer,
    "I2F": _integer_to_float,
    "I2FP": "f32 <- b32",
    "I2I": "b32 <- b32",
    "FRND": _round,
    "S2R": "b32 <- special",
    "S2UR": "b32 <- special",
    "CS2R": _special,
    "SHFL": "pred b32 <- b32 b32 b32",
    "VOTE": VOTE,
    "VOTEU": VOTE,
    "ELECT": "pred b32=RZ <- pred",
    "REDUX": "b32 <- b32",
    "LDG": _checked_load,
    "LD": _checked_load,
    "LDS": _load,
    "LDL": _load,
    "LDC": _bank_load,
    "ULDC": _bank_load,
    "STG": _store,
    "ST": _store,
    "STS": _store,
    "STL": _store,
    "ATOMS": _atomic,
    "ATOMG": _global_atomic,
    "ATOM": _global_atomic,
    "RED": _store,
    "REDG": _store,
    "BAR": _barrier,
    "B2R": "b32 pred=PT <-",
    "WARPSYNC": _lane_barrier,
    "BRA": _branch,
    "BRX": "<- b64 b32",
    "BSSY": "b32 <- label",
    "BSYNC": "<- b32",
    "BREAK": "<- pred=PT b32",
    "CALL": lambda modifiers: "<- b64" if "ABS" in modifiers else "<- label",
    "LEPC": "b64 <- b64",
    "RET": "<- b64 label",
    "EXIT": "<-",
    "NOP": "<-",
    "YIELD": "<-",
    "ENDCOLLECTIVE": "<-",
    "DEPBAR": "<- word b32=RZ word=RZ",
    "P2R": "b32 <- predicates b32 b32",
    "R2P": "predicates <- b32 b32",
    "UP2UR": "b32 <- predicates b32 b32",
    "UR2UP": "predicates <- b32",
}
"""Opcode to pattern."""
