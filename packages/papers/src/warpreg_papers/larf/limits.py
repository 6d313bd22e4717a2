"""What no design that shares loads or spares registers could exceed on the machines and the code of the study."""

from __future__ import annotations

from collections.abc import Sequence

from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Study
from warpreg_papers.larf import frames
from warpreg_papers.larf.designs import (
    ANY_BLOCKS,
    DEPTHWISE,
    FREE_DEPTHWISE,
    FREE_PRODUCT,
    PLAIN,
    PLAIN_FERMI,
)
from warpreg_papers.larf.layers import Layers
from warpreg_papers.larf.sources import BLOCKED_PRODUCT, PLAIN_PRODUCT, SOURCES


def fewest_cycles(study: Study, measures: Sequence[Layers], workload: str) -> int | None:
    """Cycles of the fastest of some measures of one launch; None if any was not measured."""
    found = [study.found.get(measure, {}).get(workload, ()) for measure in measures]
    return min(layers[0].cycles for layers in found) if all(found) else None


def layer_speedup(study: Study) -> float | None:
    """Speedup of MobileNet's first depth-wise layer by a memory that takes no time."""
    plain = [one for one in frames.launches(study, PLAIN, "MobileNet") if one.kernel == DEPTHWISE]
    cycles = fewest_cycles(study, FREE_DEPTHWISE, SOURCES["MobileNet"][0])
    return ratio(plain[0].cycles, cycles) if plain and cycles else None


def software_extra(study: Study) -> float | None:
    """What the blocked product gains over the plain one in a memory that takes no time: the least that is left for
    it after any design that spares loads of the plain one.
    """
    blocked = fewest_cycles(study, [PLAIN_FERMI], BLOCKED_PRODUCT)
    plain = fewest_cycles(study, FREE_PRODUCT, PLAIN_PRODUCT)
    return ratio(plain, blocked) - 1 if plain and blocked else None


def blocks_extra(study: Study) -> float | None:
    """What the blocked product gains by as many thread blocks as there are without any limit by registers."""
    blocked = fewest_cycles(study, [PLAIN_FERMI], BLOCKED_PRODUCT)
    most = fewest_cycles(study, ANY_BLOCKS, BLOCKED_PRODUCT)
    return ratio(blocked, most) - 1 if blocked and most else None
