"""Figures and tables of the study of bypassing operand collectors (thesis of 2021, chapter 3)."""

from __future__ import annotations

import pandas as pd

from warpreg.evaluation.studies.study import Study
from warpreg.report.figure import WORKLOAD, Axis, Figure, Mark
from warpreg_papers.bow import costs, frames
from warpreg_papers.bow.figure_36 import REGISTERS, VERSIONS
from warpreg_papers.bow.figure_36 import table_31 as writes_by_register

GAIN = Axis("gain", "IPC / IPC of the baseline - 1", "fraction")
LABELS = {"wt": "write-through", "wb": "write-back", "opt": "with hints"}


def table_31(study: Study) -> pd.DataFrame:
    """Table 3.1, with words for its versions."""
    frame = writes_by_register()
    return frame.assign(version=frame["version"].map(LABELS))


def table_34(study: Study) -> pd.DataFrame:
    """Table 3.4: shares of a collector."""
    return costs.table_34()


def storage_added(study: Study) -> pd.DataFrame:
    """Storage of an SM that designs add."""
    return costs.storage_added()


FIGURES = (
    Figure(
        "table-3-1", "Table 3.1", "Writes of the register file by Figure 3.6", table_31, "bars",
        Axis("register", ""), Axis("writes", "writes of the register file", "writes"), series="version",
        marks=tuple(
            Mark(f"bow-table31-r{register}-{version}", f"r{register}", LABELS[version])
            for register in REGISTERS
            for version in VERSIONS
        ),
    ),
    Figure(
        "figure-3-3", "Figure 3.3", "Accesses that bypassing eliminates", frames.figure_33, "lines",
        Axis("window", "instructions of the window", "instructions"),
        Axis("eliminated", "of all accesses of the register file", "fraction"), panels="accesses",
        marks=(
            *(Mark(f"bow-read-bypass-iw{n}", n, panel=frames.READS) for n in (2, 3)),
            *(Mark(f"bow-write-bypass-iw{n}", n, panel=frames.WRITES) for n in (2, 3)),
            Mark("bow-bypass-iw7", 7, panel=frames.READS),
        ),
    ),
    Figure(
        "figure-3-3-machines", "§3.3", "Accesses that BOW-WR eliminates in time on three machines", frames.generations,
        "bars", Axis("machine", ""), Axis("eliminated", "of all accesses of the register file", "fraction"),
        series="accesses",
    ),
    Figure(
        "figure-3-4", "Figure 3.4", "Time in operand collection: until the last source is read, and until dispatch",
        frames.figure_34, "bars", WORKLOAD, Axis("share", "of the time from issue to the result", "fraction"),
        series="instructions",
        marks=(
            Mark("bow-oc-time-share", "mean", "all"), Mark("bow-oc-time-share", "mean", frames.UNTIL_DISPATCH),
        ),
    ),
    Figure(
        "figure-3-7", "Figure 3.7", "Destinations of computed operands", frames.figure_37, "stacks", WORKLOAD,
        Axis("operands", "of all computed operands", "fraction"), series="destination",
    ),
    Figure(
        "figure-3-8", "Figure 3.8", "Source registers of executed instructions (3: or more)", frames.figure_38,
        "stacks", WORKLOAD, Axis("instructions", "of all executed instructions", "fraction"), series="registers",
    ),
    Figure(
        "figure-3-9", "Figure 3.9", "Cycles in which a collector uses more than 6 of its 12 entries", frames.figure_39,
        "bars", WORKLOAD, Axis("over half", "of the cycles of collectors with a warp", "fraction"),
        marks=(Mark("bow-boc-over-half", "mean"),),
    ),
    Figure(
        "figure-3-10", "Figure 3.10", "IPC gain by window", frames.figure_310, "bars", WORKLOAD, GAIN, series="window",
        panels="panel",
        marks=(
            Mark("bow-ipc-iw3", "mean", "3", frames.PANELS["BOW"]),
            Mark("bow-wr-ipc-iw3", "mean", "3", frames.PANELS["BOW-WR"]),
        ),
    ),
    Figure(
        "figure-3-11", "Figure 3.11", "IPC gain of BOW-WR with half of the entries", frames.figure_311, "bars",
        WORKLOAD, GAIN, series="design",
        marks=(Mark("bow-wr-ipc-iw3", "mean", "12 entries"), Mark("bow-wr-ipc-half", "mean", "6 entries")),
    ),
    Figure(
        "limit", "§3.5.1", "IPC gain if operands took no time", frames.figure_limit, "bars", WORKLOAD, GAIN,
        series="design",
        marks=(Mark("bow-ipc-iw3", "mean", "BOW"), Mark("bow-ipc-iw3", "mean", "no time for operands")),
    ),
    Figure(
        "figure-3-12", "Figure 3.12", "Cycles in operand collection", frames.figure_312, "bars", WORKLOAD,
        Axis("cycles", "cycles / cycles of the baseline", "ratio"), series="window",
        marks=(Mark("bow-oc-cycles-iw3", "mean", "3", left=True),),
    ),
    Figure(
        "figure-3-13", "Figure 3.13", "Dynamic energy of the register file", frames.figure_313, "stacks", WORKLOAD,
        Axis("energy", "energy / energy of the baseline", "ratio"), series="part", panels="panel",
        marks=(
            Mark("bow-dynamic-energy", "mean", panel=frames.PANELS["BOW"], left=True),
            Mark("bow-wr-dynamic-energy", "mean", panel=frames.PANELS["BOW-WR"], left=True),
        ),
    ),
    Figure(
        "register-file-cache", "§3.5.1", "IPC gain of a register file cache", frames.figure_rfc, "bars", WORKLOAD,
        GAIN, series="design",
        marks=(Mark("bow-rfc-ipc", "mean", "RFC"), Mark("bow-wr-ipc-half", "mean", "BOW-WR, 6 entries")),
    ),
    Figure(
        "table-3-4", "Table 3.4", "A collector beside a register bank of 64 KB", table_34, "bars",
        Axis("quantity", ""), Axis("share", "collector / register bank", "fraction"), series="collector",
    ),
    Figure(
        "storage", "§3.5.1", "Storage that a design adds to an SM", storage_added, "bars", Axis("design", ""),
        Axis("KB", "KB of an SM", "KB"),
    ),
)  # fmt: skip
