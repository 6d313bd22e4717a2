"""Machine descriptions: the parameters of a GPU, each with its source.

``load("gtx480")`` or ``load("my_gpu.toml")`` returns a :class:`Machine`; ``occupancy`` computes its resident warps.
"""

from warpreg.gpu.machine import Machine, MachineError, load, names
from warpreg.gpu.occupancy import Occupancy, OccupancyError, occupancy
from warpreg.gpu.sourced import Origin

__all__ = ["Machine", "MachineError", "Occupancy", "OccupancyError", "Origin", "load", "names", "occupancy"]
