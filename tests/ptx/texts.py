"""Short PTX texts for the tests: a header, a kernel around statements, and what they parse to."""

from __future__ import annotations

from warpreg import ptx
from warpreg.ir.instruction import Instruction
from warpreg.ir.module import Module, Statement

HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"
DECLARATIONS = """.reg .pred %p<4>;
.reg .b32 %r<10>;
.reg .f32 %f<10>;
.reg .b64 %rd<10>;
"""


def kernel(statements: str) -> str:
    """A module whose one kernel ``k`` has the registers %p0-3, %r0-9, %f0-9, %rd0-9.

    ``statements`` begin on line 10, column 1.
    """
    return f"{HEADER}.global .u32 table[16]; .visible .entry k(.param .u64 in) {{\n\n{DECLARATIONS}{statements}\n}}\n"


def statements(text: str) -> tuple[Statement, ...]:
    """What the statements in ``kernel(text)`` parse to, without the declarations of its registers."""
    body = ptx.parse(kernel(text)).function("k").body
    assert body is not None
    return body[4:]


def instruction(text: str) -> Instruction:
    """The one instruction of ``kernel(text)``; reading it back from its printed form must change nothing."""
    (found,) = (s for s in statements(text) if isinstance(s, Instruction))
    again = ptx.parse(ptx.write(ptx.parse(kernel(text))))
    assert again == ptx.parse(kernel(text))
    return found


def module(text: str) -> Module:
    """A module of the header and ``text``; reading it back from its printed form must change nothing."""
    found = ptx.parse(HEADER + text)
    assert ptx.parse(ptx.write(found)) == found
    return found


def errors(text: str) -> list[tuple[int, int, str]]:
    """Line, column and message of every diagnostic of a malformed text; none if it is well-formed."""
    try:
        ptx.parse(text, "k.ptx")
    except ptx.PtxError as error:
        return [(d.location.line, d.location.column, d.message) for d in error.diagnostics]
    return []
