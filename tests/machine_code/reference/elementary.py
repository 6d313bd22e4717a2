"""The functions of ``MUFU`` as the executor computes them: kernels of one such instruction.

PTX leaves their last bits open, so that only these come from the code under test.  `check` holds them to PTX's bounds.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from tests.reference import approximate

from warpreg import ptx
from warpreg.codegen import build_kernel
from warpreg.machine_code import listing
from warpreg.machine_code.code import Code
from warpreg.machine_code.cubin import Cubin, KernelRecord
from warpreg.machine_code.lift import lift
from warpreg.simt import Device

LANES = 32
MODULE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry one(.param .u64 out, .param .u64 in) { ret; }
"""
LISTING = """Function : one
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   IMAD.MOV.U32 R2, RZ, RZ, 0x4 ;
        /*0020*/                   IMAD.WIDE R4, R0, R2, c[0x0][0x168] ;
        /*0030*/                   LDG.E R6, [R4.64] ;
        /*0040*/                   IMAD.WIDE R4, R0, R2, c[0x0][0x160] ;
        /*0050*/                   MUFU.{name} R7, R6 ;
        /*0060*/                   STG.E [R4.64], R7 ;
        /*0070*/                   EXIT ;
"""
PARAMETERS = 0x160
BOUNDS = {"RCP": "rcp", "RSQ": "rsqrt", "EX2": "ex2", "LG2": "lg2", "SQRT": "sqrt", "TANH": "tanh",
          "RCP64H": "rcp64", "RSQ64H": "rsqrt64"}  # fmt: skip


@cache
def device(name: str) -> Device:
    module = ptx.parse(MODULE)
    made = Device(module)
    records = Cubin(
        {"one": KernelRecord("one", 16, parameter_base=PARAMETERS, parameters={0: (0, 8), 1: (8, 8)})}, {}, {}, {}
    )
    function = listing.parse(LISTING.format(name=name)).functions["one"]
    made.install(lift(Code(function, "sm_80", records), build_kernel(module, "one")))
    return made


KNOWN: dict[tuple[str, int], int] = {}


def elementary(name: str, patterns: list[int]) -> list[int]:
    """The values of a function for at most 32 patterns."""
    missing = sorted({p for p in patterns if (name, p) not in KNOWN})
    if missing:
        made = device(name)
        given = made.upload(np.array(missing + [0] * (LANES - len(missing)), np.uint32))
        out = made.zeros(LANES, np.uint32)
        made.launch("one", 1, LANES, out, given)
        for pattern, found in zip(missing, out.download().tolist(), strict=False):
            check(name, pattern, found)
            KNOWN[name, pattern] = found
    return [KNOWN[name, p] for p in patterns]


def check(name: str, pattern: int, found: int) -> None:
    """Assert that a value lies within the error that PTX allows, where it states one."""
    kind = BOUNDS.get(name)
    if kind is None:
        return
    wide = kind.endswith("64")
    given = (pattern << 32,) if wide else (pattern,)
    wanted = approximate.evaluate(kind.removesuffix("64"), "f64" if wide else "f32", given, name != "TANH")
    assert approximate.agree(kind, found << 32 if wide else found, wanted), f"MUFU.{name} of {pattern:#x}: {found:#x}"
