"""What a designer learns from the study of loads that share registers."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Study
from warpreg_papers.larf import frames, limits
from warpreg_papers.larf.designs import INFINITE, LIMITED, LIMITED_LAS, timed
from warpreg_papers.larf.sources import SOURCES


def lessons(study: Study) -> Iterator[str]:
    """Sentences with the figures of the study; none without its runs."""
    yield from _shares(study)
    yield from _orders(study)
    yield from _layer(study)
    yield from _products(study)


def _shares(study: Study) -> Iterator[str]:
    """How much of the loads is shared, and that it is not what decides the gain."""
    removed, gains = removed_loads(study), frames.end_to_end(study, LIMITED_LAS)
    if len(removed) < len(SOURCES) or len(gains) < len(SOURCES):
        return
    most, best = max(removed, key=lambda name: removed[name]), max(gains, key=lambda name: gains[name])
    yield (
        f"Registers of other warps answer {min(removed.values()):.1%} to {removed[most]:.0%} of the global loads of a"
        f" workload. Their share does not tell the gain: {most} spares most loads and gains {gains[most] - 1:.1%} in"
        f" speed, {best} spares {removed[best]:.0%} and gains {gains[best] - 1:.0%}."
    )


def _orders(study: Study) -> Iterator[str]:
    """What a large table and the locality-aware scheduler add."""
    found = [frames.end_to_end(study, variant) for variant in (INFINITE, LIMITED, LIMITED_LAS)]
    if any(len(one) < len(SOURCES) for one in found):
        return
    infinite, limited, las = found
    table = max(abs(infinite[name] / limited[name] - 1) for name in SOURCES)
    order = max(abs(las[name] / limited[name] - 1) for name in SOURCES)
    yield (
        f"A table of 400 entries is large enough: an unlimited one changes the speed of no workload by more than"
        f" {table:.1%}, and the locality-aware scheduler by no more than {order:.1%}. A load that finds its data under"
        " way waits for them with the first one, so that the order of warps matters little."
    )


def _layer(study: Study) -> Iterator[str]:
    gained, limit = frames.of_first_depthwise(study, LIMITED_LAS), limits.layer_speedup(study)
    if gained is not None and limit is not None:
        yield (
            f"Sharing loads makes the first depth-wise layer of MobileNet {gained:.2f} times as fast; a memory that"
            f" takes no time would make it {limit:.2f} times as fast. Before a designer spares loads, this limit tells"
            " what they cost."
        )


def _products(study: Study) -> Iterator[str]:
    found = frames.products(study)
    if {"plain", "blocked"} <= found.keys():
        plain, shared, _ = found["plain"]
        blocked = found["blocked"][0]
        yield (
            f"Registers answer {shared.removed:.0%} of the loads of the plain product of matrices on Fermi and change"
            f" its speed by {ratio(plain.cycles, shared.cycles) - 1:+.1%}, as the first-level cache answers them too;"
            f" blocks in shared memory, which also save instructions, make it {ratio(plain.cycles, blocked.cycles):.1f}"
            " times as fast."
        )


def removed_loads(study: Study) -> dict[str, float]:
    """By workload, the share of global loads that do not go to memory, over all launches."""
    removed = {}
    for name in SOURCES:
        layers = frames.launches(study, timed(LIMITED_LAS), name)
        if layers:
            shared = sum(one.shared for one in layers)
            removed[name] = shared / max(1, shared + sum(one.loads for one in layers))
    return removed
