"""The loop that measures the limit of the host: its instructions, and its width."""

from __future__ import annotations

import platform
import re

import pytest
from llvmlite import binding
from tests.simt.assembly import assembly

from warpreg.ir.errors import WarpregError
from warpreg.simt.llvm import object_code
from warpreg_workbench.bench import executor_limit


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the assembly is that of x86-64")
@pytest.mark.parametrize(
    ("cpu", "features", "register", "parts"),
    [
        ("x86-64-v4", "+avx512f,+avx512bw,+avx512dq,+avx512vl", "zmm", 2),
        ("x86-64-v3", "+avx2,+fma", "ymm", 4),
        # the host of `--vector-bits 256`: the name of a processor with AVX-512, without its instructions
        ("rocketlake", "+avx2,+fma,-avx512f", "ymm", 4),
    ],
)
def test_the_loop_has_the_full_width(
    monkeypatch: pytest.MonkeyPatch, cpu: str, features: str, register: str, parts: int
) -> None:
    """32 lanes of 32 bits are two 512-bit or four 256-bit vectors: as many multiply-adds, loads of each of the two
    operands (one is part of the multiply-add, at most), and stores; nothing narrower, and no branch but the loop's.
    """
    monkeypatch.setattr(object_code, "host", lambda: (cpu, features))
    object_code.target_machine.cache_clear()
    lines = [line.strip() for line in assembly(executor_limit.limit_module(), optimize=True).splitlines()]
    object_code.target_machine.cache_clear()
    count = executor_limit.UNROLLED * parts
    fused = [line for line in lines if line.startswith("vfmadd")]
    stores = [line for line in lines if re.match(r"vmov\w+\s+%\w+, -?\d*\(", line)]
    loads = [line for line in lines if re.match(r"v\w+\s+-?\d*\(", line)]
    assert len(fused) == len(stores) == count
    assert 2 * count <= len(loads) <= 2 * count + parts  # and the factor, before the loop
    assert all(f"%{register}" in line for line in (*fused, *stores, *loads))
    assert len([line for line in lines if re.match(r"j\w+\s", line)]) <= 2


def test_the_limit_is_a_speed() -> None:
    assert executor_limit.limit_mwi_s() > 1


def test_vectors_are_limited_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    features = {"avx2": True, "avx512f": True, "avx512bw": True}
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: binding.FeatureMap(features))
    monkeypatch.setenv(object_code.VECTOR_BITS_VARIABLE, "256")
    given = object_code.host.__wrapped__()[1].split(",")
    assert "+avx2" in given
    assert not any(feature.startswith("+avx512") for feature in given)
    monkeypatch.setenv(object_code.VECTOR_BITS_VARIABLE, "100")
    with pytest.raises(WarpregError, match="expected 256 or 512, found '100'"):
        object_code.host.__wrapped__()
