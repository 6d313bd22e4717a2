"""The register cache, the register scratchpad and their hybrid (CASES 2018): its figures on the workloads of Rodinia.

Energies are those of the technology ``rc-rsp-28nm``, each with its band (`costs`); means are geometric, over the
measured Rodinia workloads.  The baseline is the main register file alone.  In the paper it uses another scheduler; that
changes no counts here.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from warpreg.codegen import ALLOCATED_PTX
from warpreg.energy import Technology
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.studies.study import Measured, Study
from warpreg_papers import published
from warpreg_papers.code import MODERN, Code
from warpreg_papers.part import Part, findings_of
from warpreg_papers.rc_rsp import costs, cycles
from warpreg_papers.rc_rsp.designs import (
    ACTIVE_WARPS,
    CAPACITIES_KB,
    CHOSEN,
    CHOSEN_KB,
    COMPARED,
    HALF_KB,
    MRF,
    SCHEDULED,
    SCRATCHPAD_KB,
    hybrid,
    rc,
    rsp,
)
from warpreg_papers.rc_rsp.frames import COMPARISON, figure_7, figure_8, figure_12, figures_9_10
from warpreg_papers.rc_rsp.measured import AGES, MEASURES, WORKLOADS, counts, elided, energies, mean, names

__all__ = ["MEASURES", "WORKLOADS"]
CODES: Mapping[str, Code] = {
    "ptx": Code(
        "PTX in the order in which it is written, with registers, addresses of 32 bits",
        CompileChoice(level=ALLOCATED_PTX, schedule=False, address_bits=32),
        "GPGPU-Sim 3.2.2 (section IV-A) runs PTX as the front end of the compiler writes it; its other input is made of"
        " machine code of older chips than the GTX 980. Registers are allocated because a file of 256 KB is to hold"
        " them, and because the simulator takes the warps of an SM from the registers that the compiler of the machine"
        " allocates. The width of addresses is not printed; 32 bits are assumed",
    ),
    "modern": MODERN,
}
BALANCED = 0.1
DIE_MM2, SMS, SCHEDULERS = 398.0, 16, 4
"""Die area of a GTX 980, as NVIDIA states it, and its SMs and schedulers."""


def led_until(study: Study) -> float | None:
    """Cycles since the last access up to which the scratchpad leads; None without its runs."""
    return cycles.captured_within(figure_12(study)) if names(study, AGES) else None


def _ages(study: Study) -> dict[str, Measured]:
    led = led_until(study)
    return {} if led is None else {"rc-rsp-rsp-captures-within": led}


def bands(study: Study) -> dict[str, tuple[float, float]]:
    """Energies at both ends of their band, by the ids of the results."""
    low, high = ({**_scratchpad(study, end), **_designs(study, end)} for end in costs.ends())
    energies_in = {one.id for one in published.results("rc-rsp") if one.unit == "ratio"}
    return {
        result: (min(value, high[result]), max(value, high[result]))
        for result, value in low.items()
        if result in energies_in
    }


def _scratchpad(study: Study, priced: Technology | None = None) -> dict[str, Measured]:
    """What depends on no schedule."""
    return {**_whole(study, "rsp", priced), **_half(study, "rsp", priced)}


def _designs(study: Study, priced: Technology | None = None) -> dict[str, Measured]:
    results = {**_whole(study, "rc", priced), **_half(study, "rc", priced), **_whole(study, "hybrid", priced)}
    for organisation, result in (("parallel-evict", "evict"), ("parallel-apart", "no-liveout")):
        results[f"rc-rsp-parallel-{result}"] = mean(energies(study, hybrid(8, 4, organisation), priced=priced).values())
    results["rc-rsp-rc-hit-rate-in-hybrid"] = _hits(study, CHOSEN)
    results["rc-rsp-rc-hit-rate-alone"] = _hits(study, rc(CHOSEN_KB))
    return {**results, **synergy(figures_9_10(study, priced))}


def _whole(study: Study, label: str, priced: Technology | None) -> dict[str, Measured]:
    """Energies of a design, and accesses that it keeps from the main register file."""
    design = COMPARISON[label]
    reads, writes = zip(*(elided(study, design, name) for name in names(study)), strict=True)
    spent = mean(energies(study, design, priced=priced).values())
    return {
        f"rc-rsp-register-energy-{label}": spent,
        f"rc-rsp-gpu-energy-{label}": 1 - costs.technology().chip.register_file * (1 - spent),
        f"rc-rsp-reads-elided-{label}": mean(reads),
        f"rc-rsp-writes-elided-{label}": mean(writes),
    }


def _half(study: Study, label: str, priced: Technology | None) -> dict[str, Measured]:
    """Energy of a design with half-size power."""
    spent = energies(study, COMPARISON[label], HALF_KB, priced)
    return {f"rc-rsp-register-energy-half-{label}": mean(spent.values())}


def _hits(study: Study, design: Variant) -> float:
    """Share of the reads that reach the cache which it serves."""
    each = [counts(study, design, name) for name in names(study)]
    return mean(one.reads("RC") / max(1, one.reads("RC") + one.reads("MRF")) for one in each)


def synergy(frame: pd.DataFrame) -> dict[str, Measured]:
    """Number of benchmarks on which the hybrid is better than both others, scaled to the paper's number of
    benchmarks.
    """
    is_balanced = (frame["rc half-size energy"] - frame["rsp half-size energy"]).abs() < BALANCED
    wins = {
        "energy": (frame["hybrid energy"] < frame["rc half-size energy"])
        & (frame["hybrid energy"] < frame["rsp half-size energy"]),
        **{
            what: (frame[f"hybrid {what}s elided"] > frame[f"rc {what}s elided"])
            & (frame[f"hybrid {what}s elided"] > frame[f"rsp {what}s elided"])
            for what in ("write", "read")
        },
    }
    results: dict[str, Measured] = {}
    if is_balanced.any():
        for what, won in wins.items():
            results[f"rc-rsp-balanced-{what}-wins"] = 13 * float(won[is_balanced].mean())
    if not is_balanced.all():
        results["rc-rsp-unbalanced-energy-wins"] = 8 * float(wins["energy"][~is_balanced].mean())
    rows = frame.set_index("workload")
    for name, better, worse in (("streamcluster", "rc", "rsp"), ("hotspot", "rsp", "rc")):
        if name in rows.index:
            row = rows.loc[name]
            ordered = row[f"{better} energy"] < row["hybrid energy"] < row[f"{worse} energy"]
            results[f"rc-rsp-{name}"] = bool(ordered)
    return results


def _sweeps(study: Study) -> dict[str, Measured]:
    capacities = figure_7(study).pivot_table(index="KB", columns="design", values="normalized energy")
    splits = figure_8(study).set_index("RSP KB")["normalized energy"]
    shared, private = (mean(energies(study, rc(CHOSEN_KB, private)).values()) for private in (False, True))
    return {
        "rc-rsp-hybrid-all-capacities": bool((capacities["hybrid"] < capacities[["RC", "RSP"]].min(axis=1)).all()),
        "rc-rsp-rsp-size-optimum": float(capacities["RSP"].idxmin()),
        "rc-rsp-best-split": bool(splits[SCRATCHPAD_KB] < splits.drop(SCRATCHPAD_KB).min()),
        "rc-rsp-dynamic-sharing": shared < private,
    }


def areas() -> dict[str, Measured]:
    """Area of the stores divided by that of the die, by the array model, without control and wiring."""
    technology = costs.technology()

    def share(level: str, entries: int) -> float:
        spec = technology.levels[level].spec(entries * ACTIVE_WARPS)
        return technology.arrays.cost(spec).area_um2 * SCHEDULERS * SMS / 1e6 / DIE_MM2

    return {
        "rc-rsp-area-rc": share("RC", 6),
        "rc-rsp-area-rsp": share("RSP", 6),
        "rc-rsp-area-hybrid": share("RC", 4) + share("RSP", 2),
    }


PARTS: Mapping[str, Part] = {
    "scratchpad": Part((MRF, rsp(CHOSEN_KB)), _scratchpad),
    "designs": Part((MRF, COMPARED, rsp(CHOSEN_KB)), _designs),
    "sweeps": Part((MRF, SCHEDULED, *(rsp(kb) for kb in CAPACITIES_KB)), _sweeps),
    "ages": Part(AGES, _ages),
    "areas": Part((), lambda study: areas()),
}


def findings(study: Study) -> dict[str, Measured]:
    """Measured values by the ids of the printed results."""
    return findings_of(PARTS.values(), study)


UNMEASURABLE: dict[str, str] = {}
