"""Machine descriptions: which GPU, with every number and its source.

``load("gtx480")`` or ``load("my_gpu.toml")`` gives a :class:`Machine`; ``occupancy`` says how many warps it can hold.
"""

from warpreg.gpu.machine import Machine, MachineError, load, names
from warpreg.gpu.occupancy import Occupancy, OccupancyError, occupancy
from warpreg.gpu.sourced import Origin

__all__ = ["Machine", "MachineError", "Occupancy", "OccupancyError", "Origin", "load", "names", "occupancy"]
