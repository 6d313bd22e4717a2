"""Counts the cycles in which instructions of the buffer are seen, by place in the buffer; plans nothing."""

from typing import NamedTuple

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="policy", order="sm", events=("next", "second", "seconds", "words"), source="assumed: a miniature"
)
NEXT, SECOND, SECONDS, WORDS = 0, 1, 2, 3


class State(NamedTuple):
    pass


def init(parameters: w.NoParameters, program: w.Program) -> State:
    return State()


@w.hook
def buffered(
    state: State, program: w.Program, warp: int, pc: int, ahead: int, base: int, stride: int, mask: int, plan: w.Plan
) -> None:
    w.count(plan, SECOND if ahead else NEXT, (pc + 1) * 100**ahead * w.now(plan))
    w.count(plan, SECONDS, ahead)
    if mask:
        w.count(plan, WORDS, base)
