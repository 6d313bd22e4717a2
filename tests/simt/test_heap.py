"""``malloc`` and ``free`` in kernels: addresses, exhaustion, and invalid uses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simt.programs import COMPILED, VIRTUAL, module, words

from warpreg.codegen import CompileOptions
from warpreg.simt import Device, GlobalMemory, MemoryFault
from warpreg.simt.memory.heap import Heap

EXTERNAL = """
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
"""
MALLOC = "{{ .param .b64 n; .param .b64 r; st.param.b64 [n], {0}; call (r), malloc, (n); ld.param.b64 {1}, [r]; }}\n"
FREE = "{{ .param .b64 p; st.param.b64 [p], {0}; call free, (p); }}\n"


def launch(
    body: str, threads: int, heap_bytes: int = 1 << 20, options: CompileOptions | None = COMPILED, times: int = 1
) -> np.ndarray:
    device = Device(module(body, {"out": words(0)}, EXTERNAL), options=options, heap_bytes=heap_bytes)
    out = device.zeros(threads, np.uint32)
    for _ in range(times):
        device.launch("k", 1, threads, out)
    return out.download()


@pytest.mark.parametrize("options", [VIRTUAL, COMPILED], ids=["virtual", "compiled"])
def test_every_thread_has_memory_of_its_own(options: CompileOptions | None) -> None:
    body = "cvt.u64.u32 %rd1, %t; add.s64 %rd1, %rd1, 4;" + MALLOC.format("%rd1", "%rd2")
    body += "st.u32 [%rd2], %t; bar.sync 0; ld.u32 %r1, [%rd2]; cvt.u32.u64 %r2, %rd2; and.b32 %r2, %r2, 15;"
    body += FREE.format("%rd2") + "add.u32 %r1, %r1, %r2; st.global.u32 [%my_out], %r1;"
    # 40 threads take at most 48 bytes each: 20 launches fit in 2 KiB because all of it is given back.
    assert launch(body, 40, 40 * 48, options, times=20).tolist() == list(range(40))


def test_an_exhausted_heap_gives_null_to_the_threads_that_come_late() -> None:
    body = MALLOC.format("100", "%rd2") + "setp.ne.u64 %p1, %rd2, 0; selp.u32 %r1, 1, 0, %p1;"
    body += FREE.format("%rd2") + "st.global.u32 [%my_out], %r1;"
    # 100 bytes count as 112; five of them fit in 600 bytes. Freeing the null pointer does nothing.
    assert launch(body, 8, 600).tolist() == [1, 1, 1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (FREE.format("%rd2") + FREE.format("%rd2"), "is no memory that malloc gave and free has not"),
        ("add.s64 %rd2, %rd2, 16;" + FREE.format("%rd2"), "is no memory that malloc gave"),
        (FREE.format("%out"), "is no memory that malloc gave"),
        ("st.u32 [%rd2+32], %t;", "0 bytes past the end of '32 bytes of the heap'"),
        ("st.u32 [%rd2], %t;" + FREE.format("%rd2") + "ld.u32 %r1, [%rd2]; st.u32 [%out], %r1;", "is out of bounds"),
    ],
)
def test_misuse_is_one_error_that_names_the_thread(code: str, said: str) -> None:
    body = MALLOC.format("32", "%rd2") + "setp.ne.u32 %p1, %t, 3; @%p1 bra END;" + code + "END:"
    with pytest.raises(MemoryFault, match=r"kernel 'k', block \(0,0,0\), thread \(3,0,0\)") as caught:
        launch(body, 8)
    assert said in str(caught.value)


@given(st.lists(st.one_of(st.integers(1, 3000), st.integers(-20, -1)), max_size=60))
def test_allocations_never_overlap_and_the_sum_is_bounded(steps: list[int]) -> None:
    heap = Heap(GlobalMemory(), 20_000)
    given_out: dict[int, int] = {}
    for step in steps:
        if step > 0:
            address = heap.allocate(step)
            fits = sum(-(-n // 16) * 16 for n in given_out.values()) + -(-step // 16) * 16 <= 20_000
            assert (address != 0) == fits
            if fits:
                assert all(address + step <= a or a + n <= address for a, n in given_out.items())
                given_out[address] = step
        elif given_out:
            address = list(given_out)[step % len(given_out)]
            assert heap.release(address)
            assert not heap.release(address)
            del given_out[address]
    table = heap.memory.table()
    assert [(int(a), int(b)) for a, b in table] == sorted((a, a + n) for a, n in given_out.items())
