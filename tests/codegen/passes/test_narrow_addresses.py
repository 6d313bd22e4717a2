"""Addresses in one register: what is narrowed, what stays wide, and the check at launch."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.codegen.texts import after, kernel, listing, text

from warpreg.codegen import CompileOptions, compile
from warpreg.codegen.passes.narrow_addresses import NarrowAddresses
from warpreg.simt import Device
from warpreg.simt.launch.faults import LaunchError

LOAD = "ld.global.u32 %r9, [%rd3+4]; st.shared.u32 [%r7], %r9; ret;"


def narrowed(body: str) -> list[str]:
    return after(NarrowAddresses(), body).splitlines()


def test_a_chain_that_ends_in_an_address_takes_single_registers() -> None:
    body = f"mul.wide.s32 %rd1, %r1, 4; add.s64 %rd2, %rd1, -8; shl.b64 %rd3, %rd2, 2; {LOAD}"
    assert "\n".join(narrowed(body)) == text(
        """
        mul.lo.s32 %rd1, %r1, 4
        add.s32 %rd2, %rd1, -8
        shl.b32 %rd3, %rd2, 2
        ld.global.u32 %r9, [%rd3+4]
        st.shared.u32 [%r7], %r9
        ret
        """
    )


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("cvta.to.global.u64 %rd3, %rd1;", "mov.b32 %rd3, %rd1"),
        ("cvt.s64.s32 %rd3, %r1;", "mov.b32 %rd3, %r1"),
        ("mad.wide.u32 %rd3, %r1, 8, %rd1;", "mad.lo.s32 %rd3, %r1, 8, %rd1"),
        ("selp.b64 %rd3, %rd1, 4294967297, %p1;", "selp.b32 %rd3, %rd1, 1, %p1"),
    ],
)
def test_each_form_takes_low_words(wide: str, narrow: str) -> None:
    assert narrowed(f"mul.wide.s32 %rd1, %r2, 4; {wide} {LOAD}")[1] == narrow


def test_a_loaded_pointer_is_converted_where_it_joins() -> None:
    found = narrowed(f"ld.global.u64 %rd1, [%rd9]; mad.wide.s32 %rd3, %r1, 4, %rd1; {LOAD}")
    assert found[1:3] == ["cvt.u32.u64 %rd1.low0, %rd1", "mad.lo.s32 %rd3, %r1, 4, %rd1.low0"]


def test_a_conversion_to_32_bits_reads_the_register_itself() -> None:
    found = narrowed(f"mul.wide.s32 %rd3, %r1, 4; cvt.u32.u64 %r2, %rd3; {LOAD}")
    assert found[1] == "mov.b32 %r2, %rd3"


@pytest.mark.parametrize(
    "body",
    [
        "mul.wide.s32 %rd3, %r1, 4; st.shared.u64 [%r7], %rd3;" + LOAD,
        "mul.wide.s32 %rd3, %r1, 4; setp.lt.s64 %p1, %rd3, 9;" + LOAD,
        "mul.hi.s64 %rd3, %rd1, %rd2;" + LOAD,
        "shr.u64 %rd3, %rd1, 3;" + LOAD,
        "shl.b64 %rd3, %rd1, 32;" + LOAD,
        "mul.wide.s32 %rd1, %r1, 4; shr.u64 %rd2, %rd1, 1; mov.u64 %rd3, %rd1; ret;",
    ],
    ids=["stored", "compared", "high half", "right shift", "shift past the word", "no address"],
)
def test_what_needs_more_than_the_low_word_stays_wide(body: str) -> None:
    assert after(NarrowAddresses(), body) == listing(kernel(body))


def test_registers_fall_and_memory_is_the_same() -> None:
    body = """
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3+128]; st.global.u32 [%rd3], %r2;
    """
    program = kernel(body)
    # a pair and the loaded word, or one register and the word
    wide, narrow = (compile(program, CompileOptions(address_bits=bits)) for bits in (64, 32))
    assert (wide.register_count, narrow.register_count) == (3, 2)
    assert (wide.address_bits, narrow.address_bits) == (64, 32)
    outputs = []
    for version in (wide, narrow):
        device = Device(program.module, None)
        device.install(version)
        out = device.upload(np.arange(64, dtype=np.uint32))
        device.launch("k", 1, 32, out, 0, 0.0)
        outputs.append(out.download().tolist())
    assert outputs[0] == outputs[1] == [*range(32, 64), *range(32, 64)]


def test_memory_past_4_gb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    program = kernel("ret;")
    device = Device(program.module, None)
    device.install(dataclasses.replace(program, address_bits=32, analyses={}))
    monkeypatch.setattr(type(device.memory), "end", 5 << 30)
    with pytest.raises(LaunchError, match=r"kernel 'k': compiled for 32-bit addresses, .* 0x140000000, past 4 GB"):
        device.launch("k", 1, 32, 0, 0, 0.0)


def test_the_option_reaches_the_compiler_and_the_row() -> None:
    from warpreg.evaluation.runs.run import CompileChoice

    choice = CompileChoice(address_bits=32)
    assert choice.options().address_bits == 32
    assert choice.as_dict()["address_bits"] == 32
