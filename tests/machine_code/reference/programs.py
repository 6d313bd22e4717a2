"""Random programs of `tests.reference.generator` in instructions that both readings of machine code know."""

from __future__ import annotations

import re

import numpy as np
from tests.machine_code.reference.paired import Paired
from tests.reference.generator import KERNEL, Case, generate
from tests.reference.run import FILLER
from tests.reference.vocabulary import MEASURED

LEFT_OUT = re.compile(r"f16|x2|relu|e\dm\d|tf32|cvt\.sat\.[us](8|16)\.|fns|xorsign|cvt\.(\w+\.)*[us]8\.f64")
"""Numbers of 16 bits and less; what sm_80 lacks."""
NEITHER = re.compile(
    r"cvta\.const|isspacep\.const|generic\(|(exch|cas)\.b128|(atom|red)\.\S*f16|elect|bf16|cluster|fence\.\w*proxy|%envreg|mapa|getctarank"
)
"""What makes a program unfit: what one architecture lacks, or the machine code that is executed."""

FAMILIES = {name: kept for name, texts in MEASURED.items() if (kept := [t for t in texts if not LEFT_OUT.search(t)])}


def program(seed: int, architecture: str, statements: int = 30) -> Case:
    """The program of a seed, for an architecture."""
    case = generate(seed, statements, measured=True, families=FAMILIES)
    text = re.sub(r"\.target \S+", f".target {architecture}", case.text)
    return Case(**(vars(case) | {"text": text}))


def is_fit(case: Case) -> bool:
    return not NEITHER.search(case.text)


def run(case: Case, device: Paired) -> None:
    """Launch a program."""
    source = device.upload(np.frombuffer(case.input, np.uint8))
    rows = device.upload(np.full(case.threads * case.row_bytes, FILLER, np.uint8))
    results = device.zeros(case.threads * 8 * len(case.slots) + 8, np.uint8)
    atoms = device.upload(np.frombuffer(case.atomics, np.uint8))
    arguments = [source, rows, results, atoms, *case.scalars.values()]
    device.launch(KERNEL, case.grid, case.block, *arguments, shared_bytes=case.shared_bytes)
