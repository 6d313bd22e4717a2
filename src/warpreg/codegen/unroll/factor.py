"""How far `ptxas` 13 unrolls a loop, on sm_75 and sm_80 alike; learned from its code for loops of one known body.

Sizes are machine instructions.  The overhead of an iteration is `OVERHEAD` instructions: the step, the test and the
branch; the body is the rest.  A condition under which memory is accessed counts as an instruction.

- A loop with a known count is unrolled completely if the code that this adds is at most `growth` of the percentage of
  executed instructions that it saves.  It saves the overhead and the index arithmetic, in unrolled inner loops, too.
- Otherwise, a loop of one block with at most `PARTIAL_BODY` instructions is unrolled by the largest factor for which
  the body's copies in the loop and those for the remaining iterations have at most `PARTIAL_CODE` instructions.
- A loop with an unknown count is unrolled four times, with three copies for the remaining iterations, if its body has
  at most `UNKNOWN_BODY` instructions.  A load from shared memory allows four instructions more, one from global or
  local memory or a texture as many as `LOADING_BODY`.
- Such a loop is unrolled only if its test reads the counter after its step.  It is not unrolled if threads may run it
  differently often and it has an atomic operation or a barrier, or slow loads and stores and either computes with a
  counter (addresses that advance by constant steps are no such computation) or stores under a condition.
- A loop with several exits is only unrolled completely.  Loops that contain a loop, a call of a subroutine, or an
  instruction that synchronizes or exchanges values between the threads of a warp are not unrolled.
"""

from __future__ import annotations

from dataclasses import dataclass

OVERHEAD = 3
PARTIAL_BODY = 72
PARTIAL_CODE = 351
UNKNOWN_COPIES = 4
UNKNOWN_BODY = 18
SHARED_LOAD = 4
LOADING_BODY = 46


@dataclass(frozen=True, slots=True)
class LoopShape:
    """``body``: instructions without the overhead; ``saved``: those that complete unrolling saves per iteration, the
    overhead included, and ``executed`` all that were executed per iteration, before inner loops were unrolled.

    ``count``: iterations, None if unknown; ``tests_last``: the only exit is the counter's test at the end.
    """

    body: int
    saved: int
    executed: int
    count: int | None
    is_one_block: bool
    tests_last: bool
    shared_loads: int = 0
    slow_loads: int = 0


@dataclass(frozen=True, slots=True)
class Factor:
    """``copies`` of the body in the loop, and ``rest`` copies after it; ``copies`` 0: no loop remains."""

    copies: int = 1
    rest: int = 0


ROLLED = Factor()


def growth(percent: int) -> float:
    """The most instructions that complete unrolling may add to save so many percent of those executed.

    Fitted to loops with 2 to 1000 iterations of a chain of multiply-adds; every measured boundary is met within 1%.
    """
    return 134 + 58.5 * percent + 0.6 * percent**2


def factor(shape: LoopShape) -> Factor:
    """The unroll factor of a loop that may be unrolled."""
    if shape.count is not None:
        added = (shape.count - 1) * shape.body
        if added <= growth(100 * shape.saved // max(1, shape.executed)):
            return Factor(0, shape.count)
        return _partial(shape.count, shape.body) if shape.is_one_block and shape.tests_last else ROLLED
    if shape.tests_last and shape.body <= _largest_unknown(shape):
        return Factor(UNKNOWN_COPIES, UNKNOWN_COPIES - 1)
    return ROLLED


def _largest_unknown(shape: LoopShape) -> int:
    if shape.slow_loads:
        return LOADING_BODY
    return min(LOADING_BODY, UNKNOWN_BODY + SHARED_LOAD * shape.shared_loads)


def _partial(count: int, body: int) -> Factor:
    if body > PARTIAL_BODY:
        return ROLLED
    for copies in range(min(count // 2, PARTIAL_CODE // max(1, body)), 1, -1):
        if (copies + count % copies) * body <= PARTIAL_CODE:
            return Factor(copies, count % copies)
    return ROLLED
