"""When a warp may be slowed down: predicted stall cycles, counters and sampled latencies (tfet sections 3.2, 3.3).

A state that uses it has these fields.  Kernel-wide: ``threshold`` and ``shift`` of Equation 1; ``period`` in cycles and
``scope`` of the samples.  Per warp: ``warps`` of `warpreg.designs.parts.hybrid.columns`.  Per SM, and per warp for the
scope WARP: ``sample`` [SAMPLED, NEXT, SUM, NUMBER], the sampled latency, the cycle from which on the next one is taken,
and the sum and number of the latencies since then.

Where the text is silent:
- an access is a load or an atomic with a result that goes to global, local or texture memory; a store does not make its
  warp wait;
- a further access of the warp resets the counter too; the stall is predicted when none is under way any more, because
  until then the counter counts;
- a sample is the latency of the first access of the SM that ends once a period has passed since the last sample.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.parts.hybrid.columns import ACCESSES, BEGAN, COUNTER

COUNTER_BITS = 11
MOST = (1 << COUNTER_BITS) - 1
"""Largest value of a counter; section 3.3 takes 2048 cycles as the longest access."""
MIN_LEFT = 1
"""A larger counter lets a destination go to a TFET vector (section 3.3)."""
ABSORBED = 2
"""Stall cycles that a TFET vector absorbs: one when it is written, one when it is read (section 3.3)."""
OF_SM, MEAN, OF_WARP = range(3)
"""Scopes of a sample: one access of the SM, the mean of its accesses in a period, one access of the warp itself."""
SCOPES = ("SM", "mean", "warp")
SAMPLED, NEXT, SUM, NUMBER = range(4)
"""Columns of ``sample``."""
SAMPLE_WORDS = 4


def stall_cycles(previous: int, sample: int, threshold: int, shift: int) -> int:
    """Equation 1 with the division as a shift: predicted stall cycles after an access of ``previous`` cycles.

    Nothing up to the threshold; the excess over it where the sampled latency is at least the reference latency ``1 <<
    shift``; below that, the excess in proportion to the sample.
    """
    if previous <= threshold:
        return 0
    excess = previous - threshold
    if sample >= 1 << shift:
        return excess
    return excess * sample >> shift


def begin_access(state: Any, warp: int, now: int) -> None:
    """An access of the warp goes to memory: its counter counts from 0."""
    state.warps[warp, ACCESSES] += 1
    state.warps[warp, BEGAN] = now
    state.warps[warp, COUNTER] = 0


def end_access(state: Any, sm: int, warp: int, cycles: int, now: int) -> bool:
    """An access of ``cycles`` cycles ends; returns whether the stall of the warp was predicted."""
    row = warp if state.scope == OF_WARP else sm
    take_sample(state, row, min(cycles, MOST), now)
    state.warps[warp, ACCESSES] -= 1
    if state.warps[warp, ACCESSES] != 0:
        return False
    previous = min(now - state.warps[warp, BEGAN], MOST)
    state.warps[warp, COUNTER] = stall_cycles(previous, state.sample[row, SAMPLED], state.threshold, state.shift)
    return True


def take_sample(state: Any, row: int, latency: int, now: int) -> None:
    """Sample a latency if it is time for it; the first access of all is sampled."""
    sample = state.sample[row]
    sample[SUM] += latency
    sample[NUMBER] += 1
    if now >= sample[NEXT]:
        sample[SAMPLED] = sample[SUM] // sample[NUMBER] if state.scope == MEAN else latency
        sample[NEXT] = now + state.period
        sample[SUM] = 0
        sample[NUMBER] = 0


def affords(state: Any, warp: int) -> bool:
    """Whether the predicted stall of a warp is not absorbed yet."""
    return bool(state.warps[warp, COUNTER] > MIN_LEFT)


def absorb(state: Any, warp: int) -> None:
    """A destination of the warp has got a TFET vector."""
    state.warps[warp, COUNTER] = max(state.warps[warp, COUNTER] - ABSORBED, 0)
