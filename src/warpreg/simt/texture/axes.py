"""One dimension of a texture coordinate: scaled to texels, rounded, split into texel and fraction, and brought into
range by the address mode (CUDA C++ Programming Guide, "Texture Memory" and "Texture Fetching").

Measured on an H100 where the guide is silent:

- For a linear filter and ``tld4``, the coordinate is rounded to the nearest 256th of a texel before it is split.
- Beyond the outer centres, a clamped coordinate gives the outer texel the whole weight.
- Wrap and mirror act on the indices of texels, after the coordinate is split.
- An integer coordinate outside the texture reads nothing, whatever the address mode.

Ties of the rounding go to even, and a NaN coordinate is before the first texel; no measurement decides these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpreg.simt.lanes import single_precision as fp
from warpreg.simt.lanes.single_precision import WORDS
from warpreg.simt.llvm.emitter import Code, Value
from warpreg.simt.texture.descriptors import Descriptor
from warpreg.simt.texture.state import BORDER, MIRROR, WRAP, Field

Where = tuple[Descriptor, Descriptor, int]
"""Texture, sampler and the number of the dimension."""

Corner = tuple[Value, Value]
"""The texel index per lane, and whether the texel exists (predicate lanes); if not, the index is undefined."""

BEYOND = 2.0
"""Texels on either side of a texture to which coordinates are limited where they do not repeat."""

FAR = float(1 << 20)
"""Texels from which a repeating coordinate is first reduced, exactly, so that indices are exact in single precision."""


@dataclass(frozen=True)
class Axis:
    """``corner(0)`` is the texel, or the lower of two; ``upper`` the weight of the upper one in 256ths, from 0 to 255,
    None for one texel.
    """

    corner: Callable[[int], Corner]
    upper: Value | None = None

    @staticmethod
    def whole(code: Code, coordinate: Value, where: Where) -> Axis:
        """An integer coordinate."""
        return Axis(lambda side: (coordinate, coordinate < _extent(where).splat()))

    @staticmethod
    def point(code: Code, coordinate: Value, offset: Value | None, where: Where) -> Axis:
        """The texel that contains a coordinate plus an ``offset`` in texels."""
        texel = _texel(code, fp.floor(_in_texels(code, coordinate, offset, where)), where)
        return Axis(lambda side: texel)

    @staticmethod
    def linear(code: Code, coordinate: Value, offset: Value | None, where: Where) -> Axis:
        """The two texels whose centres enclose a coordinate plus an ``offset`` in texels."""
        steps, step = fp.number(code, 256.0), fp.number(code, 1.0 / 256.0)
        rounded = fp.mul(fp.nearest(fp.mul(_in_texels(code, coordinate, offset, where), steps)), step)
        position = fp.sub(rounded, fp.number(code, 0.5))
        below = fp.floor(position)
        ends = [_texel(code, index, where) for index in (below, fp.add(below, fp.number(code, 1.0)))]
        last = fp.sub(_extent_number(where).splat(), fp.number(code, 1.0))
        between = fp.compare(below, ">=", fp.number(code, 0.0)) & fp.compare(below, "<", last)
        clamps = ~_repeats(where) & (_mode(where) != BORDER)
        upper = (between | (~clamps).splat()).select(fp.sub(position, below), fp.number(code, 0.0))
        return Axis(lambda side: ends[side], fp.mul(upper, steps))


def _normalized(texture: Descriptor, sampler: Descriptor) -> Value:
    return (texture.word(Field.NORMALIZED) != 0) & (sampler.word(Field.UNNORMALIZED) == 0)


def _extent(where: Where) -> Value:
    texture, _, axis = where
    return texture.word((Field.WIDTH, Field.HEIGHT, Field.DEPTH)[axis])


def _extent_number(where: Where) -> Value:
    texture, _, axis = where
    return texture.number(Field.EXTENT + 4 * axis)


def _mode(where: Where) -> Value:
    _, sampler, axis = where
    return sampler.word(Field.ADDRESS + 4 * axis)


def _repeats(where: Where) -> Value:
    """Whether the texture is repeated: wrap and mirror act on normalized coordinates only, otherwise they clamp."""
    texture, sampler, _ = where
    mode = _mode(where)
    return _normalized(texture, sampler) & ((mode == WRAP) | (mode == MIRROR))


def _in_texels(code: Code, coordinate: Value, offset: Value | None, where: Where) -> Value:
    """A coordinate in texels; it is limited to a range in which whole numbers are exact."""
    texture, sampler, _ = where
    extent = _extent_number(where)
    scale = _normalized(texture, sampler).select(extent, fp.one_number(code, 1.0)).splat()
    moved = (lambda texels: texels) if offset is None else (lambda texels: fp.add(texels, fp.from_signed(offset)))
    place = moved(fp.mul(coordinate, scale))
    high = Value(code, code.builder.fadd(extent.llvm, fp.one_number(code, BEYOND).llvm)).splat()
    position = code.var(fp.at_most(fp.at_least(place, fp.number(code, -BEYOND)), high))
    with code.if_(_repeats(where), likely=False):
        turns = fp.floor(fp.mul(coordinate, fp.number(code, 0.5)))
        reduced = fp.sub(coordinate, fp.mul(turns, fp.number(code, 2.0)))
        near = fp.compare(fp.magnitude(place), "<", fp.number(code, FAR))
        found = near.select(place, moved(fp.mul(reduced, scale)))
        position.set(fp.compare(found, "==", found).select(found, fp.number(code, 0.0)))
    return position.get()


def _texel(code: Code, index: Value, where: Where) -> Corner:
    """The texel of an index, a whole number that may be out of range."""
    inside = code.var(index)
    with code.if_(_repeats(where), likely=False):
        inside.set(_repeated(code, index, where))
    chosen = _bounded(code, fp.to_integer(inside.get()), where)
    return chosen, chosen < _extent(where).splat()


def _repeated(code: Code, index: Value, where: Where) -> Value:
    """An index modulo the extent; in mirror mode modulo twice the extent, of which the second half runs backwards."""
    extent = _extent_number(where)
    twice = Value(code, code.builder.fadd(extent.llvm, extent.llvm))
    period = (_mode(where) == MIRROR).select(twice, extent).splat()
    within = fp.sub(index, fp.mul(period, fp.floor(fp.div(index, period))))
    turned = fp.sub(fp.sub(period, fp.number(code, 1.0)), within)
    return fp.compare(within, "<", extent.splat()).select(within, turned)


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
