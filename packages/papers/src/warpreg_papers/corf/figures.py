"""Figures of the coalescing operand register file (thesis of 2021, chapter 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from warpreg import energy, gpu
from warpreg.designs import load
from warpreg.designs.interface.hardware import Table
from warpreg.energy.cost import access_cost
from warpreg.energy.counts import Structure
from warpreg.energy.hardware import table_cost
from warpreg.energy.storage import storage
from warpreg.evaluation.measures.cost import Cost
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.studies.study import Study
from warpreg.report.figure import WORKLOAD, Axis, Figure, Mark
from warpreg_papers.corf import results, samples
from warpreg_papers.corf.costs import READINGS
from warpreg_papers.corf.designs import (
    COALESCING,
    CORF,
    CORF_PP,
    FP,
    INT,
    MACHINE,
    PACKING,
    SMALLER,
    TECHNOLOGY,
    class_of,
)
from warpreg_papers.corf.steps import conflicts, steps

MULTIPLE = "of instructions with two or more source registers"
GAINS: Mapping[str, Variant] = {"CORF": CORF, "CORF++": CORF_PP}
IDS = {"CORF": "corf", "CORF++": "corf-pp"}
TECHNIQUES = {"packing": "packing", "packing-virt": "packing and virtualization", "corf": "CORF", "corfpp": "CORF++"}
QUANTITIES = {"ipc": "IPC", "reads": "accesses", "dyn": "dynamic energy", "size": "size"}
GATED = {"(a) packing": PACKING, "(b) CORF++": CORF_PP}
BY_PAIR, BY_PLACEMENT = "pairs of a warp", "placements beside a buddy"
Values = Mapping[str, float]


def rows_of(values: Values, column: str, **keys: object) -> list[dict[str, object]]:
    """One row for each workload, with the same keys."""
    return [{"workload": name, **keys, column: value} for name, value in values.items()]


def by_design(
    designs: Mapping[str, Variant], value: Callable[[Study, Variant], Values], column: str
) -> Callable[[Study], pd.DataFrame]:
    """The frame of a value by workload and design, with the class of each workload."""

    def frame(study: Study) -> pd.DataFrame:
        rows = [
            {**row, "class": class_of(str(row["workload"]))}
            for label, variant in designs.items()
            for row in rows_of(value(study, variant), column, design=label)
        ]
        return pd.DataFrame(rows, columns=["workload", "design", column, "class"])

    return frame


def opportunity(study: Study) -> pd.DataFrame:
    """Figure 2.4: what could be coalesced, and what first fit coalesces."""
    shown = {
        "can be packed": samples.coalesceable(study),
        "first fit": samples.coalesced(study, COALESCING["first fit"]),
    }
    rows = [row for label, values in shown.items() for row in rows_of(values, "instructions", what=label)]
    return pd.DataFrame(rows, columns=["workload", "what", "instructions"])


def smaller(study: Study, variant: Variant) -> Values:
    """Figure 2.16: reduction of the registers."""
    return {name: 1 - left for name, left in samples.size(study, variant).items()}


def gain(study: Study, variant: Variant) -> Values:
    """Figure 2.15: gain of instructions per cycle."""
    return {name: faster - 1 for name, faster in samples.speed(study, variant).items()}


def gain_over_packing(study: Study, variant: Variant) -> Values:
    """The same over packing, which reads every operand and renames too: what coalescing alone gains."""
    return {name: faster - 1 for name, faster in samples.speed(study, variant, PACKING).items()}


def smaller_file(study: Study, variant: Variant) -> Values:
    """Reduction of the registers in use, of all of the register file."""
    return {name: 1 - left for name, left in samples.size_of_file(study, variant).items()}


def dynamic(study: Study) -> pd.DataFrame:
    """Figure 2.17, and the same where an access costs the bytes that it moves."""
    return pd.concat(
        [
            costs(samples.dynamic(study, variant, by_slices=by_slices), f"{label}{', by bytes' if by_slices else ''}")
            for by_slices in (False, True)
            for label, variant in GAINS.items()
        ]
    )


def leakage(study: Study) -> pd.DataFrame:
    """Figure 2.18."""
    return pd.concat([costs(samples.leakage(study, variant), panel) for panel, variant in GATED.items()])


def leakage_of_warps(study: Study) -> pd.DataFrame:
    """Figure 2.18 as if the registers of the warps that run were the whole register file."""
    return pd.concat([costs(samples.leakage_of_warps(study, variant), panel) for panel, variant in GATED.items()])


def costs(each: Mapping[str, Cost], panel: str) -> pd.DataFrame:
    """Normalized energy of the register file and of what the design adds."""
    rows = [
        {"workload": name, "panel": panel, "part": part, "normalized energy": value}
        for name, cost in each.items()
        for part, value in (("register file", cost.register_file), ("added structures", cost.added))
    ]
    return pd.DataFrame(rows, columns=["workload", "panel", "part", "normalized energy"])


def logic(study: Study) -> pd.DataFrame:
    """What CORF and CORF++ add to dynamic energy, by what the power of section 2.8 is taken to be of."""
    rows = [
        {"workload": name, "design": label, "power": what, "overhead": overhead}
        for reading, what in READINGS.items()
        for label, variant in GAINS.items()
        for name, overhead in samples.overheads(study, variant, reading).items()
    ]
    return pd.DataFrame(rows, columns=["workload", "design", "power", "overhead"])


def table_2_1(study: Study) -> pd.DataFrame:
    """Table 2.1."""
    frame = results.table_2_1(study)
    return frame.assign(technique=frame["technique"].map(TECHNIQUES), quantity=frame["quantity"].map(QUANTITIES))


def table_2_2(study: Study) -> pd.DataFrame:
    """Table 2.2: the renaming table that CORF declares, as a share of the register file; it needs no run."""
    machine, technology = gpu.load(MACHINE), energy.load(TECHNOLOGY)
    design = load(CORF.design)
    added = design.hardware(design.configure(**dict(CORF.values)), machine)
    table = next(one for one in added if isinstance(one, Table))
    whole, price = storage(technology, Structure("MRF"), machine), table_cost(technology, table)
    access = access_cost(technology, Structure("MRF"), "read").pj
    shares = {
        "size": table.entries * table.bits / 8 / whole.bytes,
        "access energy": price.read_pj / access,
        "leakage": price.leakage_mw / whole.leakage_mw,
    }
    return pd.DataFrame([{"quantity": what, "share": value} for what, value in shares.items()])


def growth(study: Study) -> pd.DataFrame:
    """Figure 2.19."""
    return pd.DataFrame(rows_of(study[results.GROWTH], "growth"), columns=["workload", "growth"])


def pairs(study: Study) -> pd.DataFrame:
    """Figure 2.6: by pair of a warp, and by placement."""
    shown = {BY_PAIR: samples.pair_success(study), BY_PLACEMENT: samples.placement_success(study)}
    rows = [row for label, values in shown.items() for row in rows_of(values, "packed", of=label)]
    return pd.DataFrame(rows, columns=["workload", "of", "packed"])


def _means(result: str) -> tuple[Mark, ...]:
    """The printed means of CORF and CORF++, by class."""
    return tuple(Mark(f"{start}-{result}-{of}", "mean", label, of) for label, start in IDS.items() for of in (INT, FP))


FIGURES = (
    Figure(
        "figure-2-2", "Figure 2.2", "Bytes that the values of operands need", samples.widths, "stacks", WORKLOAD,
        Axis("operands", "of all register operands", "fraction"), series="bytes",
        marks=(Mark("corf-single-byte-ops"), Mark("corf-narrow-ops")),
    ),
    Figure(
        "figure-2-3", "Figure 2.3", "Bandwidth of the register file that carries no needed byte", samples.unused,
        "bars", WORKLOAD, Axis("unused", "of the bandwidth that is used", "fraction"),
    ),
    Figure(
        "figure-2-4", "Figure 2.4", "Instructions with registers that fit one physical register", opportunity, "bars",
        WORKLOAD, Axis("instructions", MULTIPLE, "fraction"), series="what",
        marks=(
            Mark("corf-coalesceable", "mean", "can be packed"), Mark("corf-first-fit-coalesced", "mean", "first fit"),
        ),
    ),
    Figure(
        "figure-2-6", "Figure 2.6", "Pairs of the compiler that fit together", pairs, "bars", WORKLOAD,
        Axis("packed", "in one physical register", "fraction"), series="of",
        marks=(Mark("corf-pair-success", "mean", BY_PAIR),),
    ),
    Figure(
        "figure-2-13", "Figure 2.13", "Coalesced instructions",
        by_design(COALESCING, samples.coalesced, "instructions"),
        "bars", WORKLOAD, Axis("instructions", MULTIPLE, "fraction"), series="design",
        marks=(
            Mark("corf-first-fit-coalesced", "mean", "first fit"), Mark("corf-coalesced", "mean", "CORF"),
            Mark("corf-pp-coalesced", "mean", "CORF++"),
        ),
    ),
    Figure(
        "figure-2-13-steps", "Figures 2.4, 2.13", "What keeps reads from being coalesced", steps,
        "bars", Axis("step", ""), Axis("instructions", MULTIPLE, "fraction"), series="design",
        marks=(
            Mark("corf-coalesceable", "two registers fit", "CORF"), Mark("corf-coalesced", "coalesced", "CORF"),
            Mark("corf-pp-coalesced", "coalesced", "CORF++"),
        ),
    ),
    Figure(
        "figure-2-14", "Figure 2.14", "Accesses of the register file that are avoided",
        by_design(GAINS, samples.accesses_removed, "accesses"), "bars", WORKLOAD,
        Axis("accesses", "of all accesses", "fraction"), series="design", panels="class",
        marks=_means("access-reduction"),
    ),
    Figure(
        "figure-2-15", "Figure 2.15", "Gain of instructions per cycle", by_design(GAINS, gain, "gain"), "bars",
        WORKLOAD, Axis("gain", "of the baseline's instructions per cycle", "fraction"), series="design", panels="class",
        marks=_means("ipc"),
    ),
    Figure(
        "figure-2-15-packing", "Figure 2.15, over packing", "What coalescing alone gains",
        by_design(GAINS, gain_over_packing, "gain"), "bars",
        WORKLOAD, Axis("gain", "of the instructions per cycle of packing", "fraction"), series="design", panels="class",
    ),
    Figure(
        "figure-2-16", "Figure 2.16", "Reduction of allocated physical registers",
        by_design(SMALLER, smaller, "reduction"), "bars", WORKLOAD,
        Axis("reduction", "of architected registers", "fraction"), series="design",
        marks=(
            Mark("corf-packing-size", "mean", "packing"), Mark("corf-virtualization-size", "mean", "virtualization"),
            Mark("corf-combined-size", "mean", "both"),
        ),
    ),
    Figure(
        "figure-2-16-file", "Figure 2.16, of the register file", "Registers in no use, those of no warp too",
        by_design(SMALLER, smaller_file, "reduction"), "bars", WORKLOAD,
        Axis("reduction", "of the register file", "fraction"), series="design",
    ),
    Figure(
        "figure-2-17", "Figure 2.17", "Dynamic energy of the register file", dynamic, "stacks", WORKLOAD,
        Axis("normalized energy", "energy / energy of the baseline", "ratio"), series="part", panels="panel",
        marks=(
            Mark("corf-dynamic-energy", "mean", panel="CORF", left=True),
            Mark("corf-pp-dynamic-energy", "mean", panel="CORF++", left=True),
        ),
    ),
    Figure(
        "figure-2-17-logic", "Figure 2.17, section 2.8", "Added dynamic energy, by what the power of logic is of",
        logic, "bars", Axis("power", ""), Axis("overhead", "of the baseline's dynamic energy", "fraction"),
        series="design", marks=(Mark("corf-dynamic-overhead"),),
    ),
    Figure(
        "bank-conflicts", "Section 2.5.2", "Conflicts with and without the map of warps to banks", conflicts, "bars",
        WORKLOAD, Axis("conflicts", "of all accesses", "fraction"), series="mapping", panels="banks of",
    ),
    Figure(
        "figure-2-18", "Figure 2.18", "Leakage energy of the register file", leakage, "stacks", WORKLOAD,
        Axis("normalized energy", "energy / energy of the baseline", "ratio"), series="part", panels="panel",
        marks=(
            Mark("corf-packing-leakage", "mean", panel="(a) packing", left=True),
            Mark("corf-pp-leakage", "mean", panel="(b) CORF++", left=True),
        ),
    ),
    Figure(
        "figure-2-18-warps", "Figure 2.18, of resident warps", "Leakage if registers of no warp are not saved",
        leakage_of_warps, "stacks", WORKLOAD,
        Axis("normalized energy", "energy / energy of the baseline", "ratio"), series="part", panels="panel",
        marks=(
            Mark("corf-packing-leakage", "mean", panel="(a) packing", left=True),
            Mark("corf-pp-leakage", "mean", panel="(b) CORF++", left=True),
        ),
    ),
    Figure(
        "figure-2-19", "Figure 2.19", "Growth of the code by metadata instructions", growth, "bars", WORKLOAD,
        Axis("growth", "of the static code", "fraction"), marks=(Mark("corf-code-size", "mean"),),
    ),
    Figure(
        "table-2-1", "Table 2.1", "Summary", table_2_1, "bars", Axis("quantity", ""),
        Axis("ratio", "of the baseline", "ratio"), series="technique",
        marks=tuple(
            Mark(f"corf-table21-{technique}-{quantity}", place, label)
            for technique, label in TECHNIQUES.items() for quantity, place in QUANTITIES.items()
        ),
    ),
    Figure(
        "table-2-2", "Table 2.2", "Renaming table", table_2_2, "bars", Axis("quantity", ""),
        Axis("share", "of the register file", "fraction"),
    ),
)  # fmt: skip
