"""Loads that share registers (thesis of 2021, chapter 5): its printed results on its workloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Measure, Measured, Study
from warpreg_papers import published
from warpreg_papers.larf import frames
from warpreg_papers.larf.designs import (
    INFINITE,
    LIMITED,
    LIMITED_LAS,
    MEASURES,
    ONLY,
    PLAIN,
    PRODUCTS,
    SCHEDULED,
    WORKLOADS,
    timed,
)
from warpreg_papers.larf.sources import BLOCKED_PRODUCT, NETWORKS, PLAIN_PRODUCT, REMAINING, SOURCES
from warpreg_papers.part import Part, findings_of

__all__ = ["MEASURES", "ONLY", "PARTS", "UNMEASURABLE", "WORKLOADS", "findings"]

PRINTED = {one.id: one for one in published.results("larf")}
USED: Sequence[Measure[object]] = (PLAIN, timed(LIMITED_LAS))


def _layers(study: Study) -> dict[str, Measured]:
    """Effects on single layers: the speedup of MobileNet's first depth-wise layer, which is the largest one that the
    paper reports (§5.6.1), and the most global loads that are removed from any layer of any network.
    """
    results: dict[str, Measured] = {}
    speedups = frames.of_first_depthwise(study, LIMITED_LAS)
    if speedups is not None:
        results = {"larf-layer-speedup-max": speedups, "larf-layer-speedup-intro": speedups}
    removed = [one.removed for name in NETWORKS for one in frames.launches(study, timed(LIMITED_LAS), name)]
    return {**results, "larf-global-loads-removed-max": max(removed)} if removed else results


def _end_to_end(study: Study) -> dict[str, Measured]:
    gains = {name: value - 1 for name, value in frames.end_to_end(study, LIMITED_LAS).items()}
    alone = frames.end_to_end(study, LIMITED)
    results: dict[str, Measured] = {}
    if all(name in gains for name in NETWORKS):
        results["larf-end-to-end-max"] = max(gains[name] for name in NETWORKS)
    for name in ("MobileNet", "CifarNet"):
        if name in gains:
            results[f"larf-end-to-end-{name.lower()}"] = gains[name]
    if all(name in gains for name in REMAINING):
        ordered = sorted((gains[name] for name in REMAINING), reverse=True)
        results["larf-end-to-end-others"] = PRINTED["larf-end-to-end-others"].all_within(ordered)
    if "2MM" in gains and "2MM" in alone:
        results["larf-las-gain-2mm"] = (1 + gains["2MM"]) / alone["2MM"] - 1
    return results


def _above_infinite(study: Study) -> dict[str, Measured]:
    """Whether LAS with 400 entries is faster in some layer than an infinite table under LRR."""
    faster = []
    for name in NETWORKS:
        infinite = frames.launches(study, timed(INFINITE), name)
        las = frames.launches(study, timed(LIMITED_LAS), name)
        faster += [one.cycles < other.cycles for one, other in zip(las, infinite, strict=False)]
    return {"larf-las-above-infinite": any(faster)} if faster else {}


def _schedulers(study: Study) -> dict[str, Measured]:
    layers = frames.coverage(study).values()
    if not layers or any(len(one) < len(SCHEDULED) for one in layers):
        return {}
    return {
        "larf-lrr-better-layers": sum(one["LRR"] > one["TWL"] for one in layers),
        "larf-twl-better-layers": sum(one["TWL"] > one["LRR"] for one in layers),
        "larf-las-best": all(one["LAS"] >= max(one.values()) for one in layers),
    }


def _registers(study: Study) -> dict[str, Measured]:
    shares, savings = frames.utilisation(study), frames.saving(study)
    if not shares:
        return {}
    means = [sum(one) / len(one) for one in shares.values()]
    return {
        "larf-register-utilisation": sum(means) / len(means),
        "larf-register-saving": sum(savings.values()) / len(savings),
    }


def _limits(study: Study) -> dict[str, Measured]:
    layers = frames.launches(study, PLAIN, "LeNet")
    limited = [one.limiter == "registers" for one in layers]
    return {"larf-lenet-register-limited": sum(limited) / len(limited)} if limited else {}


def _products(study: Study) -> dict[str, Measured]:
    found = frames.products(study)
    if not {"plain", "blocked"} <= found.keys():
        return {}
    plain, shared, _ = found["plain"]
    blocked, both, more = found["blocked"]
    savings = [1 - ratio(shared.in_use, shared.allocated), 1 - ratio(both.in_use, both.allocated)]
    spared = [(one.allocated - one.in_use) * frames.REGISTER_KB for one in (shared, both)]
    return {
        "larf-matmul-sharing-speedup": ratio(plain.cycles, shared.cycles) - 1,
        "larf-matmul-software-extra": ratio(shared.cycles, blocked.cycles) - 1,
        "larf-matmul-ctas-extra": ratio(blocked.cycles, more.cycles) - 1,
        "larf-matmul-register-increase": blocked.registers / plain.registers - 1,
        "larf-matmul-register-saving": sum(savings) / len(savings),
        "larf-matmul-register-saved-kb": PRINTED["larf-matmul-register-saved-kb"].all_within(spared),
    }


_ALL = tuple(one for names in SOURCES.values() for one in names)
_OF_NETWORKS = tuple(one for names in NETWORKS.values() for one in names)
PARTS: Mapping[str, Part] = {
    "layers": Part(USED, _layers, _OF_NETWORKS),
    "end-to-end": Part((*USED, timed(LIMITED)), _end_to_end, _ALL),
    "above-infinite": Part((timed(INFINITE), timed(LIMITED_LAS)), _above_infinite, _OF_NETWORKS),
    "schedulers": Part(tuple(SCHEDULED.values()), _schedulers, SOURCES["CifarNet"]),
    "registers": Part((timed(LIMITED_LAS),), _registers, _ALL),
    "limits": Part((PLAIN,), _limits, SOURCES["LeNet"]),
    "products": Part(PRODUCTS, _products, (PLAIN_PRODUCT, BLOCKED_PRODUCT)),
}


def findings(study: Study) -> dict[str, Measured]:
    """Measured values by the ids of the printed results."""
    return findings_of(PARTS.values(), study)


UNMEASURABLE: dict[str, str] = {}
