"""What a lane learns from the other lanes of its warp (PTX ISA, sections 9.7.9 and 9.7.13).

A meaning takes the mask of active lanes first.  A warp runs in lock step, so ``.sync`` waits for nothing; the member
mask of ``vote`` restricts who takes part, that of ``shfl`` has no further effect.
"""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Latency, Opcode, Unit

V = TypeVar("V")


def shuffle(m: Algebra[V], f: Form, active: V, a: V, b: V, c: V, members: V | None = None) -> tuple[V, V]:
    """c holds the clamp in bits 4 to 0 and the segment mask in bits 12 to 8.

    A lane out of range, or one whose source is inactive, keeps its own a; the predicate tells whether it is in range.
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


MODES = "(up|down|bfly|idx)"

OPCODES = (
    Opcode(f"shfl.{MODES}.b32", "T pred? <- T u32 u32", shuffle, Unit.MEM, Latency.SHARED, lanes=True),
    Opcode(f"shfl.sync.{MODES}.b32", "T pred? <- T u32 u32 u32", shuffle, Unit.MEM, Latency.SHARED, lanes=True),
    Opcode("vote.(all|any|uni).pred", "pred <- pred", vote, lanes=True),
    Opcode("vote.ballot.b32", "b32 <- pred", vote, lanes=True),
    Opcode("vote.sync.(all|any|uni).pred", "pred <- pred u32", vote, lanes=True),
    Opcode("vote.sync.ballot.b32", "b32 <- pred u32", vote, lanes=True),
    Opcode("activemask.b32", "b32 <-", lambda m, f, active: m.ballot(active), lanes=True),
)
