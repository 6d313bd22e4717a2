"""Every pure instruction that random programs use, by family, and constants that are edge cases for them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

from tests.isa.forms import FORMS, Section, sections, spellings
from tests.reference import pure

INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
ROUNDINGS = ("rn", "rz", "rm", "rp")
SIGNED_RELATIONS = "eq ne lt le gt ge".split()
UNSIGNED_RELATIONS = [*SIGNED_RELATIONS, "lo", "ls", "hi", "hs"]
FLOAT_RELATIONS = [*SIGNED_RELATIONS, *"equ neu ltu leu gtu geu num nan".split()]
COMBINATIONS = ("", ".and", ".or", ".xor")


def _all(pattern: str, **choices: str | Iterable[str]) -> list[str]:
    """``_all("add.{t}", t=["u32", "s32"])``: the pattern with every combination of the choices."""
    values = [list(v) if not isinstance(v, str) else v.split() for v in choices.values()]
    return [pattern.format(**dict(zip(choices, chosen, strict=True))) for chosen in product(*values)]


def _relations() -> list[tuple[str, str]]:
    pairs = [(r, t) for t in ("s16", "s32", "s64") for r in SIGNED_RELATIONS]
    pairs += [(r, t) for t in ("u16", "u32", "u64") for r in UNSIGNED_RELATIONS]
    pairs += [(r, t) for t in ("b16", "b32", "b64") for r in ("eq", "ne")]
    return pairs + [(r, t) for t in ("f32", "ftz.f32", "f64") for r in FLOAT_RELATIONS]


def _holds(a: str, b: str) -> bool:
    """Whether every value of the integer type ``b`` is one of ``a``; PTX allows no ``.sat`` then."""
    wide, narrow = int(a[1:]), int(b[1:])
    return (a[0] == b[0] and wide >= narrow) or (a[0] == "s" and b[0] == "u" and wide > narrow)


def _conversions() -> list[str]:
    integers = ("u8", "s8", *INTEGERS)
    out = _all("cvt.{a}.{b}", a=integers, b=integers)
    out += [f"cvt.sat.{a}.{b}" for a, b in product(integers, integers) if not _holds(a, b)]
    out += _all("cvt.{r}.{a}.{b}", r=ROUNDINGS, a=("f32", "f64"), b=integers)
    out += _all("cvt.{r}.sat.f32.{b}", r=ROUNDINGS, b=("s32", "u32"))
    whole = ("rni", "rzi", "rmi", "rpi")
    out += _all("cvt.{r}.{a}.{b}", r=whole, a=integers, b=("f32", "ftz.f32", "f64"))
    out = [i.replace(".ftz.f32", ".f32").replace("i.", "i.ftz.", 1) if ".ftz" in i else i for i in out]
    out += _all("cvt.{r}{m}.f32.f32", r=whole, m=("", ".ftz", ".sat")) + _all("cvt.{r}.f64.f64", r=whole)
    out += _all("cvt.{r}{m}.f32.f64", r=ROUNDINGS, m=("", ".ftz", ".sat"))
    return [*out, "cvt.f64.f32", "cvt.ftz.f64.f32", "cvt.sat.f32.f32", "cvt.ftz.f32.f32", "cvt.ftz.sat.f32.f32"]


def _comparisons() -> dict[str, list[str]]:
    families: dict[str, list[str]] = {"setp": [], "set": []}
    for relation, name in _relations():
        flush, _, base = name.rpartition(".")
        flush = f".{flush}" if flush else ""
        for combine in COMBINATIONS:
            families["setp"].append(f"setp.{relation}{combine}{flush}.{base}")
            families["set"] += _all("set." + relation + combine + flush + ".{t}." + base, t="u32 s32 f32")
    return families


FAMILIES: dict[str, list[str]] = {
    "add": [*_all("{o}.{t}", o="add sub", t=INTEGERS), "add.sat.s32", "sub.sat.s32"],
    "mul": _all("mul.{p}.{t}", p="lo hi", t=INTEGERS) + _all("mul.wide.{t}", t="u16 s16 u32 s32"),
    "mad": _all("mad.{p}.{t}", p="lo hi", t=INTEGERS) + _all("mad.wide.{t}", t="u16 s16 u32 s32") + ["mad.hi.sat.s32"],
    "mul24": [*_all("{o}.{p}.{t}", o="mul24 mad24", p="lo hi", t="u32 s32"), "mad24.hi.sat.s32"],
    "sad": _all("sad.{t}", t=INTEGERS) + _all("dp4a.{a}.{b}", a="u32 s32", b="u32 s32"),
    "div": _all("{o}.{t}", o="div rem", t=INTEGERS),
    "extreme": _all("{o}.{t}", o="min max", t=INTEGERS),
    "sign": _all("{o}.{t}", o="neg abs", t="s16 s32 s64"),
    "logic": _all("{o}.{t}", o="and or xor", t="pred b16 b32 b64")
    + _all("not.{t}", t="pred b16 b32 b64")
    + _all("cnot.{t}", t="b16 b32 b64"),
    "shift": _all("shl.{t}", t="b16 b32 b64") + _all("shr.{t}", t=(*INTEGERS, "b16", "b32", "b64")),
    "funnel": _all("shf.{d}.{m}.b32", d="l r", m="wrap clamp"),
    "field": _all("bfe.{t}", t="u32 s32 u64 s64") + _all("bfi.{t}", t="b32 b64"),
    "find": _all("bfind{m}.{t}", m=("", ".shiftamt"), t="u32 s32 u64 s64"),
    "count": _all("{o}.{t}", o="popc clz brev", t="b32 b64"),
    "permute": _all("prmt.b32{m}", m=("", "", "", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")),
    "lop3": ["lop3.b32", "lop3.or.b32", "lop3.and.b32"],
    "bits": _all("dp2a.{h}.{a}.{b}", h="lo hi", a="u32 s32", b="u32 s32")
    + _all("szext.{m}.{t}", m="clamp wrap", t="u32 s32")
    + ["fns.b32"],
    "bmsk": _all("bmsk.{m}.b32", m="clamp wrap"),
    "testp": _all("testp.{p}.{t}", p="finite infinite number notanumber normal subnormal", t="f32 f64"),
    "select": _all("selp.{t}", t=(*INTEGERS, "b16", "b32", "b64", "f32", "f64")),
    "slct": [*_all("slct.{t}.{c}", t=("b32", "u64", "s16", "f32", "f64"), c="s32 f32"), "slct.ftz.u32.f32"],
    "cvt": _conversions(),
    **_comparisons(),
    "mov": _all("mov.{t}", t="pred u16 b16 s32 u32 b32 b64 u64 f32 f64"),
    "fadd": _all("{o}.{r}{m}.f32", o="add sub mul", r=ROUNDINGS, m=("", ".ftz", ".sat", ".ftz.sat"))
    + _all("{o}.{r}.f64", o="add sub mul", r=ROUNDINGS),
    "fma": _all("fma.{r}{m}.f32", r=ROUNDINGS, m=("", ".ftz", ".sat", ".ftz.sat"))
    + _all("{o}.{r}.f64", o="fma mad", r=ROUNDINGS)
    + _all("mad.{r}{m}.f32", r=ROUNDINGS, m=("", ".ftz.sat")),
    "fextreme": _all("{o}{m}.f32", o="min max", m=("", ".ftz", ".NaN", ".xorsign.abs", ".ftz.NaN.xorsign.abs"))
    + _all("{o}.f64", o="min max"),
    "fsign": _all("{o}{m}.f32", o="neg abs", m=("", ".ftz"))
    + _all("{o}.f64", o="neg abs")
    + _all("copysign.{t}", t="f32 f64"),
    "fdiv": _all("{o}.{r}{m}.f32", o="div rcp sqrt", r=ROUNDINGS, m=("", ".ftz"))
    + _all("{o}.{r}.f64", o="div rcp sqrt", r=ROUNDINGS),
    "half": [
        *_all("{o}{m}.{t}", o="add.rn sub.rn mul.rn fma.rn", m=("", ".ftz", ".sat", ".ftz.sat"), t="f16 f16x2"),
        *_all("fma.rn{m}.{t}", m=(".relu", ".ftz.relu"), t="f16 f16x2"),
        *_all("{o}{m}.{t}", o="min max", m=("", ".ftz", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"), t="f16 f16x2"),
        *_all("{o}.{t}", o="neg abs neg.ftz", t="f16 f16x2"),
        *_all("{o}.f32.{t}", o="add sub add.rz sub.rp.sat fma.rn fma.rm.sat", t="f16 bf16"),
    ],
    "bhalf": [
        *_all("{o}.{t}", o="add.rn sub.rn mul.rn fma.rn fma.rn.relu neg abs", t="bf16 bf16x2"),
        *_all("{o}{m}.{t}", o="min max", m=("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"), t="bf16 bf16x2"),
    ],
    "halfset": [
        *_all(
            "set.{r}{c}.{t}",
            r=FLOAT_RELATIONS,
            c=COMBINATIONS,
            t="f16.f16 u16.f16 u32.f16 bf16.bf16 s32.bf16 ftz.f16x2.f16x2 u32.f16x2 bf16x2.bf16x2 bf16.f64",
        ),
        *_all("setp.{r}{c}.{t}", r=FLOAT_RELATIONS, c=COMBINATIONS, t="f16 ftz.f16 bf16 f16x2 ftz.f16x2 bf16x2"),
    ],
    "halfcvt": [
        *_all("cvt.{r}.{h}.{t}", r=ROUNDINGS, h="f16 bf16 sat.f16", t=("u8", "s8", *INTEGERS, "f64")),
        *_all("cvt.{r}{m}.f16.f32", r=ROUNDINGS, m=("", ".sat")),
        *_all("cvt.{r}{m}.{h}.f32", r="rn rz", m=(".relu", ".satfinite", ".relu.satfinite"), h="f16 bf16"),
        *_all("cvt.{r}.bf16.f32", r="rn rz"),
        *_all("cvt.{r}.bf16.f32", r="rm rp"),
        *_all("cvt.{r}.{t}.{h}", r="rni rzi rmi rpi", t=("u8", "s8", *INTEGERS), h="f16 bf16"),
        *_all("cvt.{t}.{h}", t="f32 f64 ftz.f32", h="f16 bf16"),
        "cvt.sat.f32.f16",
        *_all("cvt.{r}{m}.{t}.f32", r="rn rz", m=("", ".relu", ".satfinite", ".relu.satfinite"), t="f16x2 bf16x2"),
        *_all("cvt.{r}.tf32.f32", r="rn rz rna rn.relu rn.satfinite rna.satfinite"),
        *_all("cvt.rn.satfinite{m}.{b}.{t}", m=("", ".relu"), b="e4m3x2 e5m2x2", t="f32 f16x2"),
        *_all("cvt.rn{m}.f16x2.{b}", m=("", ".relu"), b="e4m3x2 e5m2x2"),
    ],
    "pairs": [
        *_all("{o}{r}{m}.f32x2", o="add sub mul", r=(".rn", ".rz", ".rm", ".rp"), m=("", ".ftz")),
        *_all("fma.{r}{m}.f32x2", r=ROUNDINGS, m=("", ".ftz")),
        *_all("{o}.{t}", o="add sub add.sat sub.sat min max", t="u16x2 s16x2"),
        *_all("{o}.relu.{t}", o="min max", t="s16x2 s32"),
    ],
}
"""Instructions by family; a program draws a family first, so that large families do not crowd out small ones."""

VIDEO = [
    *_all("{o}.{a}.{b}.{c}{m}", o="vadd vsub vabsdiff vmin vmax", a="u32 s32", b="u32 s32", c="u32 s32",
          m=("", ".sat", ".add", ".sat.min", ".max")),
    *_all("{o}.{a}.{b}.u32{m}", o="vshl vshr", a="u32 s32", b="u32 s32", m=(".clamp", ".sat.wrap", ".sat.clamp.add")),
    *_all("vset.{a}.{b}.{r}{m}", a="u32 s32", b="u32 s32", r=SIGNED_RELATIONS, m=("", ".add", ".max")),
    *_all("vmad.{c}.{a}.{b}{m}", c="u32 s32", a="u32 s32", b="u32 s32", m=("", ".sat", ".po.shr7", ".sat.shr15")),
    *_all("{o}{n}.{a}.{b}.{c}{m}", o="vadd vsub vavrg vabsdiff vmin vmax", n="2 4", a="u32 s32", b="u32 s32",
          c="u32 s32", m=("", ".sat", ".add")),
    *_all("vset{n}.{a}.{b}.{r}{m}", n="2 4", a="u32 s32", b="u32 s32", r=SIGNED_RELATIONS, m=("", ".add")),
]  # fmt: skip

_NOT_MEASURED = re.compile(
    "|".join(
        [
            r".*\.f32x2", r"(add|sub|fma)\..*f32\.b?f16", r"sub.*\.[us]16x2", r"add\.sat\.[us]16x2",
            r"cvt\..*\.bf16\.[us]8", r"cvt\..*\.[us]8\.bf16", r"cvt\..*\.satfinite\.tf32\.f32",  # not for sm_90
            r"(abs|neg|min|max)\..*f16x2", r"(abs|neg)\..*f16",
            r"cvt\..*\.b?f16\.f64", r"cvt\..*tf32\.f32",  # NaNs of 16 bits, and tf32
            r"mul\..*ftz.*\.f16(x2)?", r"cvt\.r[mp]\.ftz.*\.f16\.f32",
            r"v(add|sub|absdiff|min|max|shl|shr|set|mad)\..*(sat|min|max|shr\d+).*",
        ]
    )
)  # fmt: skip


def is_measured(text: str) -> bool:
    """Whether an H100 has the instruction, and no result that differs from the manual or that PTX leaves open, NaNs of
    32 and 64 bits apart (docs/reference/accuracy.md, "Comparison with a GPU").
    """
    return not _NOT_MEASURED.fullmatch(text)


NAMED_ELSEWHERE = frozenset("cvta isspacep mapa getctarank tanh rsqrt sin cos ex2 lg2".split())
"""Opcodes of the reference for which the generator has statements of their own."""


def plain(known: list[Section]) -> dict[str, list[str]]:
    """A family for each computing opcode of some forms that no family names and the reference interprets."""
    named = {text.split(".")[0] for family in FAMILIES.values() for text in family} | NAMED_ELSEWHERE
    named |= {text.split(".")[0] for text in VIDEO} | {"addc", "subc", "madc"}
    found: dict[str, list[str]] = {}
    for section in known:
        for text in ("".join(spelled) for syntax, _ in section.groups for spelled in spellings(syntax)):
            opcode, *modifiers = text.split(".")
            if opcode not in named and pure.lookup(opcode, tuple(modifiers)):
                found.setdefault(opcode, []).append(text)
    return found


FAMILIES |= plain(sections(FORMS))

MEASURED = {name: kept for name, texts in FAMILIES.items() if (kept := [t for t in texts if is_measured(t)])}
"""`FAMILIES` of programs that run on a GPU."""
MEASURED_VIDEO = [text for text in VIDEO if is_measured(text)]

PLAIN_ARITHMETIC = {"add": ["add{m}.f32", "sub{m}.f32", "add.f64", "sub.f64"], "mul": ["mul{m}.f32", "mul.f64"]}
"""Forms without a rounding mode. PTX lets a compiler fuse such a multiply and add, so a program uses one group
only.
"""

APPROXIMATE = [
    "rcp.approx.f32", "rcp.approx.ftz.f32", "rsqrt.approx.f32", "rsqrt.approx.ftz.f32", "sqrt.approx.f32",
    "sqrt.approx.ftz.f32", "ex2.approx.f32", "ex2.approx.ftz.f32", "lg2.approx.f32", "lg2.approx.ftz.f32",
    "sin.approx.f32",
    "sin.approx.ftz.f32", "cos.approx.f32", "cos.approx.ftz.f32", "div.approx.f32", "div.approx.ftz.f32",
    "div.full.f32",
    "div.full.ftz.f32", "rcp.approx.ftz.f64", "rsqrt.approx.f64", "rsqrt.approx.ftz.f64", "tanh.approx.f32",
]  # fmt: skip

CARRY_CHAINS = [
    ("add.cc.u32", "addc.cc.u32", "addc.u32"), ("sub.cc.u32", "subc.cc.u32", "subc.u32"), ("add.cc.s32", "addc.s32"),
    ("add.cc.u64", "addc.u64"), ("sub.cc.u32", "addc.u32"), ("add.cc.u32", "subc.cc.u32", "addc.u32"),
    ("sub.cc.u64", "addc.cc.u64", "subc.u64"), ("mad.lo.cc.u32", "subc.cc.u64", "madc.hi.u32"),
    ("sub.cc.s64", "subc.cc.u64", "subc.s64"),
    ("mad.lo.cc.u32", "madc.hi.cc.u32", "addc.u32"), ("mad.lo.cc.s32", "madc.hi.s32"), ("mad.hi.cc.u32", "madc.lo.u32"),
    ("mad.lo.cc.u64", "madc.hi.u64"), ("add.cc.u32", "madc.lo.cc.u32", "madc.hi.u32"),
]  # fmt: skip

AMOUNTS = {
    "shl": (1,), "shr": (1,), "shf": (2,), "bfe": (1, 2), "bfi": (2, 3), "szext": (1,), "bmsk": (0, 1), "fns": (1, 2),
    "shfl": (1,), "vshl": (1,), "vshr": (1,),
}  # fmt: skip
"""Operand positions, destination apart, that count bits or lanes."""
INTEGER_EDGES = [0, 1, -1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7FFF, -0x8000, 0xFFFF]
WIDE_EDGES = {
    16: INTEGER_EDGES,
    32: [*INTEGER_EDGES, 0x7FFFFFFF, -0x80000000, 0x10000, 0xFFFFFFFF],
    64: [*INTEGER_EDGES, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, (1 << 63) - 1, -(1 << 63)],
    128: [0, 1, -1, 1 << 63, 1 << 64, (1 << 64) - 1, -(1 << 64)],
}
FLOAT_EDGES: dict[int | str, list[int]] = {
    16: [
        0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x8401, 0x3C00, 0xBC00, 0x3BFF, 0x4248, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00,
        0x7E00, 0xFE01, 0x7C01, 0x6400, 0x6401, 0x3800, 0x3E00, 0x4100, 0x1001, 0x5800,
    ],
    32: [
        0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x80800001, 0x3F800000, 0xBF800000, 0x3F7FFFFF,
        0x40490FDB, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F812345, 0x4F000000,
        0xCF000000, 0x5F000000, 0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000, 0x4B000001, 0x33800000,
    ],
    64: [
        0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x0010000000000000,
        0x3FF0000000000000, 0xBFF0000000000000, 0x3FEFFFFFFFFFFFFF, 0x400921FB54442D18, 0x7FEFFFFFFFFFFFFF,
        0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000012345,
        0x7FF0000000012345, 0x41E0000000000000, 0xC1E0000000000000, 0x43E0000000000000, 0x3FE0000000000000,
        0xBFE0000000000000, 0x3FF8000000000000, 0x380FFFFFF0000000, 0x36A0000000000000, 0x47EFFFFFF0000000,
    ],
    "bf16": [
        0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x8081, 0x3F80, 0xBF80, 0x3F7F, 0x4049, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80,
        0x7FC0, 0xFFC1, 0x7F81, 0x4F00, 0xCF00, 0x3F00, 0x3FC0, 0x4020, 0x5F00, 0x0100,
    ],
}  # fmt: skip
FLOAT_EDGES |= {"f16": FLOAT_EDGES[16], "f32": FLOAT_EDGES[32], "f64": FLOAT_EDGES[64]}
"""Zeros, denormals, one and its neighbours, ties, limits of the integer ranges, infinities, quiet and signalling
NaNs.
"""
