"""Surfaces in machine code pass the tests of PTX; queries give what PTX gives."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simt.test_surfaces import (  # noqa: F401  (collected here)
    HEAD,
    test_a_layer_has_no_sign,
    test_formatted_stores_convert,
    test_layers_faces_and_slices,
    test_misaligned,
    test_outside,
    test_reductions_by_sample_compare_as_the_surface_does,
    test_reductions_go_lane_after_lane,
    test_the_first_coordinate_counts_bytes,
    test_vectors,
)

from warpreg.codegen import CompileOptions
from warpreg.machine_code.assembler import ARCHITECTURES, MachineCode
from warpreg.machine_code.errors import MachineCodeError
from warpreg.simt import Device, MemoryFault, Record
from warpreg.timing.launch.simulate import simulate

pytestmark = pytest.mark.slow


@pytest.fixture(params=ARCHITECTURES)
def options(request: pytest.FixtureRequest) -> CompileOptions:
    pytest.importorskip("nvidia")
    return CompileOptions(assembler=MachineCode.of(request.param))


EXTENTS = """
    txq.width.b32 %r0, [%srf]; txq.height.b32 %r1, [%srf]; txq.depth.b32 %r2, [%srf];
    txq.level.width.b32 %r3, [%srf], %t; st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};
"""


@pytest.mark.parametrize(("shape", "kind"), [((12,), "1d"), ((5, 12), "2d"), ((3, 5, 12), "3d")])
def test_extents_of_a_texture(options: CompileOptions, shape: tuple[int, ...], kind: str) -> None:
    """Levels of half the extents: thread t asks for the width of level t, of which there are two."""
    first = np.zeros(shape, np.float32)
    second = np.zeros([max(1, n // 2) for n in shape], np.float32)
    found = []
    for one in (CompileOptions(), options):
        device = Device(f"{HEAD}{EXTENTS}\nret;\n}}\n", one)
        out = device.zeros((2, 4), np.uint32)
        texture = device.texture([first, second], kind, normalized=True)  # type: ignore[arg-type]
        device.launch("k", 1, 2, texture, out, out)
        found.append(out.download().tolist())
    assert found[0] == found[1]
    assert [row[3] for row in found[1]] == [12, 6]


def test_extents_of_a_surface(options: CompileOptions) -> None:
    body = "suq.width.b32 %r0, [%srf]; suq.height.b32 %r1, [%srf]; st.global.v2.u32 [%out], {%r0, %r1};"
    device = Device(f"{HEAD}{body}\nret;\n}}\n", options)
    out = device.zeros(4, np.uint32)
    device.launch("k", 1, 1, device.surface(np.zeros((3, 8), np.uint32), "2d"), out, out)
    assert out.download().tolist() == [8, 3, 0, 0]


def test_surfaces_in_a_timed_run(options: CompileOptions) -> None:
    """A load, a store and a query: two records of addresses, as the path has accesses."""
    body = "mul.lo.u32 %r1, %t, 4; suld.b.1d.b32.trap %r0, [%srf, {%r1}]; sust.b.1d.b32.trap [%srf, {%r1}], %t;"
    device = Device(f"{HEAD}{body} suq.width.b32 %r2, [%srf];\nret;\n}}\n", options, Record(path=True, addresses=True))
    out = device.zeros(4, np.uint32)
    launch = device.launch("k", 1, 32, device.surface(np.zeros(32, np.uint32), "1d"), out, out)
    assert simulate([launch], "gebhart-rfc", mode="interpreted").cycles > 0


def test_what_the_driver_keeps_of_a_texture_is_not_known(options: CompileOptions) -> None:
    """The format of texels is a word of the driver's, which the code loads from an address in constant bank 0."""
    body = "txq.channel_order.b32 %r0, [%srf]; st.global.u32 [%out], %r0;"
    device = Device(f"{HEAD}{body}\nret;\n}}\n", options)
    with pytest.raises(MachineCodeError, match=r"k\.sm_\d+\.sass:\d+: k\+0x\S+: .*texrefDescSize|nothing is known"):
        device.kernel("k")


def test_outside_is_a_fault(options: CompileOptions) -> None:
    body = "mul.lo.u32 %r1, %t, 16; suld.b.1d.b32.trap %r0, [%srf, {%r1}]; st.global.u32 [%out], %r0;"
    device = Device(f"{HEAD}{body}\nret;\n}}\n", options)
    out = device.zeros(8, np.uint32)
    with pytest.raises(MemoryFault, match=r"thread \(1,0,0\), instruction 'SULD\.D\.BA\.1D.*outside 1d surface"):
        device.launch("k", 1, 2, device.surface(np.zeros(4, np.uint32), "1d"), out, out)
