"""Native loop over the distinct handles of the active lanes, for accesses of one texture or surface at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I1, I32, I64, Code, lanes_of


def each_handle(module: Any, name: str, one: Any, types: Sequence[Any], handles: int) -> None:
    """Define ``void name(launch, site, mask, rows, handles..., values of types...)``, which calls ``one`` for each
    group of lanes with equal handles; ``handles`` is the number of handle vectors."""
    one.linkage = "internal"
    vectors = [lanes_of(I64)] * handles
    code = Code(module, name, ir.VoidType(), [I64, I64, I32, I64, *vectors, *types])
    launch, site, mask, out, *rest = code.arguments
    named, values = rest[:handles], rest[handles:]
    left = code.var(mask)
    with code.loop():
        with code.if_(left.get() == 0):
            code.break_()
        lane = code.intrinsic("llvm.cttz.i32", I32, [left.get(), code.const(I1, 1)])
        firsts = [vector.lane(lane) for vector in named]
        same = left.get()
        for vector, first in zip(named, firsts, strict=True):
            same = same & (vector == first.splat()).bitcast(I32)
        code.call(one, [launch, site, same, out, *firsts, *values])
        left.set(left.get() & ~same)
    code.ret()
