"""Every instruction of the vocabulary on edge operands: the executor equals the reference.

``WARPREG_PROGRAMS`` above 100 draws more operands.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.reference import approximate
from tests.reference.interpreter import Reference
from tests.reference.matrix import KERNEL, Matrix, build, every_instruction
from tests.reference.vocabulary import APPROXIMATE

from warpreg.codegen import CompileOptions
from warpreg.simt import Device

THREADS = 1024 if int(os.environ.get("WARPREG_PROGRAMS", "20")) > 100 else 64
BATCHES = 24


def run_reference(matrix: Matrix) -> np.ndarray:
    reference = Reference(matrix.text)
    out = reference.buffer(bytes(16 * len(matrix.instructions) * matrix.threads))
    reference.launch(KERNEL, 1, matrix.threads, [reference.buffer(matrix.input), out])
    return np.frombuffer(bytes(out.data), np.uint64)


def run_device(matrix: Matrix, options: CompileOptions | None) -> np.ndarray:
    device = Device(matrix.text, options=options)
    out = device.zeros(2 * len(matrix.instructions) * matrix.threads, np.uint64)
    device.launch(KERNEL, 1, matrix.threads, device.upload(np.frombuffer(matrix.input, np.uint8)), out)
    return out.download()


def disagreements(matrix: Matrix, got: np.ndarray, wanted: np.ndarray) -> list[str]:
    found = []
    for word in np.flatnonzero(got != wanted):
        i, thread = divmod(int(word), 2 * matrix.threads)
        text, operands = matrix.instructions[i], matrix.operands(i, thread % matrix.threads)
        opcode, bits = text.split(".")[0], text[-2:]
        kind = opcode + ("64" if bits == "64" else "")
        x, y = int(got[word]), int(wanted[word])
        if text in APPROXIMATE and (not approximate.is_bounded(kind, operands) or approximate.agree(kind, x, y)):
            continue
        found.append(f"{text} {', '.join(map(hex, operands))}: {x:#x} instead of {y:#x}")
    return found


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_instruction_on_edge_operands(batch):
    matrix = build(every_instruction()[batch::BATCHES], THREADS, batch)
    options = CompileOptions() if batch % 2 else None
    assert disagreements(matrix, run_device(matrix, options), run_reference(matrix)) == []
