"""Every special register of PTX (PTX ISA, "Special Registers") has its value, compiled and with virtual registers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simt.programs import COMPILED, VIRTUAL

from warpreg.codegen import CompileOptions
from warpreg.simt import Device

GRID, BLOCK = (2, 3, 2), (5, 4, 3)
STATIC, DYNAMIC = 64, 96
"""Bytes of shared memory."""

AXES = "xyz"
ZEROS = [
    *(f"%{name}.w" for name in ("tid", "ctaid", "clusterid", "cluster_ctaid")),
    *(f"%cluster_ctaid.{axis}" for axis in AXES),
    *("%cluster_ctarank", "%smid", "%gridid", "%clock_hi", "%globaltimer_hi", "%aggr_smem_size"),
    *(f"%reserved_smem_offset_{which}" for which in ("begin", "end", "cap", "0", "1")),
    *(f"%envreg{number}" for number in range(32)),
    *(f"%pm{number}" for number in range(8)),
]
ONES = ["%nsmid", "%cluster_nctarank", *(f"%cluster_nctaid.{axis}" for axis in AXES)]
CLOCKS = ["%clock", "%globaltimer_lo"]
LONG = ["%clock64", "%globaltimer", "%current_graph_exec", *(f"%pm{number}_64" for number in range(8))]


def expected(block: int, thread: int) -> dict[str, int]:
    """The 32-bit registers of the ``thread``-th thread of the ``block``-th thread block, clocks apart."""
    index = dict(zip(AXES, map(int, np.unravel_index(block, GRID[::-1])[::-1]), strict=True))
    place = dict(zip(AXES, map(int, np.unravel_index(thread, BLOCK[::-1])[::-1]), strict=True))
    lane = thread % 32
    whole = 0xFFFFFFFF
    found: dict[str, int] = {f"%tid.{a}": place[a] for a in AXES} | {f"%ctaid.{a}": index[a] for a in AXES}
    found |= {f"%clusterid.{a}": index[a] for a in AXES}
    for name, extent in (("ntid", BLOCK), ("nctaid", GRID), ("nclusterid", GRID)):
        found |= {f"%{name}.{a}": size for a, size in zip(AXES, extent, strict=True)}
    found |= {"%laneid": lane, "%warpid": thread // 32, "%nwarpid": 2}
    found |= {"%dynamic_smem_size": DYNAMIC, "%total_smem_size": STATIC + DYNAMIC}
    below = (1 << lane) - 1
    found |= {"%lanemask_lt": below, "%lanemask_eq": 1 << lane, "%lanemask_le": below | 1 << lane}
    found |= {"%lanemask_ge": whole & ~below, "%lanemask_gt": whole & ~(below | 1 << lane)}
    return found | dict.fromkeys(ZEROS, 0) | dict.fromkeys(ONES, 1)


def text(names: list[str]) -> str:
    reads = "".join(f"mov.u32 %v, {name}; st.global.u32 [%a+{4 * i}], %v;\n" for i, name in enumerate(names))
    reads += "".join(f"mov.u32 %v, {name};\n" for name in CLOCKS) + "".join(f"mov.u64 %w, {name};\n" for name in LONG)
    return f"""
.version 8.8
.target sm_100a
.address_size 64
.extern .shared .align 16 .b8 more[];
.visible .entry k(.param .u64 out)
{{
    .reg .b64 %a, %w; .reg .b32 %n, %v, %r<12>; .reg .pred %p; .shared .align 16 .b8 tile[{STATIC}];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y;
    mov.u32 %r5, %ctaid.z; mad.lo.u32 %r1, %r2, {BLOCK[1]}, %r1; mad.lo.u32 %r0, %r1, {BLOCK[0]}, %r0;
    mad.lo.u32 %r4, %r5, {GRID[1]}, %r4; mad.lo.u32 %r3, %r4, {GRID[0]}, %r3;
    mad.lo.u32 %n, %r3, {np.prod(BLOCK)}, %r0; mul.lo.u32 %n, %n, {4 * len(names)};
    mov.u32 %v, tile; mov.u32 %v, more; mov.pred %p, %is_explicit_cluster;
    ld.param.u64 %a, [out]; cvt.u64.u32 %w, %n; add.u64 %a, %a, %w;
    {reads}
    ret;
}}
"""


@pytest.mark.parametrize("options", [VIRTUAL, COMPILED], ids=["virtual", "compiled"])
def test_every_special_register_has_its_value(options: CompileOptions | None) -> None:
    names = list(expected(0, 0))
    blocks, threads = int(np.prod(GRID)), int(np.prod(BLOCK))
    device = Device(text(names), options=options)
    out = device.zeros((blocks, threads, len(names)), np.uint32)
    device.launch("k", GRID, BLOCK, out, shared_bytes=DYNAMIC)
    found = out.download()
    for block in range(blocks):
        for thread in (0, 4, 31, 32, threads - 1):
            wanted = expected(block, thread)
            assert dict(zip(names, found[block, thread].tolist(), strict=True)) == wanted
