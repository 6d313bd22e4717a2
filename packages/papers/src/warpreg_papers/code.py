"""The code that a paper works on: its instruction set, its order and the width of its addresses, as compiler options.

A paper that says what it works on declares ``CODES`` in its ``results``: its own code first, by which its results are
measured, then others to set beside it.  All other papers run the code that the compiler makes by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice


@dataclass(frozen=True, slots=True)
class Code:
    """``title`` completes "measured on"; ``source`` says what the paper states about its code, and what is assumed."""

    title: str
    choice: CompileChoice
    source: str = ""


MODERN = Code("machine code that is scheduled for current latencies, addresses of 64 bits", AS_COMPILED)
"""The compiler's default."""
ONLY_MODERN: Mapping[str, Code] = {"modern": MODERN}
