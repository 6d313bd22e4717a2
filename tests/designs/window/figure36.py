"""The code of Figure 3.6 of the thesis, lines 2 to 14."""

from __future__ import annotations

from tests.designs.kernels import at, kernel, op, p, r

CODE = [
    op("ld.global.u32", r(3), at(r(8))),
    op("mov.b32", r(2), 0xFF4),
    op("mul.lo.u32", r(1), r(0), r(2)),
    op("mad.lo.u32", r(1), r(0), r(2), r(1)),
    op("shl.b32", r(1), r(1), 16),
    op("mad.lo.u32", r(0), r(0), r(2), r(1)),
    op("add.u32", r(0), r(0), 0x18),  # s[0x0018] in the text: no register
    op("add.u32", r(0), r(9), r(0)),
    op("add.u32", r(1), r(0), 0x7F8),
    op("ld.global.u32", r(2), at(r(1))),
    op("shl.b32", r(2), r(2), 16),
    op("add.u32", r(4), r(2), 0x8F),
    op("setp.ne.s32", p(0), r(3), r(1)),
]
FIRST_LINE = 2
FIGURE_36 = kernel(CODE)


def line(number: int) -> int:
    """The pc of a line of the figure."""
    return number - FIRST_LINE
