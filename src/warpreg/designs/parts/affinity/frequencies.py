"""The affinity graph of a kernel by the options of a design: static frequencies, or those of the recorded run."""

from __future__ import annotations

from typing import Any

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import parameter
from warpreg.designs.parts.affinity.graph import UNKNOWN_TRIPS, Edge, affinity_graph
from warpreg.designs.parts.hints.program_table import program_table

STATIC, PROFILE = "static", "profile"


def frequencies_parameter() -> Any:
    """The parameter ``frequencies``."""
    return parameter(
        STATIC,
        choices=(STATIC, PROFILE),
        source="corf §2.4.2: estimated, constant trip counts resolved; or a profile (§2.4.1), here of the run itself",
    )


def unknown_trips_parameter() -> Any:
    """The parameter ``unknown_trips``."""
    return parameter(
        float(UNKNOWN_TRIPS),
        unit="trips",
        low=1,
        high=1e6,
        source="assumed: corf §2.4.2 gives loops without a constant count a fixed weight and prints none",
    )


def kernel_graph(analysis: Analysis, frequencies: str, unknown_trips: float) -> dict[Edge, float]:
    """The affinity graph of the kernel of an analysis.  Raises NoProfileError for a profile without a recorded run."""
    weights = analysis.frequencies if frequencies == PROFILE else analysis.static_frequencies(unknown_trips)
    return affinity_graph(program_table(analysis.kernel), [float(weight) for weight in weights])
