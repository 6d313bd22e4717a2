"""The code of a kernel of Table 4.1: as it is compiled today, or with at most the printed number of registers.

The printed one has addresses of 32 bits, as on the paper's machine, and spills what does not fit.  Code that needs
fewer registers than are printed keeps its number, and an SM is shared out by the printed one (`samples`).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Literal

from warpreg.codegen.regalloc.allocator import AllocationError
from warpreg.evaluation.runs.run import CompileChoice, Run, RunError, find_workload, run_workload
from warpreg.evaluation.studies.study import EVERYTHING
from warpreg.simt import Record
from warpreg_papers.regmutex.kernels import TABLE

Code = Literal["printed", "aimed", "in order", "compiled"]
PRINTED: Code = "printed"
AIMED: Code = "aimed"
"""As printed, where the compiler shortens live ranges until no more than the printed base set is live."""
IN_ORDER: Code = "in order"
"""As printed, with instructions in the order of the PTX."""
COMPILED: Code = "compiled"
ADDRESS_BITS = 32
MAX_MORE = 32
"""Registers beyond the printed number that are tried where the compiler cannot reach it."""


def with_code(run: Run, code: Code) -> Run:
    """The run of a workload, or the same one with the printed number of registers."""
    if code == COMPILED:
        return run
    return _printed(run.name, str(run.options["size"]), int(run.options["seed"]), code)


@functools.lru_cache(maxsize=1)
def _printed(workload: str, size: str, seed: int, code: Code) -> Run:
    return within_printed(workload, size, seed, _options(workload, code), EVERYTHING)


def _options(workload: str, code: Code) -> CompileChoice:
    return CompileChoice(schedule=code != IN_ORDER, live_words=TABLE[workload].base if code == AIMED else None)


def within_printed(workload: str, size: str, seed: int, options: CompileChoice, record: Record) -> Run:
    """The run with the least number of registers from the printed one on that the compiler reaches, with other options.

    Raises RunError if it reaches none of them.
    """
    printed = TABLE[workload].registers
    for most in range(printed, printed + MAX_MORE):
        choice = dataclasses.replace(options, max_registers=most, address_bits=ADDRESS_BITS)
        try:
            return run_workload(find_workload(workload), size, seed, choice, record)
        except AllocationError:
            continue
    raise RunError(
        f"kernel {TABLE[workload].kernel}: expected code of at most {printed} registers, as printed, found none of "
        f"less than {printed + MAX_MORE}"
    )
