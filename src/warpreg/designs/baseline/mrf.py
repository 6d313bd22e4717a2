"""Main register file alone: the baseline.  Each access of a warp-register goes to the MRF.

No hooks: an operand that no hook plans goes to level 0.
"""

from warpreg.designs.interface import Declaration

DESIGN = Declaration(
    slot="levels", source="rfc §2.1: operands are read from and results written to the banks of the MRF"
)
