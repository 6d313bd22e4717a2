"""Chip power saved by a saving in the register file (Gebhart et al., ISCA 2011 §5.5; used again in MICRO 2011 §6.4)."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.energy.errors import EnergyError
from warpreg.gpu.sourced import quantity


@dataclass(frozen=True, slots=True)
class ChipSaving:
    """A register-file saving in watts per SM and per chip, and as shares of SM and of chip dynamic power."""

    watts_per_sm: float
    watts: float
    of_sm: float
    of_dynamic: float


@dataclass(frozen=True, slots=True)
class ChipPower:
    """Breakdown of chip power; each fraction is of the level above."""

    power: float = quantity("chip power", "W", 0, 10_000)
    leakage: float = quantity("leakage, of chip power", low=0, high=1)
    sm: float = quantity("SMs, of dynamic power", low=0, high=1)
    register_file: float = quantity("register file, of SM power", low=0, high=1)
    sms: int = quantity("SMs", "SMs", 1, 1024)

    @property
    def dynamic_w(self) -> float:
        """Dynamic power of the chip, in W."""
        return self.power * (1 - self.leakage)

    @property
    def sm_w(self) -> float:
        """Dynamic power of one SM, in W."""
        return self.dynamic_w * self.sm / self.sms

    @property
    def register_file_w(self) -> float:
        """Power of one SM's register file, in W."""
        return self.sm_w * self.register_file

    def saved(self, saving: float) -> ChipSaving:
        """Chip power saved by a register-file saving: a fraction up to 1, negative for a design that costs energy."""
        if not saving <= 1:
            raise EnergyError(f"register-file saving: expected a fraction up to 1, found {saving:g}")
        watts_per_sm = self.register_file_w * saving
        return ChipSaving(
            watts_per_sm=watts_per_sm,
            watts=watts_per_sm * self.sms,
            of_sm=self.register_file * saving,
            of_dynamic=self.register_file * saving * self.sm,
        )
