"""The semantics of PTX instructions as one table: types, unit, latency class, operands and meaning of each opcode.

`lookup` finds an instruction's row, an `Opcode`.  Its *meaning* is a function over an `Algebra`: run over LLVM vectors
it compiles a kernel, run over lists of integers it interprets one.  Rows are grouped by module (`integer`, `floating`,
`half`, `packed`, `elementary`, `bits`, `compare`, `convert`, `convert_half`, `convert_byte`, `convert_random`,
`convert_scale`, `video`, `video_simd`, `memory`, `control`, `cross_lane`) and may be read as the specification.

Choices where PTX leaves a result open, so that a run does not depend on the host:

- Arithmetic that yields a NaN yields 0x7fffffff (f32), 0x7ff8000000000000 (f64) or 0x7fff (f16, bf16), whatever NaN
  went in.  ``mov``,
  ``selp``, ``abs``, ``neg``, ``copysign`` and memory operations move bits and keep payloads.
- Integer division by zero: the quotient is all ones, the remainder is the dividend.  The smallest integer divided by -1
  is itself, remainder 0.
- ``sub.cc`` and ``subc.cc`` leave the carry of the machine's adder, 1 where nothing was borrowed, and ``subc`` takes 1
  off where there was no carry.  The manual speaks of a borrow; chains of subtractions alone cannot tell.
- ``shfl`` from an inactive lane returns the lane's own value; its predicate tells only whether the lane number is in
  range.
- Approximate instructions (``.approx``, ``.full``) stay within PTX's error bounds: reciprocals, roots and quotients are
  correctly rounded operations, ``ex2``, ``lg2``, ``sin``, ``cos`` and ``tanh`` polynomials.
- ``.ftz`` flushes a subnormal result after rounding.
- ``.relu`` makes +0 of -0.  ``elect`` takes the lowest active member.
- A cluster is one thread block: ``shared::cluster`` is ``shared``, ``mapa`` the identity.
"""

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Latency, Meaning, Opcode, Signature, Unit
from warpreg.ir.opcodes.table import (
    CARRY,
    OPCODES,
    Traits,
    canonical,
    carry_defs,
    carry_uses,
    classify,
    flattened,
    form,
    is_allowed,
    is_known,
    lookup,
    reads_carry,
    resolve,
    signature,
    traits,
    writes_carry,
)

__all__ = [
    "CARRY",
    "OPCODES",
    "Algebra",
    "Form",
    "Latency",
    "Meaning",
    "Opcode",
    "Signature",
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
    "reads_carry",
    "resolve",
    "signature",
    "traits",
    "writes_carry",
]
