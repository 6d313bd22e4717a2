"""Half of a warp's registers need no place of their own, so that twice as many warps fit."""

from warpreg.designs import interface as w
from warpreg.gpu import Machine

DESIGN = w.Declaration(slot="mapping", source="assumed: a miniature")


def residency(parameters: w.NoParameters, program: w.Program, machine: Machine) -> w.Residency:
    return w.Residency(-(-program.register_count // 2))
