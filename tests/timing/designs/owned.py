"""Each warp owns collectors, and nothing else changes."""

from dataclasses import dataclass

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="levels", source="assumed: a miniature")


@dataclass(frozen=True)
class Parameters:
    """The collectors of a warp."""

    reading: int = w.parameter(1, low=1, high=4, source="assumed: a miniature")


def collectors(parameters: Parameters) -> w.Collectors:
    return w.Collectors(instructions=4, reading=parameters.reading, operand_ports=1)
