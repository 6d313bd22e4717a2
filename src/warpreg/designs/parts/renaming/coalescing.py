"""What the designs declare that read two registers in one access because the compiler says which."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Declaration, parameter
from warpreg.designs.parts.affinity.frequencies import frequencies_parameter, kernel_graph, unknown_trips_parameter
from warpreg.designs.parts.affinity.graph import Graph
from warpreg.designs.parts.renaming.events import EVENTS, RESOURCES
from warpreg.designs.parts.renaming.parts import RenamedFile


@dataclass(frozen=True)
class Coalescing(RenamedFile):
    """And what the compiler estimates."""

    virtualization: bool = parameter(True, source="corf §2.4.3, Table 2.1: registers that are dead are released")
    frequencies: str = frequencies_parameter()
    unknown_trips: float = unknown_trips_parameter()


def declaration(source: str) -> Declaration:
    """The declaration of such a design."""
    return Declaration(
        slot="mapping", source=source, order="sm", events=EVENTS, resources=RESOURCES, widths=True, profile=True
    )


def estimated(parameters: Coalescing, analysis: Analysis) -> Graph:
    """How often two registers are sources of the same instruction."""
    return kernel_graph(analysis, parameters.frequencies, parameters.unknown_trips)
