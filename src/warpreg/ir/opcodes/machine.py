"""Instructions of NVIDIA's machines that PTX lacks; only the compiler forms them.

``add3`` is IADD3 of Volta and later: the sum of three integers.
"""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Opcode

V = TypeVar("V")


def add3(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    return m.add(m.add(a, b), c)


OPCODES = (Opcode("add3.(s32|u32)", "T <- T T T", add3, constants=False),)
