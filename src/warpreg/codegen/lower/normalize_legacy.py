"""Normalizes legacy PTX: makes implied modifiers explicit.

Up to PTX ISA 1.3 approximations need no ``.approx`` and flush subnormals; on targets sm_1x all single-precision
arithmetic flushes them (PTX ISA, section 9.7.3, the notes of each instruction).  ``mad.f32`` of those targets runs
fused, as on every later device; up to PTX ISA 3.1 its default rounding is to nearest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from warpreg.ir.instruction import Instruction
from warpreg.ir.module import Module
from warpreg.ir.opcodes import canonical

APPROXIMATE = frozenset("sin cos lg2 ex2 rcp sqrt rsqrt div".split())
FLUSHING = frozenset("add sub mul mad fma min max abs neg set setp slct cvt".split()) | APPROXIMATE
UNROUNDED = frozenset({"ftz", "sat", "f32"})
ROUNDINGS = frozenset("approx full rn rz rm rp".split())


def legacy_normalizer(module: Module) -> Callable[[Instruction], Instruction] | None:
    """The function that normalizes each instruction of a module; None if its PTX needs none."""
    version = tuple(int(part) for part in module.version.split("."))
    flushes = any(name.startswith("sm_1") and len(name) == 5 for name in module.target)
    implies = version < (1, 4)
    if not flushes and version >= (3, 2):
        return None

    def normalized(instruction: Instruction) -> Instruction:
        modifiers = instruction.modifiers
        if implies:
            modifiers = _with_rounding(instruction.opcode, modifiers)
        if instruction.opcode == "mad" and "f32" in modifiers and UNROUNDED.issuperset(modifiers):
            modifiers = canonical("mad", ("rn", *modifiers))
        if flushes and _can_flush(instruction, modifiers, narrow_only=version <= (1, 4)):
            at = next(i for i, m in enumerate(modifiers) if m == "sat" or m[1:].isdigit())
            modifiers = (*modifiers[:at], "ftz", *modifiers[at:])
        return instruction if modifiers == instruction.modifiers else replace(instruction, modifiers=modifiers)

    return normalized


def _with_rounding(opcode: str, modifiers: tuple[str, ...]) -> tuple[str, ...]:
    """The implied ``.approx.ftz`` of single precision and ``.rn`` of double."""
    if ROUNDINGS & set(modifiers) or not modifiers:
        return modifiers
    if modifiers[-1] == "f64":
        rounds = opcode in ("div", "rcp", "sqrt", "mad")
        return ("rn", *modifiers) if rounds else ("approx", *modifiers) if opcode == "rsqrt" else modifiers
    if opcode in APPROXIMATE and modifiers == ("f32",):
        return ("approx", "ftz", "f32")
    return modifiers


def _can_flush(instruction: Instruction, modifiers: tuple[str, ...], narrow_only: bool) -> bool:
    """Whether ``.ftz`` may be added; ``narrow_only`` excludes conversions to 64 bits."""
    if instruction.opcode not in FLUSHING or "ftz" in modifiers or "f32" not in modifiers:
        return False
    if instruction.opcode == "cvt":
        return len(modifiers) > 1 and not (narrow_only and modifiers[-2].endswith("64"))
    return modifiers[-1] == "f32"
