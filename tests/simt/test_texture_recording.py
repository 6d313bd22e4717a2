"""Recorded addresses of fetches and surface accesses: the texel, the lower left one of several, the first if none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.simt.programs import COMPILED, VIRTUAL
from tests.simt.recorded import accesses_of
from tests.simt.test_surfaces import HEAD, READ
from tests.simt.texturing import fetch_text, rows

from warpreg.simt import Device, Record

RECORD = Record(path=True, addresses=True)
PICTURE = np.zeros((8, 16, 2), np.uint16)
"""Texels of 4 bytes, rows of 64."""


@pytest.fixture(params=[VIRTUAL, COMPILED], ids=["virtual", "compiled"])
def options(request: pytest.FixtureRequest) -> Any:
    return request.param


def fetched(text: str, options: Any, coordinates: Sequence[tuple[float, ...]], **sampling: Any) -> list[int]:
    """Distances of the recorded addresses from the texture's first byte."""
    device = Device(text, options, RECORD)
    texture = device.texture(PICTURE, **sampling)
    out = device.zeros((len(coordinates), 4), np.uint32)
    done = device.launch("k", 1, len(coordinates), texture, 0, device.upload(rows(coordinates)), out)
    (access,) = (a for a in accesses_of(done) if a.instruction.opcode in ("tex", "tld4"))
    assert access.mask == (1 << len(coordinates)) - 1
    return [int(a) - texture.buffer.address for a in access.addresses[: len(coordinates)]]


def test_point_fetches(options: Any) -> None:
    text = fetch_text("tex.2d.v4.u32.f32", 2)
    at = [(0.5, 0.5), (15.5, 0.0), (3.0, 7.0), (-9.0, 99.0)]
    assert fetched(text, options, at) == [0, 60, 3 * 4 + 7 * 64, 7 * 64]
    assert fetched(text, options, at, address="border") == [0, 60, 3 * 4 + 7 * 64, 0]
    row = [(lane + 0.5, 2.0) for lane in range(16)]
    assert fetched(text, options, row) == [128 + 4 * lane for lane in range(16)]


def test_mixed_fetches_name_the_lower_left_texel(options: Any) -> None:
    text = fetch_text("tex.2d.v4.f32.f32", 2)
    at = [(3.0, 2.0), (3.6, 2.6)]
    found = fetched(text, options, at, filter="linear", read="normalized")
    assert found == [2 * 4 + 1 * 64, 3 * 4 + 2 * 64]
    assert fetched(fetch_text("tld4.r.2d.v4.u32.f32", 2), options, at) == found


def test_lanes_with_handles_of_their_own_make_one_record(options: Any) -> None:
    text = fetch_text("tex.2d.v4.u32.f32", 2).replace(
        "mov.b32 %r0, 0;", "ld.global.b64 %tex, [%in+24]; mov.b32 %r0, 0;"
    )
    device = Device(text, options, RECORD)
    textures = [device.texture(PICTURE), device.texture(PICTURE)]
    table = rows([(1.0, 0.0)] * 4)
    table.view(np.uint64)[:, 3] = [textures[i % 2].handle for i in range(4)]
    out = device.zeros((4, 4), np.uint32)
    done = device.launch("k", 1, 4, 0, 0, device.upload(table), out)
    (access,) = (a for a in accesses_of(done) if a.instruction.opcode == "tex")
    assert access.addresses[:4].tolist() == [textures[i % 2].buffer.address + 4 for i in range(4)]


def test_surface_accesses(options: Any) -> None:
    body = (
        "setp.ne.u32 %p, %e2, 0;"
        "@%p suld.b.2d.b32.zero %r0, [%srf, {%e0, %e1}];"
        "sust.b.2d.b32.clamp [%srf, {%e0, %e1}], %r0;"
    )
    text = f"{HEAD.replace('.reg .b16', '.reg .pred %p; .reg .b16')}{READ}{body}\nret;\n}}\n"
    device = Device(text, options, RECORD)
    surface, out = device.surface(PICTURE), device.zeros(4, np.uint32)
    table = np.zeros((3, 8), np.uint32)
    table[:, :3] = [[8, 1, 1], [4, 0, 0], [64, 0, 1]]
    done = device.launch("k", 1, 3, surface, device.upload(table), out)
    load, store = (a for a in accesses_of(done) if a.instruction.opcode in ("suld", "sust"))
    first = surface.buffer.address
    assert (load.mask, load.addresses[[0, 2]].tolist()) == (0b101, [first + 72, first])
    assert (store.mask, store.addresses[:3].tolist()) == (0b111, [first + 72, first + 4, first + 60])


def test_recording_changes_no_result(options: Any) -> None:
    text = fetch_text("tex.2d.v4.f32.f32", 2)
    found = []
    for record in (Record(), RECORD, Record(path=True, addresses=True, widths=True)):
        device = Device(text, options, record)
        texture = device.texture(np.arange(16, dtype=np.float32).reshape(4, 4), filter="linear")
        out = device.zeros((3, 4), np.float32)
        device.launch("k", 1, 3, texture, 0, device.upload(rows([(1.3, 2.2), (0.0, 0.0), (9.0, 1.0)])), out)
        found.append(out.download().tobytes())
    assert found[0] == found[1] == found[2]
