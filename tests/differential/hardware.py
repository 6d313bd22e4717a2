"""Instructions, random programs and texture fetches on the executor and on the GPU of this machine.

``python -m tests.differential.hardware FILE.json [--seconds N] [--processes N]`` writes what differs.  Exact
instructions are compared bit for bit, approximate ones with the error that PTX states.  The bits of NaNs, and what a
GPU is known to compute otherwise, are counted apart.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
from tests.differential import known
from tests.differential.comparing import differences
from tests.differential.test_opcodes import FORMS, packed, within_bounds
from tests.differential.test_textures import DTYPES, KINDS, MODES, image
from tests.reference.generator import KERNEL as PROGRAM
from tests.reference.generator import generate
from tests.reference.matrix import KERNEL, WORD, Instruction, build, shape_of
from tests.reference.run import FILLER, Outcome
from tests.simt.texturing import fetch_text

from warpreg.checks.gpu.driver import GpuError
from warpreg.checks.gpu.paired_device import PairedDevice
from warpreg.checks.gpu.process import Gpu
from warpreg.codegen import CompileOptions
from warpreg.ir.errors import WarpregError

THREADS = 32
FORMS_TOGETHER = 40
OPERANDS = 12
"""Launches with other operands of each form."""
STATEMENTS = 30
EXAMPLES = 3
PLACES = 12
"""Differences of a program that are told."""
FETCHES = 512
OWN_TO_A_MACHINE = frozenset("isspacep cvta mapa getctarank activemask".split())
"""Results that depend on the map of addresses or on the launch."""


@dataclass
class Finding:
    """What was compared under a name: ``launches``, ``compared`` words and those that ``differ``.

    Of these, ``nans`` differ in the bits of a NaN only, and ``known`` for one of the ``reasons`` in
    `tests.differential.known`; ``beyond`` are those that neither these nor a stated error allow.  ``error`` is why it
    could not be compared.
    """

    part: str
    name: str
    launches: int = 0
    compared: int = 0
    differ: int = 0
    nans: int = 0
    known: int = 0
    beyond: int = 0
    largest: float = 0.0
    examples: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    error: str = ""

    def example(self, text: str) -> None:
        if len(self.examples) < EXAMPLES:
            self.examples.append(text)


@functools.cache
def gpu() -> Gpu:
    """The GPU of this process."""
    return Gpu()


def compare_forms(forms: Sequence[Instruction], seed: int) -> list[Finding]:
    """One finding per form; forms that the driver refuses are found by halving."""
    matrix = build(forms, THREADS)
    try:
        device = PairedDevice(gpu(), matrix.text, options=CompileOptions() if seed % 2 else None)
    except WarpregError as error:
        return [Finding("form", str(form), error=f"executor: {error}") for form in forms]
    found = [Finding("form", str(form)) for form in forms]
    source = device.zeros(WORD * THREADS * len(matrix.columns), np.uint8)
    out = device.zeros(2 * WORD * THREADS * len(forms), np.uint8)
    for turn in range(OPERANDS):
        words = matrix.input(random.Random(f"{seed} {turn}"))
        source.write(np.frombuffer(packed(words), np.uint8))
        try:
            device.launch(KERNEL, 1, THREADS, source, out)
            got, wanted = device.on_gpu(out).tobytes(), out.download().tobytes()
        except GpuError as error:
            if len(forms) > 1:
                middle = len(forms) // 2
                return [*compare_forms(forms[:middle], seed), *compare_forms(forms[middle:], seed)]
            found[0].error = str(error)
            return found
        for i, (form, finding) in enumerate(zip(forms, found, strict=True)):
            finding.launches += 1
            shape = shape_of(form)
            assert shape is not None
            for place in range(len(shape.results)):
                for thread in range(THREADS):
                    at = WORD * ((2 * i + place) * THREADS + thread)
                    finding.compared += 1
                    if got[at : at + WORD] == wanted[at : at + WORD]:
                        continue
                    x, y = (int.from_bytes(b[at : at + WORD], "little") for b in (got, wanted))
                    operands = matrix.operands(words, i, thread)
                    _judge(finding, form, shape.results[place], operands, x, y, place)
    return found


def _judge(
    finding: Finding, form: Instruction, result: str, operands: tuple[int, ...], x: int, y: int, place: int
) -> None:
    """Count a difference, ``x`` on the GPU and ``y`` here, under what explains it."""
    finding.differ += 1
    if within_bounds(form.text, operands, x, y):
        return
    if known.differ_in_nan_only(form.text.split(".")[0], result, x, y):
        finding.nans += 1
        return
    reason = known.reason(form, operands)
    if reason and reason not in finding.reasons:
        finding.reasons.append(reason)
    finding.known += bool(reason)
    finding.beyond += not reason
    finding.example(f"{', '.join(map(hex, operands))} (result {place}): GPU {x:#x}, executor {y:#x}")


def compare_program(seed: int) -> list[Finding]:
    """A random program: rows and atomics bit for bit, approximate results with their errors."""
    case, finding = generate(seed, STATEMENTS, measured=True), Finding("program", str(seed))
    try:
        device = PairedDevice(gpu(), case.text, options=CompileOptions() if seed % 2 else None)
        rows = device.upload(np.full(case.threads * case.row_bytes, FILLER, np.uint8))
        results = device.zeros(case.threads * 8 * len(case.slots) + 8, np.uint8)
        atoms = device.upload(np.frombuffer(case.atomics, np.uint8))
        arguments = [device.upload(np.frombuffer(case.input, np.uint8)), rows, results, atoms, *case.scalars.values()]
        device.launch(PROGRAM, case.grid, case.block, *arguments, shared_bytes=case.shared_bytes)
        left = (rows, results, atoms)
        got = _outcome(device.on_gpu(buffer) for buffer in left)
        wanted = _outcome(buffer.download() for buffer in left)
    except WarpregError as error:
        finding.error = str(error)
        return [finding]
    finding.launches, finding.compared = 1, device.comparisons[-1].elements
    finding.differ = device.comparisons[-1].differing
    beyond = differences(case, got, wanted, limit=1 << 30)
    finding.beyond, finding.examples = len(beyond), [*first_of_each_place(beyond)][:PLACES]
    return [finding]


def first_of_each_place(texts: Sequence[str]) -> Iterator[str]:
    """One difference of each place in a row, whichever thread has it."""
    seen = set()
    for text in texts:
        place = re.sub(r"(row|thread) \d+", "", text.split(":")[0])
        if place not in seen:
            seen.add(place)
            yield text


def _outcome(contents: Iterable[np.ndarray]) -> Outcome:
    rows, results, atoms = (content.tobytes() for content in contents)
    return Outcome(rows, results, atoms)


FETCH_FORMS = [
    *(f"tex.{geometry}.v4.f32.f32" for geometry in KINDS),
    *(f"tex.{geometry}.v4.s32.s32" for geometry in ("1d", "2d", "a2d")),
    *(f"tld4.{component}.2d.v4.f32.f32" for component in "rg"), "tld4.r.a2d.v4.f32.f32",
]  # fmt: skip


def compare_fetches(form: str, seed: int) -> list[Finding]:
    """Fetches of one form from random textures; one finding per filter and kind of coordinates."""
    rng = np.random.default_rng(seed)
    geometry = next(m for m in form.split(".") if m in KINDS)
    kind, count = KINDS[geometry]
    found: dict[str, Finding] = {}
    device = PairedDevice(gpu(), fetch_text(form, count))
    for dtype in DTYPES:
        array = image(kind, dtype, int(rng.choice([1, 2, 4])), rng)
        read = (
            "normalized" if array.dtype.kind != "f" and array.dtype.itemsize < 4 and rng.random() < 0.5 else "element"
        )
        linear = (read == "normalized" or array.dtype.kind == "f") and rng.random() < 0.6
        normalized = bool(rng.random() < 0.5) and not form.endswith("s32")
        modes = tuple(MODES[int(n)] for n in rng.integers(0, 4 if normalized else 2, 3))
        table = _coordinates(form, geometry, normalized, rng)
        name = f"{form} {'linear' if linear else 'point'} {'normalized' if normalized else 'texels'}"
        finding = found.setdefault(name, Finding("fetch", name))
        options: dict[str, Any] = {"address": modes, "filter": "linear" if linear else "point", "read": read}
        texture = device.texture(array, cast(Any, kind), normalized=normalized, **options)
        out = device.zeros((FETCHES, 4), np.uint32)
        try:
            device.launch("k", 1, FETCHES, texture, 0, device.upload(table), out)
            got, wanted = device.on_gpu(out), out.download()
        except WarpregError as error:
            finding.error = f"{dtype} {read}: {error}"
            continue
        is_float = array.dtype.kind == "f" or read == "normalized"
        _note(finding, table, got, wanted, is_float, f"{dtype}{array.shape} {read} {modes}")
    return [*found.values()]


def _coordinates(form: str, geometry: str, normalized: bool, rng: np.random.Generator) -> np.ndarray:
    table = np.zeros((FETCHES, 8), np.uint32)
    if form.endswith("s32"):
        table[:, :4] = rng.integers(-4, 12, (FETCHES, 4)).astype(np.uint32)
    else:
        low, high = (-2.0, 3.0) if normalized else (-3.0, 10.0)
        points = rng.uniform(low, high, (FETCHES, 4)).astype(np.float32)
        points[: FETCHES // 4] = rng.integers(-8, 24, (FETCHES // 4, 4)) / 2 / (4 if normalized else 1)
        if geometry.endswith("cube"):
            points = rng.normal(0, 1, (FETCHES, 4)).astype(np.float32)
        table[:, :4] = points.view(np.uint32)
    if geometry.startswith("a"):
        table[:, 0] = np.arange(FETCHES) % 5
    return table


def _note(finding: Finding, table: np.ndarray, got: np.ndarray, wanted: np.ndarray, is_float: bool, what: str) -> None:
    finding.launches += 1
    finding.compared += got.size
    different = got != wanted
    finding.differ += int(different.sum())
    finding.beyond = finding.differ
    if not different.any():
        return
    row = int(np.flatnonzero(different.any(1))[0])
    kind = np.float32 if is_float else np.uint32
    given = [hex(int(n)) for n in table[row, :4]], table[row, :4].view(np.float32).tolist()
    x, y = (f"{words[row].view(kind)} {[*map(hex, words[row].tolist())]}" for words in (got, wanted))
    finding.example(f"{what} at {given}: GPU {x}, executor {y}")
    if is_float:
        a, b = (words.view(np.float32)[different].astype(np.float64) for words in (got, wanted))
        with np.errstate(invalid="ignore", divide="ignore"):
            relative = np.abs(a - b) / np.maximum(np.abs(a), np.abs(b))
        finite = relative[np.isfinite(relative)]
        finding.largest = max(finding.largest, float(finite.max()) if finite.size else 0.0)


Task = tuple[Callable[..., list[Finding]], tuple[Any, ...]]


def tasks(programs: int, fetches: int) -> Iterator[Task]:
    """All comparisons, in an order in which each prefix has some of all parts."""
    forms = [form for row in FORMS.values() for form in row if form.text.split(".")[0] not in OWN_TO_A_MACHINE]
    lots: list[Task] = [
        (compare_forms, (forms[at : at + FORMS_TOGETHER], at // FORMS_TOGETHER))
        for at in range(0, len(forms), FORMS_TOGETHER)
    ]
    lots += [(compare_program, (seed,)) for seed in range(programs)]
    lots += [(compare_fetches, (form, seed)) for seed in range(fetches) for form in FETCH_FORMS]
    random.Random(1).shuffle(lots)
    return iter(lots)


def attempt(task: Task, end: float) -> list[Finding]:
    """The findings of a task, none after the ``end``."""
    function, arguments = task
    if time.time() > end:
        return []
    try:
        return function(*arguments)
    except Exception as error:
        return [Finding(function.__name__, str(arguments)[:200], error=f"{type(error).__name__}: {error}")]


def summary(found: Sequence[Finding]) -> dict[str, dict[str, int]]:
    """Sums by part."""
    sums: dict[str, Counter[str]] = {}
    for one in found:
        part = sums.setdefault(one.part, Counter())
        part["items"] += 1
        part["not compared"] += bool(one.error)
        part["equal items"] += not one.error and not one.differ
        part["items beyond"] += bool(one.beyond)
        for name in ("launches", "compared", "differ", "nans", "known", "beyond"):
            part[name] += getattr(one, name)
    return {part: dict(count) for part, count in sorted(sums.items())}


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.differential.hardware", description=__doc__)
    options.add_argument("file", type=Path)
    options.add_argument("--seconds", type=float, default=240)
    options.add_argument("--processes", type=int, default=os.cpu_count())
    options.add_argument("--programs", type=int, default=600)
    options.add_argument("--fetches", type=int, default=6)
    given = options.parse_args()
    end = time.time() + given.seconds
    found: list[Finding] = []
    with Gpu() as one:
        name = one.name
    with ProcessPoolExecutor(given.processes) as pool:
        for done in as_completed([pool.submit(attempt, task, end) for task in tasks(given.programs, given.fetches)]):
            found += done.result()
    found.sort(key=lambda one: (one.part, one.name))
    told = [asdict(one) for one in found if one.differ or one.error]
    equal = [one.name for one in found if one.part == "form" and not one.differ and not one.error]
    sums = summary(found)
    given.file.write_text(json.dumps({"gpu": name, "summary": sums, "findings": told, "equal forms": equal}, indent=1))
    print(name, json.dumps(sums, indent=1))


if __name__ == "__main__":
    main()
