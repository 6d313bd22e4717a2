"""Number of registers for which tests compile a workload that must spill."""

FEW_REGISTERS = 16
LARGE = {"myocyte": 64}
"""Kernels of thousands of instructions and over 100 registers: at 16 they would be spills, a minute's compilation."""


def few_registers(name: str) -> int:
    """The most registers that the kernels of workload ``name`` may demand where they should spill."""
    return LARGE.get(name, FEW_REGISTERS)
