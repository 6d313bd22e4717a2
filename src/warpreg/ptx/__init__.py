"""PTX text to `ir.module.Module` and back.

Properties of a parsed module:

- A register operand is a `Register` of its declared type, one object for each scope; a nested scope that redeclares the
  name has different objects with the same written name, and its `Scope` statement contains that declaration.  A vector
  register ``v`` is the `Vector` of ``v.x``, ``v.y``, ...
- A name that is neither register, variable nor function is a `Label`; ``bra`` targets always are.
- Constant expressions are folded.  A decimal float constant has form ``f64`` whatever the type of the instruction;
  ``WARP_SZ`` is 32.
- A memory operand is an `Address` whose ``offset`` holds the whole displacement; a symbol's offset inside it is 0.
- Directives and qualifiers keep their written tokens, without commas.
- ``Instruction.location`` is the location of its guard or opcode; ``source`` is that of the last ``.loc``.
"""

from warpreg.ptx.diagnostics import Diagnostic, PtxError
from warpreg.ptx.parser import parse
from warpreg.ptx.writer import write

__all__ = ["Diagnostic", "PtxError", "parse", "write"]
