"""Loop unrolling as `ptxas` does it."""

from warpreg.codegen.unroll.unroll_loops import UnrollLoops

__all__ = ["UnrollLoops"]
