"""CORF and CORF++ (thesis of 2021, chapter 2): Figures 2.2 to 2.4, 2.6 and 2.13 to 2.19, Table 2.1.

Results are means over workloads, of all or of the ``int`` or ``fp`` ones (`designs.class_of`), arithmetic except the
mean of all speeds, which is harmonic (section 2.7).  The baseline is the plain register file on the same sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import pandas as pd

from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.runs.timed_sample import Sample
from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Measure, Measured, Study
from warpreg_papers.code import MODERN, Code
from warpreg_papers.corf.designs import (
    BOTH,
    COALESCING,
    CORF,
    CORF_PP,
    FIRST_FIT,
    FP,
    INT,
    PACKING,
    PLAIN,
    SAMPLES,
    SMALLER,
    TABLE_2_1,
    WORKLOADS,
    timed,
)
from warpreg_papers.corf.samples import (
    ALL,
    accesses_removed,
    added,
    by_workload,
    coalesceable,
    coalesced,
    dynamic,
    harmonic,
    leakage,
    mean,
    pair_success,
    size,
    speed,
    totals,
    widths,
)
from warpreg_papers.corf.sources import CodeGrowth, SourceRegisters
from warpreg_papers.part import Part, findings_of

__all__ = ["CODES", "MEASURES", "PARTS", "UNMEASURABLE", "WORKLOADS", "findings"]

SOURCES, GROWTH = SourceRegisters(), CodeGrowth(CORF)
MEASURES: Sequence[Measure[object]] = (SOURCES, GROWTH, *SAMPLES)
Found = Mapping[str, float | None]
APART = 32
"""Registers among which values take turns in code that reuses them less."""
CODES: Mapping[str, Code] = {
    "machine-32": Code(
        "machine code, addresses of 32 bits",
        CompileChoice(address_bits=32),
        "GPGPU-Sim 3.2.1 with PTXPlus (section 2.7), which is made of the machine code of a Fermi or an older chip: its"
        " registers are allocated, its instructions are scheduled, and an address takes one register. Latencies of"
        " that compiler are not printed; those of the default are assumed",
    ),
    "less-reuse": Code(
        f"the same, in which values take turns among {APART} registers",
        CompileChoice(address_bits=32, rotate=APART),
        "how the compiler allocates registers is not printed; with fewer values in a register, pairs of registers are"
        " more nearly pairs of values",
    ),
    "modern": MODERN,
}


def _values(study: Study) -> Found:
    frame = widths(study).pivot_table(index="workload", columns="bytes", values="operands")
    fits = coalesceable(study)
    sources = study[SOURCES] if SOURCES in study.found else {}
    several = {name: ratio(one.multiple, one.instructions) for name, one in sources.items()}
    their_reads = {name: ratio(one.reads_of_multiple, one.reads) for name, one in sources.items()}
    return {
        "corf-narrow-ops": None if frame.empty else mean(study, dict(1 - frame[4])),
        "corf-single-byte-ops": None if frame.empty else mean(study, dict(frame[1])),
        "corf-multi-operand-instructions": mean(study, several),
        "corf-multi-operand-read-share": mean(study, their_reads),
        "corf-coalesceable": mean(study, fits),
        "corf-coalesceable-max": max(fits.values(), default=None),
    }


def _coalescing(study: Study) -> Found:
    results: dict[str, float | None] = {
        "corf-first-fit-coalesced": mean(study, coalesced(study, FIRST_FIT)),
        "corf-pair-success": mean(study, pair_success(study)),
        "corf-size-change-writes": mean(study, by_workload(study, CORF, _outgrown)),
    }
    for label, variant in BOTH.items():
        results[f"{label}-coalesced"] = mean(study, coalesced(study, variant))
        removed = accesses_removed(study, variant)
        for of in (INT, FP, ALL):
            results[f"{label}-access-reduction-{of}"] = mean(study, removed, of)
    more, less = results["corf-pp-access-reduction-all"], results["corf-access-reduction-all"]
    results["corf-pp-vs-corf-accesses"] = more / less if more is not None and less else None
    return results


def _outgrown(sample: Sample, plain: Sample) -> float:
    """Writes whose value has outgrown its place, of all writes of the baseline (section 2.6)."""
    return ratio(sample.counts.events["grown"], plain.counts.writes())


def _performance(study: Study) -> Found:
    results: dict[str, float | None] = {}
    for label, variant in BOTH.items():
        faster = speed(study, variant)
        for of in (INT, FP):
            results[f"{label}-ipc-{of}"] = _gain(mean(study, faster, of))
        results[f"{label}-ipc-all"] = _gain(harmonic(study, faster))
    return {**results, "corf-ch1-pp-ipc": results["corf-pp-ipc-all"]}


def _gain(faster: float | None) -> float | None:
    return None if faster is None else faster - 1


def _saved(left: float | None) -> float | None:
    return None if left is None else 1 - left


def _sizes(study: Study) -> Found:
    ids = {"packing": "corf-packing-size", "virtualization": "corf-virtualization-size", "both": "corf-combined-size"}
    return {ids[label]: _saved(mean(study, size(study, variant))) for label, variant in SMALLER.items()}


def _energy(study: Study) -> Found:
    spent = {label: dynamic(study, variant) for label, variant in BOTH.items()}
    leaked = {"packing": leakage(study, PACKING), "pp": leakage(study, CORF_PP)}
    overheads = [mean(study, added(each)) for each in spent.values()]
    known = [one for one in overheads if one is not None]
    return {
        **{f"{label}-dynamic-energy": _saved(mean(study, totals(each))) for label, each in spent.items()},
        "corf-dynamic-overhead": fmean(known) if known else None,
        **{f"corf-{label}-leakage": _saved(mean(study, totals(each))) for label, each in leaked.items()},
        "corf-leakage-overhead": mean(study, added(leaked["pp"])),
    }


def table_2_1(study: Study) -> pd.DataFrame:
    """Table 2.1: speed, accesses, dynamic energy and size of each technique, normalized to the baseline.

    The column of register reads has the remainders of Figure 2.14, which are of all accesses; so have those here.
    """
    rows = []
    for label, variant in TABLE_2_1.items():
        each = {
            "ipc": harmonic(study, speed(study, variant)),
            "reads": _saved(mean(study, accesses_removed(study, variant))),
            "dyn": mean(study, totals(dynamic(study, variant))),
            "size": mean(study, size(study, variant)),
        }
        rows += [{"technique": label, "quantity": what, "ratio": value} for what, value in each.items()]
    return pd.DataFrame(rows)


def _table(study: Study) -> Found:
    rows = table_2_1(study).itertuples(index=False)
    return {f"corf-table21-{technique}-{quantity}": value for technique, quantity, value in rows}


def _code(study: Study) -> Found:
    return {"corf-code-size": mean(study, study[GROWTH]) if GROWTH in study.found else None}


def _known(found: Callable[[Study], Found]) -> Callable[[Study], Mapping[str, Measured]]:
    """The results that have a value: a class without workloads has none."""

    def known(study: Study) -> Mapping[str, Measured]:
        values = found(study)
        return {result: float(value) for result, value in values.items() if value is not None and value == value}

    return known


PARTS: Mapping[str, Part] = {
    "values": Part((SOURCES, PLAIN, timed(PACKING)), _known(_values)),
    "coalescing": Part((PLAIN, *map(timed, COALESCING.values())), _known(_coalescing)),
    "performance": Part((PLAIN, *map(timed, BOTH.values())), _known(_performance)),
    "sizes": Part((PLAIN, *map(timed, SMALLER.values())), _known(_sizes)),
    "energy": Part((PLAIN, *map(timed, (PACKING, *BOTH.values()))), _known(_energy)),
    "table": Part((PLAIN, *map(timed, TABLE_2_1.values())), _known(_table)),
    "code": Part((GROWTH,), _known(_code)),
}


def findings(study: Study) -> dict[str, Measured]:
    """Measured values by the ids of the printed results."""
    return findings_of(PARTS.values(), study)


UNMEASURABLE: dict[str, str] = {}
