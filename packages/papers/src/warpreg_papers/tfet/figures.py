"""Figures of the study of the hybrid CMOS-TFET register file, and its sensitivity studies."""

from __future__ import annotations

from warpreg.report.figure import WORKLOAD, Axis, Figure, Mark
from warpreg_papers.tfet import frames

NORMALIZED = Axis("normalized", "of the gated CMOS register file", "ratio")

FIGURES = (
    Figure(
        "figure-4", "Figure 4", "Stall time of warps caused by off-chip accesses", frames.figure_4, "bars", WORKLOAD,
        Axis("stall", "of the time of warps", "fraction"), marks=(Mark("tfet-stall-share", "mean"),),
    ),
    Figure(
        "figure-6a", "Figure 6(a)", "Execution time", frames.figure_6a, "bars", WORKLOAD,
        Axis("time", "time / time of the gated CMOS register file", "ratio"), series="design",
    ),
    Figure(
        "figure-6b", "Figure 6(b)", "Energy of the register file", frames.figure_6b, "bars", WORKLOAD,
        Axis("energy", "energy / energy of the gated CMOS register file", "ratio"), series="design",
        marks=(
            Mark("tfet-all-tfet-energy", "mean", "all_TFET"),
            Mark("tfet-drowsy-energy-saving", "mean", "drowsy", left=True),
            Mark("tfet-cmos-ra-energy-saving", "mean", "CMOS_RA", left=True),
            Mark("tfet-mem-ra-energy-saving", "mean", "MEM_RA", left=True),
        ),
    ),
    Figure(
        "figure-7", "Figure 7", "Dynamic energy and leakage", frames.figure_7, "stacks", WORKLOAD,
        Axis("energy", "of the energy of the baseline", "ratio"), series="part", panels="design",
    ),
    Figure(
        "cmos-size", "§3.3", "MEM_RA by the number of CMOS registers of 16K", frames.sizes, "bars",
        Axis("CMOS registers", "CMOS registers"), NORMALIZED, series="quantity",
    ),
    Figure(
        "reference-latency", "§3.3", "MEM_RA by reference latency", frames.references, "bars",
        Axis("reference latency", "reference latency"), NORMALIZED, series="quantity",
    ),
    Figure(
        "sampling", "§3.2", "MEM_RA by the sampling of latencies, which the paper does not print", frames.sampling,
        "bars", Axis("sampling", ""), NORMALIZED, series="quantity",
    ),
    Figure(
        "tfet-destinations", "§3.3", "Destinations in TFET vectors under MEM_RA", frames.forced, "stacks", WORKLOAD,
        Axis("destinations", "of all renamed destinations", "fraction"), series="reason",
    ),
    Figure(
        "energy-band", "§4.1", "Mean energy at both ends of the derived energies", frames.uncertainty, "bars",
        Axis("design", ""), Axis("energy", "energy / energy of the gated CMOS register file", "ratio"), series="end",
    ),
)  # fmt: skip
