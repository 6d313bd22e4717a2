"""Formatted output: C's rules, its order, and completeness."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from tests.simt.programs import Runner, words

from warpreg.simt import MemoryFault, TrapFault
from warpreg.simt.launch.printf import formatted

CASES = [
    ("%d|%5d|%-5d|%05d|%+d|% d", (42,) * 6, "42|   42|42   |00042|+42| 42"),
    ("%d %i %u", (-7, -8, 0xFFFFFFFF), "-7 -8 4294967295"),
    ("%x %X %#x %#X %08x %o %#o", (255, 255, 255, 255, 48879, 8, 8), "ff FF 0xff 0XFF 0000beef 10 010"),
    ("%.3d|%6.3d|%.0d|%-8.5u|", (5, 5, 0, 42), "005|   005||00042   |"),
    ("%hhd %hhu %hd %hu", (300, 300, 70000, -1), "44 44 4464 65535"),
    ("%ld %lld %llu %lx %zu", ("-5", str(-(1 << 40)), str((1 << 64) - 1), "255", "9"), None),
    ("%c%c%3c|%-3c|", (72, 105, 33, 33), "Hi  !|!  |"),
    ("%f %.2f %8.3f %-8.1f| %+.1e %E %G %g", (1.5, 2.345, -2.5, 3.25, 12345.678, 0.5, 1e-10, 100000.0),
     "1.500000 2.35   -2.500 3.2     | +1.2e+04 5.000000E-01 1E-10 100000"),
    ("%g %g %#g %.3g %g", (1e6, 123456.0, 2.0, 1234.5, 0.0001), "1e+06 123456 2.00000 1.23e+03 0.0001"),
    ("%f %F %5.1f %05.1f %e", (float("inf"), float("-inf"), float("nan"), float("inf"), -0.0),
     "inf -INF   nan   inf -0.000000e+00"),
    ("%a %a %A %.2a %a", (1.0, 0.15625, -2.5, 1.999, 0.0), "0x1p+0 0x1.4p-3 -0X1.4P+1 0x2.00p+0 0x0p+0"),
    ("%010.2f|%-10.2f|%+010.2f", (3.14159,) * 3, "0000003.14|3.14      |+000003.14"),
    ("%*d|%-*d|%.*f|%*.*f", (5, 42, 5, 42, 2, 3.14159, 8, 3, 2.71828), "   42|42   |3.14|   2.718"),
    ("%*d|", (-5, 42), "42   |"),
    ("100%% %y %", (), "100% %y %"),
    ("no arguments", (), "no arguments"),
]  # fmt: skip


def packed(arguments: tuple[Any, ...]) -> bytes:
    """As the compiler packs them: strings of digits stand for 64-bit integers."""
    data = b""
    for argument in arguments:
        if isinstance(argument, int):
            data += (argument % (1 << 32)).to_bytes(4, "little")
            continue
        data = data.ljust(-(-len(data) // 8) * 8, b"\0")
        data += (
            struct.pack("<d", argument)
            if isinstance(argument, float)
            else (int(argument) % (1 << 64)).to_bytes(8, "little")
        )
    return data


@pytest.mark.parametrize(("template", "arguments", "wanted"), CASES, ids=[c[0] for c in CASES])
def test_format(template: str, arguments: tuple[Any, ...], wanted: str | None) -> None:
    data = packed(arguments)
    text, count = formatted(template, lambda at, size: data[at : at + size], lambda address: "")
    assert text == ("-5 -1099511627776 18446744073709551615 ff 9" if wanted is None else wanted)
    assert count == len(arguments)


def test_strings_and_pointers() -> None:
    texts = {16: "hello", 32: ""}
    data = packed(("16", "16", "32", "0", "4096", "0"))
    text, count = formatted("%s|%8.3s|%-4s|%s|%p|%p", lambda at, size: data[at : at + size], texts.__getitem__)
    assert (text, count) == ("hello|     hel|    |(null)|0x1000|(nil)", 6)


def test_no_more_than_32_arguments_are_printed() -> None:
    text, count = formatted("%d" * 34, lambda at, size: bytes(size), lambda address: "")
    assert (text, count) == ("0" * 32 + "%d%d", 32)


FORMAT = """
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 words[12] = {37, 117, 58, 37, 117, 32, 37, 115, 10, 0};
.const .align 1 .b8 name[4] = {97, 98, 0};
"""
"""``%u:%u %s`` and a newline; ``ab``."""

PRINT = """
{
.local .align 8 .b8 pack[16]; .reg .b64 %p<5>; .reg .b32 %q<5>;
mov.u32 %q1, %ctaid.x;
st.local.u32 [pack], %q1; st.local.u32 [pack+4], NUMBER;
mov.u64 %p1, name; cvta.const.u64 %p1, %p1; st.local.u64 [pack+8], %p1;
mov.u64 %p2, pack; cvta.local.u64 %p2, %p2;
mov.u64 %p3, words; cvta.global.u64 %p3, %p3;
.param .b64 f; .param .b64 a; .param .b32 r;
st.param.b64 [f], %p3; st.param.b64 [a], %p2;
call (r), vprintf, (f, a);
ld.param.b32 %r9, [r];
}
"""


def test_the_order_is_that_of_execution(run: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    # Two blocks of 33 threads, that is two warps. Lanes that fall through a branch go first; one warp at a time, as no
    # barrier stands between; vprintf gives the number of arguments, 3.
    body = f"""
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 15; setp.ne.u32 %p1, %r2, 0; @%p1 bra OUT;
    setp.eq.u32 %p2, %r1, 0; @%p2 bra ZERO;
    {PRINT.replace("NUMBER", "%r1")}
    bra MEET;
    ZERO: {PRINT.replace("NUMBER", "1000")}
    MEET: add.u32 %r1, %r1, %r9;
    {PRINT.replace("NUMBER", "%r1")}
    OUT: st.global.u32 [%my_out], %r9;
    """
    outcome = run("mov.u32 %r9, 0;" + body, before=FORMAT, out=words(*[0] * 66), grid=2, block=33)
    one = "{0}:16 ab {0}:1000 ab {0}:3 ab {0}:19 ab {0}:32 ab {0}:35 ab"
    assert capsys.readouterr().out.split("\n") == [
        line for block in (0, 1) for line in one.format(block).replace("ab ", "ab\n").split("\n")
    ] + [""]
    assert outcome["out"].tolist() == [3 if t in (0, 16, 32) else 0 for t in range(33)] * 2


def test_nothing_that_was_printed_is_lost_by_a_fault(run: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TrapFault):
        run(PRINT.replace("NUMBER", "7") + "trap;", before=FORMAT, out=words(0), block=1)
    assert capsys.readouterr().out == "0:7 ab\n"


def test_a_format_outside_memory_is_an_error(run: Runner) -> None:
    body = PRINT.replace("NUMBER", "7").replace("cvta.global.u64 %p3, %p3", "mov.u64 %p3, 64")
    with pytest.raises(MemoryFault, match=r"thread \(0,0,0\), instruction 'vprintf.*address 0x40 is out of bounds"):
        run(body, before=FORMAT, out=words(0), block=1)
