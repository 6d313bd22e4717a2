"""Exchange between the lanes of a warp in machine code.  Lanes take part that are active; no mask names them."""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes import cross_lane
from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Latency, Unit
from warpreg.ir.opcodes.sass.rows import as_ptx, row

V = TypeVar("V")


def shuffle(m: Algebra[V], f: Form, active: V, a: V, b: V, c: V) -> tuple[V, V]:
    value, in_range = cross_lane.shuffle(m, as_ptx(f, "shfl", "b32"), active, a, b, c)
    return in_range, value


def vote(m: Algebra[V], f: Form, active: V, p: V) -> tuple[V, V]:
    """The lanes for which the predicate holds, and whether it holds for any, for all, or equally for all."""
    ballot = m.ballot(m.and_(p, active))
    form = as_ptx(f, "vote", "pred", more=("uni",) if f.has("EQ") else ())
    return ballot, cross_lane.vote(m, form, active, p)


def elected(m: Algebra[V], f: Form, active: V, p: V) -> tuple[V, V]:
    """Whether the lane is the lowest active one for which the predicate holds, and that lane."""
    leader, is_leader = cross_lane.elected(m, f, m.and_(p, active), m.constant(32, -1))
    return is_leader, leader


def reduced(m: Algebra[V], f: Form, active: V, a: V) -> V:
    """``REDUX``: the reduction over all active lanes; of all bits (and) without a modifier."""
    named = next((one.lower() for one in f.modifiers if one in ("SUM", "MIN", "MAX", "OR", "XOR")), "and")
    operation = "add" if named == "sum" else named
    logic = operation in ("and", "or", "xor")
    type_ = "b32" if logic else "s32" if f.has("S32") else "u32"
    form = Form("redux", ("sync", operation, type_), f.signature)
    return cross_lane.reduced(m, form, active, a, m.constant(32, -1))


def of_first_lane(m: Algebra[V], f: Form, active: V, a: V, *others: V) -> tuple[V, V]:
    """``R2UR``: whether a lane has another value than the lowest active one, or p holds (``.OR``); and that value."""
    everyone = m.ballot(active)
    lowest = m.and_(everyone, m.sub(m.constant(32, 0), everyone))
    value = m.permute(a, m.sub(m.constant(32, 31), m.ctlz(lowest)))
    differs = m.xor(m.eq(a, value), m.constant(1, 1))
    for p in others:
        differs = m.or_(differs, p)
    return differs, value


def matching(m: Algebra[V], f: Form, active: V, a: V) -> V:
    """``MATCH.ANY``: the active lanes with the same value."""
    return cross_lane.equal_lanes(m, f, active, a, m.constant(32, -1))


def matching_all(m: Algebra[V], f: Form, active: V, a: V) -> tuple[V, V]:
    """``MATCH.ALL``: whether all active lanes have the same value, and these lanes if they do."""
    form = Form("match", f.modifiers, f.signature)
    everyone, same = cross_lane.all_equal(m, form, active, a, m.constant(32, -1))
    return same, everyone


OPCODES = (
    row("SHFL.(UP|DOWN|BFLY|IDX)", shuffle, Unit.MEM, latency=Latency.SHARED, lanes=True),
    row("VOTE.(ANY|ALL|EQ)", vote, lanes=True),
    row("VOTEU.(ANY|ALL|EQ)", vote, lanes=True),
    row("ELECT", elected, lanes=True),
    row("REDUX[.(SUM|MIN|MAX|OR|XOR)][.(S32|U32)]", reduced, lanes=True),
    row("R2UR[.OR]", of_first_lane, lanes=True),
    row("MATCH.ANY[.U64]", matching, lanes=True, outlined=True),
    row("MATCH.ALL[.U64]", matching_all, lanes=True),
)
