"""Division, remainder, reciprocal and square root as sequences of the machine's own instructions.

GPUs have no divider: they have approximations (``rcp.approx``, ``rsqrt.approx``) and fused multiply-adds.  Each file
holds the sequences of one kind of number; `warpreg.codegen.passes.divide.expand` is the pass.
"""

from warpreg.codegen.passes.divide.expand import ExpandDivision

__all__ = ["ExpandDivision"]
