"""Invalid launches and kernels that cannot be executed: one error each, before any effect."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.simt.programs import COMPILED, VIRTUAL, module, prepare, words

from warpreg.ir.errors import UnknownNameError, UnsupportedError, WarpregError
from warpreg.simt import Device, LaunchError

STORE = "st.global.u32 [%my_out], %t;"
EVERY_KIND = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .s32 i, .param .f32 x, .param .u8 b, .param .align 4 .b8 p[12])
{
ret;
}
"""
STRUCTURE = bytes(12)


def launch(*arguments: Any) -> None:
    device = Device(EVERY_KIND)
    out = device.zeros(1, np.uint32, "out")
    device.launch("k", 1, 1, *(out if a is ... else a for a in arguments))


def test_every_kind_of_argument_that_fits() -> None:
    launch(..., -1, 1.5, 255, STRUCTURE)
    launch(0, np.int32(7), np.float32(2), True, np.zeros(3, np.float32))
    launch(..., 2**32 - 1, 3, np.uint8(1), np.zeros(1, [("a", "u4"), ("b", "f8")])[0])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((..., 1, 1.0, 1), "kernel 'k': expected 5 arguments, found 4"),
        ((), "kernel 'k': expected 5 arguments, found 0"),
        (("a", 1, 1.0, 1, STRUCTURE), "parameter 'out': expected a number or a buffer, found str"),
        ((np.zeros(4), 1, 1.0, 1, STRUCTURE), "parameter 'out': expected a number or a buffer, found ndarray"),
        ((1 << 64, 1, 1.0, 1, STRUCTURE), f"parameter 'out': {1 << 64} does not fit 64 bits"),
        ((..., 1 << 32, 1.0, 1, STRUCTURE), "parameter 'i': 4294967296 does not fit 32 bits"),
        ((..., -(1 << 31) - 1, 1.0, 1, STRUCTURE), "parameter 'i': -2147483649 does not fit 32 bits"),
        ((..., 1.5, 1.0, 1, STRUCTURE), "parameter 'i': expected an integer (s32), found 1.5"),
        ((..., ..., 1.0, 1, STRUCTURE), "parameter 'i': expected a number, found a buffer"),
        ((..., 1, ..., 1, STRUCTURE), "parameter 'x': expected a number, found a buffer"),
        ((..., 1, 1j, 1, STRUCTURE), "parameter 'x': expected a number or a buffer, found complex"),
        ((..., 1, 1.0, 256, STRUCTURE), "parameter 'b': 256 does not fit 8 bits"),
        ((..., 1, 1.0, 0.5, STRUCTURE), "parameter 'b': expected an integer (u8), found 0.5"),
        ((..., 1, 1.0, 1, bytes(11)), "parameter 'p': expected 12 bytes, found 11"),
        ((..., 1, 1.0, 1, 7), "parameter 'p': expected 12 bytes, found int"),
        ((..., 1, 1.0, 1, 7.5), "parameter 'p': expected 12 bytes, found float"),
        ((..., 1, 1.0, 1, ...), "parameter 'p': expected 12 bytes, found a buffer"),
    ],
)
def test_arguments_that_do_not_fit(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(LaunchError, match=re.escape(said)):
        launch(*arguments)


def test_a_buffer_of_another_device_is_refused() -> None:
    device, _ = prepare(STORE, {"out": words(0)})
    other = Device(EVERY_KIND).zeros(1, np.uint32, "elsewhere")
    with pytest.raises(LaunchError, match="parameter 'out': buffer 'elsewhere' belongs to another device"):
        device.launch("k", 1, 1, other)


@pytest.mark.parametrize(
    ("grid", "block", "said"),
    [
        (0, 1, "grid: expected one to three positive integers, found 0"),
        (1, -1, "block: expected one to three positive integers, found -1"),
        ((1, 1, 0), 1, "grid: expected one to three positive integers, found (1, 1, 0)"),
        ((1, 1, 1, 1), 1, "grid: expected one to three positive integers, found (1, 1, 1, 1)"),
        ((), 1, "grid: expected one to three positive integers, found ()"),
        (1.5, 1, "grid: expected one to three positive integers, found 1.5"),
        (1, (2, 2.5), "block: expected one to three positive integers, found (2, 2.5)"),
        (1, "32", "block: expected one to three positive integers, found '32'"),
        (None, 1, "grid: expected one to three positive integers, found None"),
        (1, 1025, "kernel 'k': a block has at most 1024 threads, not 1025"),
        (1, (32, 32, 2), "kernel 'k': a block has at most 1024 threads, not 2048"),
        ((1 << 20, 1 << 20), 32, "kernel 'k': a grid has at most 2147483647 thread blocks, not 1099511627776"),
    ],
)
def test_bad_grids_and_blocks(grid: Any, block: Any, said: str) -> None:
    device, arguments = prepare(STORE, {"out": words(0)})
    with pytest.raises(LaunchError, match=re.escape(said)):
        device.launch("k", grid, block, *arguments.values())
    assert device.launches == []


@pytest.mark.parametrize("dynamic", [-1, (1 << 24) + 1, 1 << 40])
def test_too_much_shared_memory(dynamic: int) -> None:
    device, arguments = prepare(STORE, {"out": words(0)})
    with pytest.raises(LaunchError, match=rf"kernel 'k': {dynamic} bytes of dynamic shared memory are not possible"):
        device.launch("k", 1, 1, *arguments.values(), shared_bytes=dynamic)


def test_too_much_static_memory() -> None:
    for space, said in (("shared", "bytes of shared memory"), ("local", "bytes of local memory a thread")):
        device, arguments = prepare(f".{space} .b8 big[33554432]; st.{space}.u8 [big], %t;", {"out": words(0)})
        with pytest.raises(LaunchError, match=f"kernel 'k': 33554432 {said}"):
            device.launch("k", 1, 1, *arguments.values())


def test_a_limit_below_nothing() -> None:
    device, arguments = prepare(STORE, {"out": words(0)})
    with pytest.raises(LaunchError, match="a limit of -1 warp-instructions"):
        device.launch("k", 1, 1, *arguments.values(), max_instructions=-1)
    device.launch("k", 1, 1, *arguments.values(), max_instructions=1 << 80)


def test_an_unknown_kernel_is_answered_with_the_nearest_name() -> None:
    device, _ = prepare(STORE, {"out": words(0)})
    with pytest.raises(UnknownNameError, match="did you mean 'k'"):
        device.launch("kk", 1, 1)


REFUSED = [
    ("tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [image, {%t, %t, %t, %t}]; st.global.f32 [%out], %f1;", "tex.2dms"),
    ("wmma.fill.sync %r1;", "wmma"),
    ("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%out, {%t}], [0];", "cp.async.bulk.tensor.1d.global"),
    ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned"),
    ("{ .reg .b64 %fn; mov.u64 %fn, 0; .param .b32 a; call (a), vprintf2, (a); }", "vprintf2"),
    ("call.uni launch2;", "calls 'launch2', which this module does not define"),
    ("{ .param .b32 a; call.uni (a), cudaLaunchDeviceV2, (a); }", "(dynamic parallelism)"),
    ("call.uni again, (%t);", "calls 'again', which this module does not define with these parameters"),
    ("{ .reg .b64 %fn; mov.u64 %fn, 0; P: .callprototype _ (); call %fn, P; }", "no function whose address is taken"),
]


@pytest.mark.parametrize("options", [VIRTUAL, COMPILED], ids=["virtual", "compiled"])
@pytest.mark.parametrize(("code", "said"), REFUSED)
def test_what_cannot_be_run_names_file_and_line(code: str, said: str, options: Any) -> None:
    before = """
    .global .texref image;
    .func again()
    {
    ret;
    }
    .extern .func launch2();
    .extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b32 a);
    .extern .func (.param .b32 r) vprintf2(.param .b32 a);
    """
    text = module("\n" + code, {"out": words(0)}, before)
    with pytest.raises(WarpregError) as caught:
        Device(text, options=options).launch("k", 1, 1, 0)
    assert said in str(caught.value)
    assert isinstance(caught.value, UnsupportedError)
    assert caught.value.location is not None
    line = text.splitlines()[caught.value.location.line - 1]
    assert line.startswith(code.split()[0])


def test_an_external_variable_cannot_be_addressed() -> None:
    device, arguments = prepare(
        "ld.global.u32 %r1, [outside]; st.global.u32 [%my_out], %r1;",
        {"out": words(0)},
        before=".extern .global .u32 outside;",
    )
    with pytest.raises(WarpregError, match="outside"):
        device.launch("k", 1, 1, *arguments.values())


def test_a_buffer_for_a_parameter_wider_than_an_address() -> None:
    device = Device(".version 3.0\n.target sm_20\n.address_size 32\n.entry k (.param .u64 a, .param .u32 b) { exit; }")
    buffer = device.zeros(4, np.uint32)
    device.launch("k", 1, 1, 5, buffer)
    with pytest.raises(LaunchError) as caught:
        device.launch("k", 1, 1, buffer, buffer)
    problem = "expected a number, found a buffer, whose address has 32 bits (.address_size)"
    assert str(caught.value) == f"kernel 'k', parameter 'a': {problem}"
