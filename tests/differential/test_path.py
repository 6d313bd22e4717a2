"""The recorded path states which lanes executed which blocks: thread-instructions by opcode equal those of the
reference.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.differential.comparing import run_on_device
from tests.reference.generator import generate
from tests.reference.run import run_reference

from warpreg.simt import Device, Launch, Record

VISIT, VISIT_WITH_MASK, WARP = 0, 1, 2
SEEDS = [seed for seed in range(3000, 3030) if "call" not in generate(seed).text][:6]
"""Programs without calls, whose parameter passing leaves no instructions behind."""


def executed(launch: Launch) -> tuple[Counter[str], list[int]]:
    """Thread-instructions by opcode and visits by block, read off the path word by word."""
    assert launch.trace is not None
    words = iter(np.concatenate(list(launch.trace.path_chunks())).tolist())
    counts: Counter[str] = Counter()
    visits = [0] * len(launch.kernel.blocks)
    masks: dict[int, int] = {}
    warp = -1
    for word in words:
        kind, value = word & 3, word >> 2
        if kind in (VISIT, VISIT_WITH_MASK):
            if kind == VISIT_WITH_MASK:
                masks[warp] = next(words)
            visits[value] += 1
            for instruction in launch.kernel.blocks[value].instructions:
                counts[instruction.opcode] += masks[warp].bit_count()
        elif kind == WARP:
            warp = value
        else:
            next(words)
            masks = {}
    return counts, visits


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_path_has_every_thread_instruction(seed: int) -> None:
    case = generate(seed)
    wanted: Counter[str] = Counter()
    run_reference(case, wanted)
    device = Device(case.text, options=None, record=Record(path=True))
    run_on_device(case, device)
    counts, visits = executed(device.launches[-1])
    assert visits == device.launches[-1].block_visits.tolist()
    del wanted["bra"], counts["bra"]  # a branch to what follows anyway is not kept
    assert counts == wanted
