"""Every form of the semantics table on edge and random operands: the executor equals the reference.

A form is a full opcode with a number of operands.  ``WARPREG_PROGRAMS`` above 100 compares all forms on many operands;
otherwise each row is compared by up to `SAMPLE` forms.
"""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.differential.elsewhere import is_elsewhere
from tests.differential.forms import full_opcodes, source_counts
from tests.reference import approximate, video
from tests.reference.instruction import kind_and_bits
from tests.reference.interpreter import Reference
from tests.reference.matrix import KERNEL, WORD, Instruction, Matrix, build, shape_of
from tests.reference.number import mask

from warpreg.codegen import CompileOptions
from warpreg.ir.opcodes import OPCODES, Opcode
from warpreg.simt import Device

LONG = int(os.environ.get("WARPREG_PROGRAMS", "20")) > 100
SAMPLE = 1 << 30 if LONG else 14
EXAMPLES = 40 if LONG else 2
THREADS = 32
BATCH = 150

SELECTORS: dict[str, list[tuple[str, ...]]] = {
    "scalar": [("", "b3", "h1"), ("", "b0", "b2"), ("h1", "h0", ""), ("b2", "", "b1"), ("b0", "h1", "h0")],
    "vmad": [("", "b3", "h1"), ("", "-h0", "b1", ""), ("", "", "", "-"), ("", "-b2", "h1", "")],
    "2": [("h10", "h20", "h31"), ("h0", "h01", ""), ("h1", "", "h33")],
    "4": [("b3210", "b7531", "b6420"), ("b20", "b0123", ""), ("b3", "", "b4444")],
}
"""Parts of registers that video instructions are tried with, of destination, a and b."""


def forms_of(row: Opcode) -> list[Instruction]:
    """All forms of a row, and for a video instruction some that take parts."""
    counts = source_counts(row)
    if row.lanes and "sync" in row.syntax:
        counts = [count - 1 for count in counts]
    forms = [Instruction(text, count) for text in full_opcodes(row.syntax) for count in counts]
    return [form for f in forms for form in _with_parts(f)] if row.name in video.OPCODES else forms


def _with_parts(form: Instruction) -> list[Instruction]:
    """A video instruction on whole registers and on parts.

    The third source of a scalar one is for a second operation, or what the part that it writes is put into.
    """
    opcode, modifiers = form.text.split(".")[0], form.text.split(".")[1:]
    is_scalar = opcode[-1] not in "24" and opcode != "vmad"
    has_second = modifiers[-1] in ("add", "min", "max")
    if is_scalar and has_second and form.source_count == 2:
        return []
    merges = is_scalar and form.source_count == 3 and not has_second
    chosen = SELECTORS["scalar" if is_scalar else "vmad" if opcode == "vmad" else opcode[-1]]
    to, *sources = chosen[zlib.crc32(form.text.encode()) % len(chosen)]
    if "po" in modifiers:
        sources = [part.removeprefix("-") for part in sources]
    if is_scalar:
        to = (to or "h1") if merges else ""
    parts = form._replace(selectors=(to, *sources, "", "")[: form.source_count + 1])
    return [parts] if merges else [form, parts]


COMPARED = [row for row in OPCODES if row.meaning is not None and not is_elsewhere(row)]
FORMS = {row.syntax + row.types: forms_of(row) for row in COMPARED}


def sampled(forms: list[Instruction]) -> list[Instruction]:
    """At most `SAMPLE` of them, spread evenly, the first and last included."""
    if len(forms) <= SAMPLE:
        return forms
    return [forms[i * (len(forms) - 1) // (SAMPLE - 1)] for i in range(SAMPLE)]


CHOSEN = [form for forms in FORMS.values() for form in sampled(forms)]
BATCHES = -(-len(CHOSEN) // BATCH)


@pytest.mark.parametrize("syntax", FORMS)
def test_the_reference_knows_every_form(syntax: str) -> None:
    missing = [str(form) for form in FORMS[syntax] if shape_of(form) is None]
    assert missing == [], (
        "write these into the module of their group in tests/reference, from the manual alone, without a look at the "
        "table's meanings; or, if nothing can be compared, name the opcode and the reason in elsewhere.py"
    )


def packed(words: Sequence[int]) -> bytes:
    return b"".join(word.to_bytes(WORD, "little") for word in words)


def run_reference(matrix: Matrix, words: Sequence[int]) -> bytes:
    reference = Reference(matrix.text)
    out = reference.buffer(bytes(2 * WORD * len(matrix.instructions) * matrix.threads))
    reference.launch(KERNEL, 1, matrix.threads, [reference.buffer(packed(words)), out])
    return bytes(out.data)


def run_device(matrix: Matrix, device: Device, words: Sequence[int]) -> bytes:
    out = device.zeros(2 * WORD * len(matrix.instructions) * matrix.threads, np.uint8)
    device.launch(KERNEL, 1, matrix.threads, device.upload(np.frombuffer(packed(words), np.uint8)), out)
    return out.download().tobytes()


def disagreements(matrix: Matrix, words: Sequence[int], got: bytes, wanted: bytes) -> list[str]:
    found = []
    for at in range(0, len(got), WORD):
        if got[at : at + WORD] == wanted[at : at + WORD]:
            continue
        i, thread = divmod(at // WORD, 2 * matrix.threads)
        operands = matrix.operands(words, i, thread % matrix.threads)
        text, (x, y) = matrix.instructions[i].text, (int.from_bytes(b[at : at + WORD], "little") for b in (got, wanted))
        if not within_bounds(text, operands, x, y):
            found.append(f"{matrix.instructions[i]} {', '.join(map(hex, operands))}: {x:#x} instead of {y:#x}")
    return found


def within_bounds(text: str, operands: tuple[int, ...], x: int, y: int) -> bool:
    """Whether an approximate instruction keeps its error bound, in each element of a pair."""
    kind, name = approximate.kind_of(text), text.rsplit(".", 1)[1]
    if not kind:
        return False
    bits = kind_and_bits(name)[1]
    if name.endswith("x2"):
        half = mask(bits // 2)
        return all(approximate.agree(kind, x >> at & half, y >> at & half) for at in (0, bits // 2))
    return not approximate.is_bounded(kind, operands) or approximate.agree(kind, x, y)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_form_on_edge_operands(batch: int) -> None:
    matrix = build(CHOSEN[batch::BATCHES], THREADS)
    device = Device(matrix.text, options=CompileOptions() if batch % 2 else None)

    @settings(max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate])
    @given(st.integers(0, 1 << 32))
    def compare(seed: int) -> None:
        words = matrix.input(random.Random(seed))
        assert disagreements(matrix, words, run_device(matrix, device, words), run_reference(matrix, words)) == []

    compare()
