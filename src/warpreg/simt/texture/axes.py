"""One dimension of a texture coordinate: scaled, brought into range by the address mode, split into texel and fraction
(CUDA C++ Programming Guide, "Texture Memory" and "Texture Fetching").

- A NaN coordinate is before the first texel.
- Wrap and mirror act on normalized coordinates only; otherwise they clamp.
- The fraction is rounded to the nearest 256th, ties to even, and may be 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpreg.simt.lanes import single_precision as fp
from warpreg.simt.lanes.single_precision import WORDS
from warpreg.simt.llvm.emitter import Code, Value
from warpreg.simt.texture.records import Descriptor
from warpreg.simt.texture.state import BORDER, MIRROR, WRAP, Field

Where = tuple[Descriptor, Descriptor, int]
"""Texture, sampler and the number of the dimension."""

Corner = tuple[Value, Value]
"""The texel index per lane, and whether the texel exists (predicate lanes); if not, the index is undefined."""


@dataclass(frozen=True)
class Axis:
    """``corner(0)`` is the texel, or the lower of two; ``fraction`` the weight of the upper one, None for one texel."""

    corner: Callable[[int], Corner]
    fraction: Value | None = None

    @staticmethod
    def whole(code: Code, coordinate: Value, where: Where) -> Axis:
        """An integer coordinate."""
        index = _bounded(code, coordinate, where)
        return Axis(lambda side: (index, index < _extent(where).splat()))

    @staticmethod
    def point(code: Code, coordinate: Value, where: Where) -> Axis:
        """The texel that contains a coordinate."""
        index = fp.to_integer(fp.floor(_in_texels(code, coordinate, where)))
        return Axis(lambda side: (index, index < _extent(where).splat()))

    @staticmethod
    def linear(code: Code, coordinate: Value, where: Where) -> Axis:
        """The two texels whose centres enclose a coordinate."""
        position = fp.sub(_in_texels(code, coordinate, where), fp.number(code, 0.5))
        below = fp.floor(position)
        steps = fp.nearest(fp.mul(fp.sub(position, below), fp.number(code, 256.0)))
        lower = fp.to_integer(below)
        extent = _extent(where)
        ends = [_bounded(code, _wrapped(code, i, where), where) for i in (lower, lower + 1)]
        return Axis(lambda side: (ends[side], ends[side] < extent.splat()), fp.mul(steps, fp.number(code, 1.0 / 256.0)))

    @staticmethod
    def scale(code: Code, texture: Descriptor, sampler: Descriptor, axis: int) -> Value:
        """The factor from a coordinate to texels (f32): 1, or the extent if it is normalized."""
        extent = texture.number(Field.EXTENT + 4 * axis)
        return _normalized(texture, sampler).select(extent, fp.one_number(code, 1.0))


def _normalized(texture: Descriptor, sampler: Descriptor) -> Value:
    return (texture.word(Field.NORMALIZED) != 0) & (sampler.word(Field.UNNORMALIZED) == 0)


def _extent(where: Where) -> Value:
    texture, _, axis = where
    return texture.word((Field.WIDTH, Field.HEIGHT, Field.DEPTH)[axis])


def _mode(where: Where) -> Value:
    _, sampler, axis = where
    return sampler.word(Field.ADDRESS + 4 * axis)


def _in_texels(code: Code, coordinate: Value, where: Where) -> Value:
    """A coordinate in texels: from 0 to below the extent, or one texel beyond on either side with a border."""
    texture, sampler, axis = where
    mode = _mode(where)
    repeats = _normalized(texture, sampler) & ((mode == WRAP) | (mode == MIRROR))
    within = code.var(coordinate)
    with code.if_(repeats, likely=False):
        within.set(_repeated(code, coordinate, mode == MIRROR))
    position = fp.mul(within.get(), Axis.scale(code, *where).splat())
    border = mode == BORDER
    extent = texture.number(Field.EXTENT + 4 * axis)
    beyond = Value(code, code.builder.fadd(extent.llvm, fp.one_number(code, 1.0).llvm))
    low = border.select(fp.one_number(code, -1.0), fp.one_number(code, 0.0))
    high = border.select(beyond, texture.number(Field.LAST + 4 * axis))
    return fp.at_most(fp.at_least(position, low.splat()), high.splat())


def _repeated(code: Code, coordinate: Value, mirror: Value) -> Value:
    """The fraction of a coordinate; in mirror mode 1 minus it where the integer below is odd."""
    below = fp.floor(coordinate)
    fraction = fp.sub(coordinate, below)
    half = fp.mul(below, fp.number(code, 0.5))
    odd = fp.compare(fp.floor(half), "!=", half)
    turned = fp.sub(fp.number(code, 1.0), fraction)
    return (odd & mirror.splat()).select(turned, fraction)


def _wrapped(code: Code, index: Value, where: Where) -> Value:
    """An index at most one texel out of range, moved to the other end in wrap mode."""
    texture, sampler, _ = where
    extent = _extent(where)
    turns = _normalized(texture, sampler) & (_mode(where) == WRAP)
    period = turns.select(extent, code.const(extent.type, 0)).splat()
    nothing = code.const(WORDS, 0)
    before = Value(code, code.builder.icmp_signed("<", index.llvm, nothing.llvm))
    past = Value(code, code.builder.icmp_signed(">=", index.llvm, extent.splat().llvm))
    return index + before.select(period, nothing) - past.select(period, nothing)


def _bounded(code: Code, index: Value, where: Where) -> Value:
    """An index clamped to the nearest texel, except in border mode."""
    nothing, last = code.const(WORDS, 0), (_extent(where) - 1).splat()
    before = Value(code, code.builder.icmp_signed("<", index.llvm, nothing.llvm))
    past = Value(code, code.builder.icmp_signed(">", index.llvm, last.llvm))
    inside = before.select(nothing, past.select(last, index))
    return (_mode(where) == BORDER).select(index, inside)


def faces(code: Code, point: list[Value]) -> tuple[Value, list[Value]]:
    """The face that a direction (three rows of f32 bits) hits, and where, as normalized coordinates (f32 bits).

    CUDA C++ Programming Guide, "Cubemap Textures"; for equal magnitudes x has priority over y, and y over z.
    """
    x, y, z = (p.bitcast(fp.FLOATS) for p in point)
    ax, ay, az = (fp.magnitude(v) for v in (x, y, z))
    first = fp.compare(ax, ">=", ay) & fp.compare(ax, ">=", az)
    second = ~first & fp.compare(ay, ">=", az)
    negative = [v.bitcast(WORDS) >> 31 for v in (x, y, z)]
    down = [(n != 0) for n in negative]
    face = first.select(negative[0], second.select(negative[1] + 2, negative[2] + 4))
    major = first.select(ax, second.select(ay, az))
    minus = fp.negated
    s = first.select(down[0].select(z, minus(z)), second.select(x, down[2].select(minus(x), x)))
    t = second.select(down[1].select(minus(z), z), minus(y))
    return face, [_on_face(code, v, major) for v in (s, t)]


def _on_face(code: Code, minor: Value, major: Value) -> Value:
    position = fp.add(fp.div(minor, major), fp.number(code, 1.0))
    return fp.mul(position, fp.number(code, 0.5)).bitcast(WORDS)
