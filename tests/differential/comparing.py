"""Run a generated case on the executor and report differences from the reference."""

from __future__ import annotations

import struct
from functools import lru_cache

import numpy as np
from tests.reference import approximate
from tests.reference.generator import KERNEL, Case, generate
from tests.reference.run import FILLER, Outcome, run_reference

from warpreg.simt import Device


@lru_cache(maxsize=512)
def expected(seed: int, statements: int = 30) -> tuple[Case, Outcome]:
    """The case of a seed and its outcome on the reference."""
    case = generate(seed, statements)
    return case, run_reference(case)


def run_on_device(case: Case, device: Device) -> Outcome:
    """The outcome of ``case`` on a device that has its module loaded."""
    source = device.upload(np.frombuffer(case.input, np.uint8))
    rows = device.upload(np.full(case.threads * case.row_bytes, FILLER, np.uint8))
    results = device.zeros(case.threads * 8 * len(case.slots) + 8, np.uint8)
    atoms = device.upload(np.frombuffer(case.atomics, np.uint8))
    arguments = [source, rows, results, atoms, *case.scalars.values()]
    device.launch(KERNEL, case.grid, case.block, *arguments, shared_bytes=case.shared_bytes, max_instructions=5_000_000)
    return Outcome(rows.download().tobytes(), results.download().tobytes(), atoms.download().tobytes())


def differences(case: Case, got: Outcome, wanted: Outcome, limit: int = 10) -> list[str]:
    """What differs: rows and atomics bit for bit, approximate results beyond their tolerance."""
    out = _unequal("row", got.rows, wanted.rows, case.row_bytes)
    out += _unequal("atomic", got.atomics, wanted.atomics, 1 << 30)
    for thread in range(case.threads):
        for i, kind in enumerate(case.slots):
            bits = 64 if kind.endswith("64") else 32
            at = 8 * (thread * len(case.slots) + i)
            x, y = (_word(o.approximate, at, bits) for o in (got, wanted))
            if not approximate.agree(kind, x, y):
                out.append(f"approximate result {i} ({kind}) of thread {thread}: {x:#x} instead of {y:#x}")
    return out[:limit]


def _word(content: bytes, at: int, bits: int) -> int:
    return int(struct.unpack_from("<Q" if bits == 64 else "<I", content, at)[0])


def _unequal(name: str, got: bytes, wanted: bytes, row: int) -> list[str]:
    x, y = np.frombuffer(got, np.uint8), np.frombuffer(wanted, np.uint8)
    found = []
    for at in sorted({int(i) // 4 * 4 for i in np.flatnonzero(x != y)}):
        words = (got[at : at + 4][::-1].hex(), wanted[at : at + 4][::-1].hex())
        found.append(f"{name} {at // row}, byte {at % row}: {words[0]} instead of {words[1]}")
    return found
