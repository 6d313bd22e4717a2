"""Random sequences of mbarrier operations and asynchronous copies: the executor and the reference agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.device import ReferenceDevice
from tests.tensor.forms import HEAD
from tests.tensor.test_asynchronous import run, text

from warpreg.simt import Device

ACTIONS = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3), st.integers(1, 64)), min_size=1, max_size=12)


class Model:
    """As much of an mbarrier as is needed to write a program that PTX gives a meaning to."""

    def __init__(self, count: int) -> None:
        self.expected, self.pending, self.bytes = count, count, 0

    def change(self, arrivals: int = 0, dropped: int = 0, bytes_: int = 0) -> None:
        self.expected -= dropped
        self.pending -= arrivals
        self.bytes += bytes_
        if self.pending == 0 and self.bytes == 0:
            self.pending = self.expected


def program(count: int, actions: list[tuple[int, int, int]]) -> str:
    """One thread acts; after each action it notes what both parities and the last state say, and the pending count."""
    model = Model(count)
    lines = ["mov.u32 %r5, full;", f"mbarrier.init.shared.b64 [%r5], {count};", "mov.u64 %rd1, 0;"]
    lines.append("mbarrier.arrive.noComplete.shared.b64 %rd1, [%r5], 0;")
    for number, (kind, arrivals, bytes_) in enumerate(actions):
        drop = "_drop" if kind in (2, 3) and model.expected > arrivals and arrivals < model.pending else ""
        arrivals = min(arrivals, model.pending)
        if kind < 4 and model.pending == 0:
            continue
        if kind in (0, 2):
            lines.append(f"mbarrier.arrive{drop}.shared.b64 %rd1, [%r5], {arrivals};")
            model.change(arrivals, arrivals if drop else 0)
        elif kind in (1, 3):
            drop = drop if model.expected > 1 else ""
            lines.append(f"mbarrier.arrive{drop}.expect_tx.shared.b64 %rd1, [%r5], {bytes_};")
            model.change(1, 1 if drop else 0, bytes_)
        elif kind == 4:
            lines.append(f"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], {bytes_};")
            model.change(bytes_=bytes_)
        elif model.bytes > 0:
            given_ = model.bytes if kind == 5 else min(bytes_, model.bytes)
            lines.append(f"mbarrier.complete_tx.shared.b64 [%r5], {given_};")
            model.change(bytes_=-given_)
        lines += [
            "mbarrier.test_wait.parity.shared.b64 %p1, [%r5], 0; mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 1;",
            "mbarrier.test_wait.shared.b64 %p3, [%r5], %rd1; mbarrier.pending_count.b64 %r1, %rd1;",
            "selp.u32 %r2, 1, 0, %p1; selp.u32 %r3, 1, 0, %p2; selp.u32 %r4, 1, 0, %p3;",
            f"st.global.v4.u32 [%y+{16 * number}], {{%r1, %r2, %r3, %r4}};",
        ]
    return "\n".join(lines)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(st.integers(1, 5), ACTIONS)
def test_any_sequence_of_mbarrier_operations(count: int, actions: list[tuple[int, int, int]]) -> None:
    body, y = program(count, actions), np.zeros((12, 4), np.uint32)
    reference = ReferenceDevice(text(body))
    out = reference.upload(y)
    reference.launch("k", 1, 1, reference.upload(y), out)
    assert run(body, y, y, 1).tolist() == out.download().tolist()


COPIES = """.visible .entry k(.param .u64 x, .param .u64 y)
{
    .reg .b64 %x, %y, %a, %b; .reg .b32 %t, %s, %r<9>; .reg .pred %p<4>; .shared .align 16 .b8 tile[3072];
    ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %t, %tid.x;
    mad.wide.u32 %a, %t, 16, %x; mov.u32 %s, tile; mad.lo.u32 %s, %t, 96, %s;
    ld.global.v2.u32 {%r1, %r2}, [%a]; ld.global.u32 %r6, [%a+8];
    and.b32 %r4, %r1, 255; mad.wide.u32 %b, %r4, 16, %x;
    cp.async.cg.shared.global [%s], [%b], 16, %r2; cp.async.commit_group;
    shr.u32 %r5, %r1, 8; and.b32 %r5, %r5, 255; mad.wide.u32 %b, %r5, 8, %x; setp.lt.u32 %p1, %r2, 9;
    cp.async.ca.shared.global [%s+16], [%b], 8, %p1; @%p1 cp.async.ca.shared.global [%s+28], [%b], 4;
    cp.async.commit_group;
    cp.async.wait_group 1; ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%s];
    mad.wide.u32 %b, %t, 48, %y; st.global.v4.u32 [%b], {%r1, %r2, %r3, %r4};
    cp.async.wait_all; ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%s+16]; st.global.v4.u32 [%b+16], {%r1, %r2, %r3, %r4};
    setp.ne.u32 %p2, %r6, 0; and.b32 %r7, %r6, 63; mul.lo.u32 %r7, %r7, 16;
    @%p2 cp.async.bulk.global.shared::cta.bulk_group [%b+32], [%s], 16;
    ret;
}
"""


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_sizes_sources_and_guards_of_copies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 1 << 32, (256, 4), np.uint32)
    x[:, 1], x[:, 2] = rng.integers(0, 17, 256), rng.integers(0, 2, 256)
    x = np.concatenate([x, x[:4]])
    outcomes = []
    for device in DEVICES:
        y = device.zeros((32, 12), np.uint32)
        device.launch("k", 1, 32, device.upload(x), y)
        outcomes.append(y.download().tolist())
    assert outcomes[0] == outcomes[1] == outcomes[2]


DEVICES = (ReferenceDevice(HEAD + COPIES), Device(HEAD + COPIES), Device(HEAD + COPIES, options=None))
