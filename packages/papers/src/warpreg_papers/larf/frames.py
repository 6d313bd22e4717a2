"""Figures of the study as data frames, and the values that results take from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Study
from warpreg_papers import published
from warpreg_papers.larf.designs import (
    DESIGNS,
    LIMITED_LAS,
    MORE_BLOCKS,
    PLAIN,
    PLAIN_FERMI,
    SCHEDULED,
    SHARED_FERMI,
    timed,
)
from warpreg_papers.larf.layers import Layer, Layers
from warpreg_papers.larf.sources import (
    BLOCKED_PRODUCT,
    KINDS,
    LAYERS,
    PLAIN_PRODUCT,
    REMAINING,
    SOURCES,
)

REGISTER_KB = 128 / 1024
"""A warp-register."""
TOTAL = "all"


def launches(study: Study, measure: Layers, name: str) -> list[Layer]:
    """All launches that stand for a workload of the paper; none if one of its workloads is missing."""
    sources = SOURCES[name]
    if measure not in study.found or any(one not in study[measure] for one in sources):
        return []
    return [layer for one in sources for layer in study[measure][one]]


def speedup(plain: Sequence[Layer], other: Sequence[Layer]) -> float:
    """Cycles of the baseline over those of a design, each summed over launches."""
    return ratio(sum(one.cycles for one in plain), sum(one.cycles for one in other))


def reads(plain: Sequence[Layer], other: Sequence[Layer]) -> float:
    """Global loads that go to memory, normalized to the baseline, each summed over launches."""
    return ratio(sum(one.loads for one in other), sum(one.loads for one in plain))


def named_layers(study: Study, name: str) -> list[str]:
    """Names of the launches of CifarNet or MobileNet, as far as they are layers of the figures."""
    layers = launches(study, PLAIN, name)
    if name == "CifarNet":
        return list(LAYERS.values())[: len(layers)]
    seen: dict[str, int] = {}
    names = []
    for layer in layers:
        seen[layer.kernel] = seen.get(layer.kernel, 0) + 1
        names.append(f"{KINDS.get(layer.kernel, layer.kernel)}{seen[layer.kernel]}")
    return names


def per_layer(study: Study, name: str) -> pd.DataFrame:
    """Figures 5.7 and 5.8: speedup and global loads of each layer, and of all, by design."""
    rows = []
    for label, variant in DESIGNS.items():
        plain, other = launches(study, PLAIN, name), launches(study, timed(variant), name)
        if not plain or not other:
            continue
        layers = [(one, [a], [b]) for one, a, b in zip(named_layers(study, name), plain, other, strict=False)]
        for layer, before, after in [*layers, (TOTAL, plain, other)]:
            values = {"speedup": speedup(before, after), "global loads": reads(before, after)}
            rows += [{"layer": layer, "design": label, "quantity": q, "value": v} for q, v in values.items()]
    return pd.DataFrame(rows, columns=["layer", "design", "quantity", "value"])


def cifarnet(study: Study) -> pd.DataFrame:
    """Figure 5.8."""
    return per_layer(study, "CifarNet")


def mobilenet(study: Study) -> pd.DataFrame:
    """Figure 5.7."""
    return per_layer(study, "MobileNet")


def of_first_depthwise(study: Study, variant: Variant) -> float | None:
    """Speedup of the first depth-wise layer of MobileNet; None if it was not measured."""
    plain, other = launches(study, PLAIN, "MobileNet"), launches(study, timed(variant), "MobileNet")
    pairs = [(a, b) for a, b in zip(plain, other, strict=False) if KINDS.get(a.kernel) == "DWC"]
    return ratio(pairs[0][0].cycles, pairs[0][1].cycles) if pairs else None


def schedulers(study: Study) -> pd.DataFrame:
    """Figure 5.6: shared loads of CifarNet's layers, and speedup over LAS, by scheduler; the table is unlimited."""
    rows = []
    best = launches(study, SCHEDULED["LAS"], "CifarNet")
    for label, measure in SCHEDULED.items():
        for layer, one, las in zip(LAYERS.values(), launches(study, measure, "CifarNet"), best, strict=False):
            values = {"shared loads": one.removed, "speedup over LAS": ratio(las.cycles, one.cycles)}
            rows += [{"layer": layer, "scheduler": label, "quantity": q, "value": v} for q, v in values.items()]
    return pd.DataFrame(rows, columns=["layer", "scheduler", "quantity", "value"])


def coverage(study: Study) -> dict[str, dict[str, float]]:
    """By layer of CifarNet, the shared loads under each scheduler (Figure 5.6a)."""
    frame = schedulers(study)
    shared = frame[frame["quantity"] == "shared loads"]
    found: dict[str, dict[str, float]] = {}
    for row in shared.itertuples():
        found.setdefault(str(row.layer), {})[str(row.scheduler)] = float(row.value)
    return found


def end_to_end(study: Study, variant: Variant) -> dict[str, float]:
    """Speedup of all launches of a workload together."""
    speedups = {}
    for name in SOURCES:
        plain, other = launches(study, PLAIN, name), launches(study, timed(variant), name)
        if plain and other:
            speedups[name] = speedup(plain, other)
    return speedups


def remaining(study: Study) -> pd.DataFrame:
    """Figure 5.9: speedup and global loads of the remaining workloads, by design."""
    rows = []
    for name in REMAINING:
        for label, variant in DESIGNS.items():
            plain, other = launches(study, PLAIN, name), launches(study, timed(variant), name)
            if plain and other:
                values = {"speedup": speedup(plain, other), "global loads": reads(plain, other)}
                rows += [{"workload": name, "design": label, "quantity": q, "value": v} for q, v in values.items()]
    return pd.DataFrame(rows, columns=["workload", "design", "quantity", "value"])


def gains_in_order(study: Study) -> pd.DataFrame:
    """Gains in speed of the workloads of Figure 5.9 beside the printed ones (§5.6.1), both in descending order, as the
    text gives numbers without names.
    """
    gains = {name: value - 1 for name, value in end_to_end(study, LIMITED_LAS).items() if name in REMAINING}
    (printed,) = (one.numbers or () for one in published.results("larf") if one.id == "larf-end-to-end-others")
    rows = []
    for name, number in zip(sorted(gains, key=lambda one: -gains[one]), printed, strict=False):
        values = {"measured": gains[name], "printed at this place": number}
        rows += [{"workload": name, "gain": what, "value": value} for what, value in values.items()]
    return pd.DataFrame(rows, columns=["workload", "gain", "value"])


def utilisation(study: Study) -> dict[str, list[float]]:
    """By workload, for each kernel launch the share of allocated registers that are in use, mean over time."""
    by_workload = {}
    for name in SOURCES:
        shares = [ratio(one.in_use, one.allocated) for one in launches(study, timed(LIMITED_LAS), name)]
        if shares:
            by_workload[name] = shares
    return by_workload


def figure_510(study: Study) -> pd.DataFrame:
    """Figure 5.10: smallest, mean and largest utilisation over the kernel launches of each workload."""
    rows = []
    for name, shares in utilisation(study).items():
        values = {"min": min(shares), "average": sum(shares) / len(shares), "max": max(shares)}
        rows += [{"workload": name, "over launches": what, "utilisation": value} for what, value in values.items()]
    return pd.DataFrame(rows, columns=["workload", "over launches", "utilisation"])


def saving(study: Study) -> dict[str, float]:
    """By workload, the share of registers that LARF saves of those live at most in each warp (§5.6.2)."""
    savings = {}
    for name in SOURCES:
        layers = launches(study, timed(LIMITED_LAS), name)
        shares = [1 - ratio(one.in_use, one.allocated * one.live / max(1, one.registers)) for one in layers]
        if shares:
            savings[name] = sum(shares) / len(shares)
    return savings


def products(study: Study) -> Mapping[str, tuple[Layer, Layer, Layer]]:
    """By kind of product: its launch without and with LARF, and with more thread blocks."""
    by_kind = {}
    for label, name in (("plain", PLAIN_PRODUCT), ("blocked", BLOCKED_PRODUCT)):
        measures = (PLAIN_FERMI, SHARED_FERMI, MORE_BLOCKS)
        if all(measure in study.found and name in study[measure] for measure in measures):
            before, shared, more = (study[measure][name][0] for measure in measures)
            by_kind[label] = (before, shared, more)
    return by_kind


def product_speedups(study: Study) -> pd.DataFrame:
    """Figure 5.11, left: speedup of both products over the plain code."""
    bars = _bars(products(study))
    rows = [{"code": label, "speedup": ratio(bars["plain"].cycles, layer.cycles)} for label, layer in bars.items()]
    return pd.DataFrame(rows, columns=["code", "speedup"])


def product_registers(study: Study) -> pd.DataFrame:
    """Figure 5.11, right: registers of both products, in KB of an SM; without LARF those that are allocated."""
    used = {
        label: layer.in_use if "LARF" in label else layer.allocated for label, layer in _bars(products(study)).items()
    }
    rows = [{"code": label, "registers": registers * REGISTER_KB} for label, registers in used.items()]
    return pd.DataFrame(rows, columns=["code", "registers"])


def _bars(products: Mapping[str, tuple[Layer, Layer, Layer]]) -> dict[str, Layer]:
    """The bars of the figure; none if a product is missing."""
    if not {"plain", "blocked"} <= products.keys():
        return {}
    return {
        "plain": products["plain"][0],
        "plain, LARF": products["plain"][1],
        "blocked": products["blocked"][0],
        "blocked, LARF": products["blocked"][1],
        "blocked, LARF, more blocks": products["blocked"][2],
    }
