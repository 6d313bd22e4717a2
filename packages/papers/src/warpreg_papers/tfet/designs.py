"""Workloads, machine and designs of the study of the hybrid CMOS-TFET register file.

The text names eleven benchmarks (section 4.2); the full list is only in its figures.  They were mapped to workloads
before anything was measured, and all are in the suite:

- BFS, BP, NW (Rodinia) and CP (Parboil) are `bfs`, `backprop`, `nw` and `cp`; LPS and RAY are those of ISPASS 2009,
  `lps` and `ray`; MT and MM are transposition and multiplication of matrices of the CUDA SDK, `transpose` and
  `matrix-mul`.
- NE is not expanded; nearest neighbour of Rodinia, `nn`, is the benchmark of these suites with these letters, and like
  NE it is memory-intensive.
- BN is not expanded; binomial options of the CUDA SDK, `binomial-options`, computes most of the time, as BN must, which
  all-TFET registers slow down by almost two.
- SLA is not expanded; the scan of large arrays of the CUDA SDK, `scan`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sampled
from warpreg.evaluation.studies.study import Measure
from warpreg_papers.tfet.samples import LongestLaunches

BENCHMARKS: Mapping[str, str] = {
    "BFS": "bfs", "BP": "backprop", "MT": "transpose", "NE": "nn", "NW": "nw", "CP": "cp", "LPS": "lps",
    "MM": "matrix-mul", "RAY": "ray", "BN": "binomial-options", "SLA": "scan",
}  # fmt: skip
"""The paper's names, and the workloads."""
WORKLOADS = tuple(BENCHMARKS.values())
MEMORY = tuple(BENCHMARKS[name] for name in ("BFS", "BP", "MT", "NE", "NW"))
"""Memory-intensive benchmarks (section 3.3)."""
COMPUTE = tuple(BENCHMARKS[name] for name in ("CP", "LPS", "MM", "RAY"))
"""Computation-intensive benchmarks (section 3.3)."""
MM, SLA = BENCHMARKS["MM"], BENCHMARKS["SLA"]
MACHINE, TECHNOLOGY = "tfet", "tfet"
VECTORS, KILO = 512, 32
"""Vectors of an SM (section 3.3), and vectors of a thousand words, as the paper counts them."""

GATED = Variant.of("power-gated")
"""The baseline: CMOS registers only, unused ones gated (section 4.2)."""
ALL_TFET = Variant.of("all-tfet")
DROWSY = Variant.of("drowsy")
CMOS_RA = Variant.of("cmos-ra")
MEM_RA = Variant.of("mem-ra")
IDEAL = Variant.of("ideal-mem-ra")
STAGE = Variant.of("cmos-ra", tfet=0)
"""CMOS registers behind the renaming stage: what that alone costs (section 3.2)."""
COMPARED: Mapping[str, Variant] = {
    "all_TFET": ALL_TFET, "drowsy": DROWSY, "CMOS_RA": CMOS_RA, "MEM_RA": MEM_RA, "idealMEM_RA": IDEAL,
}  # fmt: skip
"""The designs of Figure 6, by the paper's names."""

CMOS_SIZES = (6, 10, 12.5, 14)
"""CMOS registers in thousands of words (section 3.3)."""
REFERENCES = (32, 64, 128, 256, 512)
"""Reference latencies around the 128 cycles of section 3.3."""
PERIODS = (256, 1024, 4096)
"""Sampling periods; the paper has none (section 3.2)."""
SCOPES = ("SM", "mean", "warp")


def sized(kilowords: float) -> Variant:
    """MEM_RA with so many CMOS registers."""
    tfet = VECTORS - round(kilowords * KILO)
    return MEM_RA if tfet == 112 else Variant.of("mem-ra", tfet=tfet)


def referred(cycles: int) -> Variant:
    """MEM_RA with a reference latency."""
    return MEM_RA if cycles == 128 else Variant.of("mem-ra", reference=cycles)


def sampled(period: int = 1024, scope: str = "SM") -> Variant:
    """MEM_RA with a sampling period and scope."""
    return MEM_RA if (period, scope) == (1024, "SM") else Variant.of("mem-ra", period=period, scope=scope)


def timed(variant: Variant) -> Sampled:
    """The measure of a design."""
    return Sampled(MACHINE, variant, LongestLaunches())


BASELINE = timed(GATED)
SIZES = {size: sized(size) for size in CMOS_SIZES}
LATENCIES = {cycles: referred(cycles) for cycles in REFERENCES}
SAMPLING = {
    **{f"every {period} cycles": sampled(period) for period in PERIODS},
    **{f"scope {scope}": sampled(scope=scope) for scope in SCOPES},
}
VARIANTS = tuple(dict.fromkeys([*COMPARED.values(), STAGE, *SIZES.values(), *LATENCIES.values(), *SAMPLING.values()]))
MEASURES: Sequence[Measure[object]] = (BASELINE, *map(timed, VARIANTS))
