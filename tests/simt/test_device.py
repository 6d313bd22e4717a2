"""Devices, buffers and kernels."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from tests.simt.programs import COMPILED, VIRTUAL, module, prepare, words

from warpreg import codegen, ptx
from warpreg.ir.address_space import GLOBAL_BASE
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.simt import Buffer, Device, GlobalMemory, Record
from warpreg.simt.launch.faults import LaunchError
from warpreg.simt.memory import arena, huge_pages

TRIPLE = "mul.lo.u32 %r1, %t, 3; st.global.u32 [%my_out], %r1;"
OUT = np.zeros(32, np.uint32)


def test_a_device_takes_text_or_a_parsed_module() -> None:
    text = module(TRIPLE, {"out": OUT})
    for given in (text, ptx.parse(text)):
        device = Device(given)
        out = device.zeros(32, np.uint32)
        device.launch("k", 1, 32, out)
        assert out.download().tolist() == [3 * t for t in range(32)]


def test_without_options_the_virtual_kernel_runs() -> None:
    text = module(TRIPLE, {"out": OUT})
    virtual, compiled = Device(text, VIRTUAL).kernel("k"), Device(text, COMPILED).kernel("k")
    assert not virtual.is_allocated
    assert compiled.is_allocated
    assert [b.index for b in virtual.blocks] == [b.index for b in compiled.blocks]


def test_a_launch_reports_the_kernel_that_ran() -> None:
    device, arguments = prepare(TRIPLE, {"out": OUT})
    done = device.launch("k", (1, 2), (8, 2), *arguments.values())
    assert done.kernel is device.kernel("k")
    assert done.arguments == (arguments["out"],)
    assert done.warp_instructions == 2 * done.kernel.instruction_count
    assert done.block_visits.tolist() == [2]
    assert done.seconds > 0
    assert device.launches == [done]


def test_an_installed_kernel_takes_the_place_of_the_compiled_one() -> None:
    device, arguments = prepare(TRIPLE, {"out": OUT}, record=Record(path=True, widths=True))
    other = codegen.build_kernel(ptx.parse(module(TRIPLE.replace(", 3;", ", 5;"), {"out": OUT})), "k")
    device.install(other)
    done = device.launch("k", 1, 32, *arguments.values())
    assert done.kernel is other
    assert done.trace is not None
    assert arguments["out"].download().tolist() == [5 * t for t in range(32)]
    device.install(codegen.compile(other, COMPILED))
    device.launch("k", 1, 32, *arguments.values())
    assert device.kernel("k").is_allocated


def test_an_unknown_kernel() -> None:
    with pytest.raises(UnknownNameError, match=r"no kernel named 'j'; (did you mean 'k'|there are: k)"):
        Device(module(TRIPLE, {"out": OUT})).kernel("j")


def test_a_module_with_two_kernels_shares_its_variables() -> None:
    before = """
    .global .u32 counter = 5;
    .visible .entry first() { .reg .b32 %r<2>; atom.global.add.u32 %r1, [counter], 10; ret; }
    """
    device, arguments = prepare("ld.global.u32 %r1, [counter]; st.global.u32 [%out], %r1;", {"out": words(0)}, before)
    device.launch("first", 1, 2)
    device.launch("first", 1, 1)
    device.launch("k", 1, 1, *arguments.values())
    assert arguments["out"].download().tolist() == [35]


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "f4", "f8", "c8", "?", [("a", "u4"), ("b", "f8")]])
def test_what_is_uploaded_comes_back(dtype: object) -> None:
    array = np.zeros((3, 5), dtype)  # type: ignore[call-overload]
    array.view(np.uint8).reshape(-1)[:] = np.arange(array.nbytes) % 2
    buffer = Device(module("", {})).upload(array, "a")
    assert (buffer.shape, buffer.dtype, buffer.bytes) == (array.shape, array.dtype, array.nbytes)
    assert np.array_equal(buffer.download(), array)
    assert buffer.download() is not buffer.download()


def test_an_array_of_another_layout_is_uploaded_as_it_reads() -> None:
    array = np.arange(24).reshape(4, 6)[::2, ::-1].T
    assert np.array_equal(Device(module("", {})).upload(array).download(), array)


def test_a_buffer_takes_arrays_of_its_own_shape_and_type_only() -> None:
    buffer = Device(module("", {})).zeros((2, 3), np.float32, "a")
    buffer.write(np.ones((2, 3), np.float32))
    for wrong in (np.ones((3, 2), np.float32), np.ones((2, 3))):
        with pytest.raises(WarpregError, match=r"buffer 'a': expected an array float32\[2, 3\], found float"):
            buffer.write(wrong)
    assert buffer.download().tolist() == [[1, 1, 1]] * 2


def test_a_zero_dimensional_and_an_empty_buffer() -> None:
    device = Device(module("", {}))
    assert device.upload(np.array(7, np.int64)).download() == 7
    empty, after = device.zeros(0, np.float32), device.zeros((2, 0), np.float32)
    assert empty.download().shape == (0,)
    assert after.download().shape == (2, 0)
    assert empty.address != after.address


def test_addresses_are_the_same_in_every_run_and_far_enough_apart() -> None:
    memory = GlobalMemory()
    buffers = [memory.allocate(size, np.uint8) for size in (1, 256, 257, 0, 5)]
    assert [b.address - GLOBAL_BASE for b in buffers] == [0, 512, 1024, 1792, 2048]
    assert memory.table().tolist() == [[b.address, b.address + b.bytes] for b in buffers]
    assert [b.name for b in buffers] == [f"buffer {n}" for n in range(5)]


def test_memory_grows_and_keeps_its_content() -> None:
    memory = GlobalMemory()
    first = memory.allocate(4, np.uint32)
    first.write(words(1, 2, 3, 4))
    large = memory.allocate(1 << 22, np.uint8)
    assert first.download().tolist() == [1, 2, 3, 4]
    assert not large.download().any()


SIZES = [3 << 20, huge_pages.LEAST_BYTES + 5]
"""Bytes that are more than a device begins with: in small and in huge pages."""


@pytest.fixture
def nothing_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory of earlier tests is left to later devices."""
    gc.collect()
    monkeypatch.setattr(arena, "_FREE", [])


@pytest.mark.usefixtures("nothing_free")
@pytest.mark.parametrize("size", SIZES)
def test_memory_is_left_to_later_devices_which_find_zeros(size: int) -> None:
    first = GlobalMemory()
    first.allocate(size, np.uint8).write(np.full(size, 7, np.uint8))
    host = first.bias
    del first
    second = GlobalMemory()
    assert not second.allocate(2 * size // 3, np.uint8).download().any()
    assert not second.allocate(size // 4, np.uint8, alignment=1 << 18).download().any()
    assert second.bias == host
    assert not second.allocate(8 * size, np.uint8).download().any()


@pytest.mark.parametrize("size", SIZES)
def test_memory_that_an_array_shows_is_left_to_nobody(size: int) -> None:
    first = GlobalMemory()
    shown = first.bytes_at(first.allocate(size, np.uint8).address, 8)
    del first
    GlobalMemory().allocate(size, np.uint8).write(np.full(size, 7, np.uint8))
    assert shown.tolist() == [0] * 8


def test_where_an_address_lies() -> None:
    memory = GlobalMemory()
    assert memory.nearest(5) == "there are no buffers"
    a, b = memory.allocate(16, np.uint8, "a"), memory.allocate(16, np.uint8, "b")
    where = {name: f"'{name}' (16 bytes at {buffer.address:#x})" for name, buffer in (("a", a), ("b", b))}
    assert memory.nearest(0) == f"{GLOBAL_BASE} bytes before {where['a']}"
    assert memory.nearest(a.address + 3) == f"at byte 3 of {where['a']}"
    assert memory.nearest(a.address + 16) == f"0 bytes past the end of {where['a']}"
    assert memory.nearest(b.address - 1) == f"1 bytes before {where['b']}"
    assert memory.nearest(b.address + 100) == f"84 bytes past the end of {where['b']}"


def test_buffers_of_a_device_are_told_apart_by_identity() -> None:
    device = Device(module("", {}))
    first, second = device.zeros(4, np.uint8), device.zeros(4, np.uint8)
    assert first != second
    assert isinstance(first, Buffer)


VARIABLE = """
.version 8.0
.target sm_75
.address_size 64
.const .align 4 .b8 factors[8];
.visible .entry read(.param .u64 out)
{
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.const.u32 %r1, [factors+4];
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


def test_a_host_assigns_to_a_constant_before_a_launch() -> None:
    device = Device(VARIABLE)
    device.assign("factors", np.array([3, 7], np.uint32))
    out = device.zeros(1, np.uint32)
    device.launch("read", 1, 1, out)
    assert out.download().tolist() == [7]


def test_assigning_to_what_is_not_there_or_too_small() -> None:
    device = Device(VARIABLE)
    with pytest.raises(UnknownNameError, match="did you mean 'factors'"):
        device.assign("factor", np.zeros(1))
    with pytest.raises(LaunchError, match="variable 'factors' has 8 bytes, but the array has 12"):
        device.assign("factors", np.zeros(3, np.uint32))


def test_memory_begins_at_the_given_address() -> None:
    base = 0x7F32_1200_0000
    device = Device(".version 8.0\n.target sm_80\n.address_size 64\n", memory_base=base)
    buffers = [device.upload(np.arange(n, dtype=np.uint32)) for n in (3, 100)]
    assert [b.address - base for b in buffers] == [0, 512]
    assert buffers[1].download().tolist() == list(range(100))
