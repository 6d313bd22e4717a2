"""Numbered names: the registers that they declare."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from warpreg.codegen.lower.scopes import Scope, UniqueNames
from warpreg.ir.module import RegisterDeclaration
from warpreg.ir.operands import Operand, Register, Vector
from warpreg.ir.types import B32, F32, U32, U64


def scope(*declarations: RegisterDeclaration) -> Scope:
    found, names = Scope(), UniqueNames()
    for declaration in declarations:
        found.declare(declaration, names)
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("r7", Register("r7", B32)),
        ("r19", Register("r19", B32)),
        ("r120", Register("r120$1", U64)),
        ("r139", Register("r139$1", U64)),
        ("r140", None),
        ("r07", None),
        ("r", None),
    ],
)
def test_a_prefix_may_end_in_a_digit_and_the_shortest_that_fits_counts(name: str, expected: Operand | None) -> None:
    both = scope(RegisterDeclaration(B32, "r", 20), RegisterDeclaration(U64, "r1", 40))
    assert both.find(name) == expected


def parts(name: str, components: str) -> Sequence[Register]:
    return tuple(Register(f"{name}.{c}", F32) for c in components)


def test_numbered_vectors_have_components() -> None:
    vectors = scope(RegisterDeclaration(F32, "v", 4, 4), RegisterDeclaration(U32, "single", None, 2))
    assert vectors.find("v3") == Vector(tuple(parts("v3", "xyzw")))
    assert vectors.find("v0.w") == Register("v0.w", F32)
    assert vectors.find("v4") is None
    assert vectors.find("single.y") == Register("single.y", U32)
    assert vectors.find("single.z") is None
