"""Cross-lane instructions of a warp (PTX ISA, sections 9.7.9 and 9.7.13).

A meaning takes the mask of active lanes first.  A warp executes in lock step, so ``.sync`` never waits.  The member
mask of ``vote`` restricts the participating lanes; that of ``shfl`` has no further effect.
"""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.floating import NAN, canonical, is_nan, magnitude
from warpreg.ir.opcodes.form import Form, Latency, Meaning, Opcode, Unit

V = TypeVar("V")


def shuffle(m: Algebra[V], f: Form, active: V, a: V, b: V, c: V, members: V | None = None) -> tuple[V, V]:
    """Shuffle: c contains the clamp in bits 4 to 0 and the segment mask in bits 12 to 8.

    A lane out of range, or one whose source is inactive, keeps its own a; the predicate states whether it is in range.
    """
    five, lane = m.constant(32, 31), m.lane_ids()
    offset, clamp = m.and_(b, five), m.and_(c, five)
    segment = m.and_(m.lshr(c, m.constant(32, 8)), five)
    within = m.xor(segment, five)
    first = m.and_(lane, segment)
    last = m.or_(first, m.and_(clamp, within))
    true = m.constant(1, 1)
    if f.has("up"):
        source = m.sub(lane, offset)
        in_range = m.xor(m.slt(source, last), true)
    else:
        moved = {"down": m.add(lane, offset), "bfly": m.xor(lane, offset), "idx": m.or_(first, m.and_(offset, within))}
        source = next(value for mode, value in moved.items() if f.has(mode))
        in_range = m.xor(m.slt(last, source), true)
    source = m.select(in_range, source, lane)
    alive = m.trunc(m.permute(m.zext(active, 32), source), 1)
    return m.select(alive, m.permute(a, source), a), in_range


def vote(m: Algebra[V], f: Form, active: V, p: V, members: V | None = None) -> V:
    zero = m.constant(32, 0)
    voters = m.constant(32, -1) if members is None else members
    yes = m.and_(m.ballot(m.and_(p, active)), voters)
    if f.has("ballot"):
        return yes
    no = m.and_(m.ballot(m.and_(m.xor(p, m.constant(1, 1)), active)), voters)
    if f.has("any"):
        return m.xor(m.eq(yes, zero), m.constant(1, 1))
    return m.eq(no, zero) if f.has("all") else m.or_(m.eq(yes, zero), m.eq(no, zero))


def lanes_of(m: Algebra[V], active: V, members: V) -> V:
    """The mask of the active members."""
    return m.and_(m.ballot(active), members)


def of_lane(m: Algebra[V], a: V, lane: int) -> V:
    """The value of one lane in every lane."""
    return m.permute(a, m.constant(32, lane))


def equal_lanes(m: Algebra[V], f: Form, active: V, a: V, members: V) -> V:
    """The active members with the same value as the lane."""
    result = m.constant(32, 0)
    for lane in range(32):
        same = m.ballot(m.eq(a, of_lane(m, a, lane)))
        result = m.select(m.eq(m.lane_ids(), m.constant(32, lane)), same, result)
    return m.and_(result, lanes_of(m, active, members))


def all_equal(m: Algebra[V], f: Form, active: V, a: V, members: V) -> tuple[V, ...]:
    """The active members if all have the same value, else no lane; and whether they do."""
    everyone = lanes_of(m, active, members)
    same = m.eq(equal_lanes(m, f, active, a, members), everyone)
    return (m.select(same, everyone, m.constant(32, 0)), same)[: len(f.signature.results)]


REDUCTIONS: dict[str, tuple[int, Meaning]] = {
    "add.u32": (0, lambda m, a, b: m.add(a, b)),
    "min.u32": (-1, lambda m, a, b: m.select(m.ult(b, a), b, a)),
    "max.u32": (0, lambda m, a, b: m.select(m.ult(a, b), b, a)),
    "add.s32": (0, lambda m, a, b: m.add(a, b)),
    "min.s32": (0x7FFFFFFF, lambda m, a, b: m.select(m.slt(b, a), b, a)),
    "max.s32": (0x80000000, lambda m, a, b: m.select(m.slt(a, b), b, a)),
    "and.b32": (-1, lambda m, a, b: m.and_(a, b)),
    "or.b32": (0, lambda m, a, b: m.or_(a, b)),
    "xor.b32": (0, lambda m, a, b: m.xor(a, b)),
    "min.f32": (NAN[32], lambda m, a, b: m.fmin(a, b)),
    "max.f32": (NAN[32], lambda m, a, b: m.fmax(a, b)),
}
"""Initial value and operation of each reduction."""


def reduced(m: Algebra[V], f: Form, active: V, a: V, members: V) -> V:
    """The reduction of all active members, lowest lane first."""
    start, combine = REDUCTIONS[f"{f.modifiers[1]}.{f.type}"]
    everyone, zero = lanes_of(m, active, members), m.constant(32, 0)
    if f.has("abs"):
        a = magnitude(m, a)
    total, unordered = m.constant(32, start), m.constant(1, 0)
    for lane in range(32):
        value = of_lane(m, a, lane)
        takes_part = m.xor(m.eq(m.and_(everyone, m.constant(32, 1 << lane)), zero), m.constant(1, 1))
        total = m.select(takes_part, combine(m, total, value), total)
        if f.has("NaN"):
            unordered = m.or_(unordered, m.and_(takes_part, is_nan(m, value)))
    if f.type.is_float:
        return m.select(unordered, m.constant(32, NAN[32]), canonical(m, total))
    return total


def elected(m: Algebra[V], f: Form, active: V, members: V) -> tuple[V, V]:
    """The lowest active member, and whether the lane is this one."""
    everyone = lanes_of(m, active, members)
    lowest = m.and_(everyone, m.sub(m.constant(32, 0), everyone))
    leader = m.sub(m.constant(32, 31), m.ctlz(lowest))
    return leader, m.eq(leader, m.lane_ids())


MODES = "(up|down|bfly|idx)"

OPCODES = (
    Opcode(f"shfl.{MODES}.b32", "T pred? <- T u32 u32", shuffle, Unit.MEM, Latency.SHARED, lanes=True),
    Opcode(f"shfl.sync.{MODES}.b32", "T pred? <- T u32 u32 u32", shuffle, Unit.MEM, Latency.SHARED, lanes=True),
    Opcode("vote.(all|any|uni).pred", "pred <- pred", vote, lanes=True),
    Opcode("vote.ballot.b32", "b32 <- pred", vote, lanes=True),
    Opcode("vote.sync.(all|any|uni).pred", "pred <- pred u32", vote, lanes=True),
    Opcode("vote.sync.ballot.b32", "b32 <- pred u32", vote, lanes=True),
    Opcode("match.any.sync.(b32|b64)", "b32 <- T u32", equal_lanes, lanes=True, outlined=True),
    Opcode("match.all.sync.(b32|b64)", "b32 pred? <- T u32", all_equal, lanes=True),
    Opcode("redux.sync.(add|min|max).(u32|s32)", "T <- T u32", reduced, lanes=True, outlined=True),
    Opcode("redux.sync.(and|or|xor).b32", "T <- T u32", reduced, lanes=True, outlined=True),
    Opcode("redux.sync.(min|max)[.abs][.NaN].f32", "T <- T u32", reduced, lanes=True, outlined=True),
    Opcode("elect.sync", "u32 pred <- u32", elected, lanes=True),
    Opcode("activemask.b32", "b32 <-", lambda m, f, active: m.ballot(active), lanes=True, reads_only=True),
)
