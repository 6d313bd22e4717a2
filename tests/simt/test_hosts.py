"""Results and recordings do not depend on the SIMD width of the processor."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys

import pytest
from tests.simt.host_probe import results

from warpreg.simt.llvm import object_code

PROCESSORS = [
    ("x86-64-v4", "+avx512f,+avx512bw,+avx512dq,+avx512vl", 512),
    ("x86-64-v3", "+avx2,+fma", 256),
    ("x86-64", "+sse2", 128),
]
NARROWER = [row for row in PROCESSORS if row[2] < object_code.vector_bits() or row[2] == 128]
"""Those whose vectors are narrower than this processor's."""


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the processors named here are x86-64")
@pytest.mark.parametrize(("cpu", "features", "bits"), NARROWER)
def test_another_processor_gives_the_same(cpu: str, features: str, bits: int) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "tests.simt.host_probe", cpu, features]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    width, found = json.loads(done.stdout)
    assert width == bits
    assert found == results()
