"""Figures of the study of shared loads (thesis of 2021, chapter 5)."""

from __future__ import annotations

import pandas as pd

from warpreg.evaluation.studies.study import Study
from warpreg.report.figure import WORKLOAD, Axis, Figure, Mark
from warpreg_papers.larf import costs, frames

LAYER = Axis("layer", "")
VALUE = Axis("value", "normalized to the plain register file", "ratio")


def storage(study: Study) -> pd.DataFrame:
    """Tables of §5.6.4."""
    return costs.storage()


FIGURES = (
    Figure(
        "figure-5-6", "Figure 5.6", "Shared loads and speedup of CifarNet by scheduler, unlimited table",
        frames.schedulers, "bars", LAYER, Axis("value", "", "ratio"), series="scheduler", panels="quantity",
    ),
    Figure(
        "figure-5-7", "Figure 5.7", "Speedup and global loads of MobileNet's layers", frames.mobilenet, "bars", LAYER,
        VALUE, series="design", panels="quantity",
    ),
    Figure(
        "figure-5-8", "Figure 5.8", "Speedup and global loads of CifarNet's layers", frames.cifarnet, "bars", LAYER,
        VALUE, series="design", panels="quantity",
    ),
    Figure(
        "figure-5-9", "Figure 5.9", "Speedup and global loads of the remaining workloads", frames.remaining, "bars",
        WORKLOAD, VALUE, series="design", panels="quantity",
    ),
    Figure(
        "figure-5-9-in-order", "§5.6.1", "Gains of the remaining workloads by LARF (400) + LAS, in descending order",
        frames.gains_in_order, "bars", WORKLOAD, Axis("value", "gain in speed", "fraction"), series="gain",
    ),
    Figure(
        "figure-5-10", "Figure 5.10", "Allocated registers in use, over kernel launches", frames.figure_510, "bars",
        WORKLOAD, Axis("utilisation", "in use / allocated", "fraction"), series="over launches",
        marks=(Mark("larf-register-utilisation", "mean", "average"),),
    ),
    Figure(
        "figure-5-11", "Figure 5.11", "Speedup of matrix multiplication on Fermi", frames.product_speedups, "bars",
        Axis("code", ""), Axis("speedup", "over the plain code", "ratio"),
    ),
    Figure(
        "figure-5-11-registers", "Figure 5.11", "Registers of matrix multiplication on Fermi",
        frames.product_registers, "bars", Axis("code", ""), Axis("registers", "registers in use in an SM", "KB"),
    ),
    Figure(
        "storage", "§5.6.4", "Tables of an SM", storage, "bars", Axis("table", ""), Axis("KB", "KB", "KB"),
        series="size",
    ),
)  # fmt: skip
