"""CUDA C++ with virtual functions, function pointers, recursion, printf, assert, new and delete, compiled by NVRTC.

``data/shapes.ptx`` is the output of NVRTC 13 for ``data/shapes.cu`` and compute_75, without its line directives.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpreg.codegen import CompileOptions
from warpreg.simt import AssertionFault, Device, StackFault

TEXT = (Path(__file__).parent / "data" / "shapes.ptx").read_text()
WAYS = {"virtual": None, "compiled": CompileOptions(), "24 registers": CompileOptions(max_registers=24)}


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    return ackermann(m - 1, ackermann(m, n - 1) if n else 1)


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_virtual_functions_tables_and_recursion(
    options: CompileOptions | None, capsys: pytest.CaptureFixture[str]
) -> None:
    device = Device(TEXT, options=options)
    numbers = np.arange(40, dtype=np.int32) % 7
    areas, results = device.zeros(40, np.int32), device.upload(numbers)
    device.launch("shapes", 2, 32, areas, results, 40)
    i = np.arange(40)
    assert areas.download().tolist() == [(2 if n % 2 else 3) * n * n for n in i]
    wanted = [(4 + n * 3 if n % 2 else n + 3) + fibonacci(n % 7) for n in i.tolist()]
    assert results.download().tolist() == wanted
    # 5: 2*25/4 = 12.5; 21: 2*441/4 = 220.5; 37: 2*1369/4 = 684.5
    lines = ["5: odd 12.50|5   |20", "21: odd 220.50|21  |200000", "37: odd 684.50|37  |2000000000"]
    assert capsys.readouterr().out.splitlines() == lines
    assert device.heap.used == 0


def test_a_failed_assertion_names_file_line_function_condition_block_and_thread(
    capsys: pytest.CaptureFixture[str],
) -> None:
    device = Device(TEXT)
    areas, results = device.zeros(64, np.int32), device.upload(np.full(64, -1000, np.int32))
    with pytest.raises(AssertionFault) as caught:
        device.launch("shapes", 2, 32, areas, results, 64)
    message = str(caught.value)
    # Even lanes and odd ones both have 4 + 0 - 1000 + ... below 0; thread 0 is the first.
    assert message.startswith("kernel 'shapes', block (0,0,0), thread (0,0,0), instruction 'assertfail ")
    assert message.endswith("shapes.cu:34: shapes: assertion 'numbers[i] >= 0' failed")


@pytest.mark.slow
@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_quicksort_mutual_recursion_and_ackermann_at_different_depths(options: CompileOptions | None) -> None:
    rows = np.random.default_rng(3).integers(0, 90, (40, 12)).astype(np.int32)
    device = Device(TEXT, options=options)
    buffer, results = device.upload(rows), device.zeros(40, np.int32)
    device.launch("recursive", 1, 40, buffer, results, 12)
    assert (buffer.download() == np.sort(rows, axis=1)).all()
    first = np.sort(rows, axis=1)[:, 0]
    wanted = [first[(i + 1) % 40] * 1000 + ackermann(i % 3, i % 4) * 10 + (i % 2 == 0) for i in range(40)]
    assert results.download().tolist() == wanted


def test_a_stack_that_is_too_small_is_one_error() -> None:
    device = Device(TEXT, stack_bytes=64)
    with pytest.raises(
        StackFault, match=r"kernel 'recursive', block \(0,0,0\), thread .*the thread's stack has 64 bytes"
    ):
        device.launch("recursive", 1, 40, device.zeros((40, 12), np.int32), device.zeros(40, np.int32), 12)
