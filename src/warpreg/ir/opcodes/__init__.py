"""Semantics of PTX instructions in one table: types, unit, latency class, operands and meaning of each opcode.

`lookup` finds an instruction's row, an `Opcode`.  Its *meaning* is a function over an `Algebra`: with LLVM vectors it
compiles a kernel, with lists of integers it interprets one.  Rows are grouped by module (`integer`, `floating`, `half`,
`packed`, `elementary`, `bits`, `compare`, `convert`, `convert_half`, `convert_byte`, `convert_random`, `convert_scale`,
`video`, `video_simd`, `memory`, `control`, `cross_lane`) and may be read as the specification.

If PTX leaves a result open, these rules apply, so that a run does not depend on the host:

- Arithmetic with a NaN result returns 0x7fffffff (f32), 0x7ff8000000000000 (f64) or 0x7fff (f16, bf16), for any input
  NaN.  ``mov``, ``selp``, ``abs``, ``neg``, ``copysign`` and memory operations preserve all bits.
- Integer division by zero: the quotient is all ones, the remainder is the dividend.  The smallest integer divided by -1
  is itself, remainder 0.
- ``sub.cc`` and ``subc.cc`` set the carry of the machine's adder, 1 if nothing was borrowed, and ``subc`` subtracts 1
  if the carry is 0.  The manual describes a borrow; chains of subtractions alone give the same results.
- ``shfl`` from an inactive lane returns the lane's own value; its predicate only states whether the lane number is in
  range.
- Approximate instructions (``.approx``, ``.full``) stay within PTX's error bounds: reciprocals, roots and quotients are
  correctly rounded; ``ex2``, ``lg2``, ``sin``, ``cos`` and ``tanh`` are polynomials.
- ``.ftz`` flushes a subnormal result after rounding.
- ``.relu`` returns +0 for -0.  ``elect`` selects the lowest active member.
- A cluster is one thread block: ``shared::cluster`` is ``shared``, ``mapa`` the identity.
"""

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Latency, Meaning, Opcode, Signature, Unit
from warpreg.ir.opcodes.table import (
    CARRY,
    OPCODES,
    canonical,
    carry_defs,
    carry_uses,
    classify,
    flattened,
    form,
    is_allowed,
    is_known,
    lookup,
    resolve,
    signature,
    traits_of,
)
from warpreg.ir.opcodes.trait import Flow, Trait, Traits

__all__ = [
    "CARRY",
    "OPCODES",
    "Algebra",
    "Flow",
    "Form",
    "Latency",
    "Meaning",
    "Opcode",
    "Signature",
    "Trait",
    "Traits",
    "Unit",
    "canonical",
    "carry_defs",
    "carry_uses",
    "classify",
    "flattened",
    "form",
    "is_allowed",
    "is_known",
    "lookup",
    "resolve",
    "signature",
    "traits_of",
]
