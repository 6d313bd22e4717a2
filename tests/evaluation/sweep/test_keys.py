"""The key of a kept result: each input, changed alone, gives another key; what has no effect on a row does not."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.sass.vector_add import write_vector_add

import warpreg
from warpreg import designs, energy, gpu
from warpreg.cache import sources
from warpreg.evaluation.runs.comparing import Comparison, RunOptions
from warpreg.evaluation.runs.counting import CountingMethod, Replayed, Timed
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.sweep import batch, found_rows
from warpreg.evaluation.sweep.batch import UNUSED, WITHOUT_EFFECT, Batch, Keys
from warpreg.evaluation.sweep.cells import Cell, RunSpec
from warpreg.ir.errors import WarpregError
from warpreg.sass.choice import AS_RECORDED, TraceChoice
from warpreg.sass.selection import Selection
from warpreg.simt import Record
from warpreg.timing import Sample

ROOT = Path(__file__).parents[3]
CHOICE = CompileChoice()
MADE = RunSpec("vector-add", "tiny", 0, CHOICE)
BASE = Cell(MADE, "gebhart-rfc", "gebhart-40nm", Replayed(), "rfc", (("entries", 4),))

OTHER: Mapping[type, Mapping[str, Any]] = {
    Cell: {
        "made": dataclasses.replace(MADE, seed=1),
        "machine": "v100",
        "technology": "common-40nm",
        "how": Timed(),
        "design": "rfc-lrf",
        "values": (("entries", 5),),
    },
    RunSpec: {
        "workload": "reduction",
        "size": "small",
        "seed": 2,
        "choice": dataclasses.replace(CHOICE, rotate=1),
        "reading": TraceChoice(binary_version=80),
    },
    TraceChoice: {
        "unknown_opcodes": "alu",
        "binary_version": 70,
        "kernels": Selection(((1, 2),)),
        "blocks": Selection(((0, 3),)),
        "listing": Path("kernel.cubin"),
    },
    CompileChoice: {
        "max_registers": 32,
        "schedule": False,
        "target": "sm_80",
        "level": "ptx",
        "registers": 40,
        "banks": 4,
        "latencies": "v100",
        "address_bits": 32,
        "rotate": 8,
        "sink": False,
        "rematerialize": False,
        "live_words": 16,
        "include": ("headers",),
        "define": ("N=4",),
        "arch": "sm_90",
        "machine_code": "sm_80",
    },
    Replayed: {"suspend": "static"},
    Timed: {"sample": Sample(), "mode": "interpreted", "cold": True, "copies": True, "threads": 2, "resume": False},
    Sample: {"windows": 4, "blocks": 2, "sms": 1},
}
"""For every field of a cell, and of what it contains, another value."""
FIELDS = [(kind, name) for kind, changes in OTHER.items() for name in changes]


def key_of(cell: Cell, *, unchecked: bool = False) -> str:
    """The key of a cell alone."""
    return Keys(unchecked).of(cell)


USUAL: Mapping[type, Any] = {
    Cell: BASE,
    RunSpec: MADE,
    CompileChoice: CHOICE,
    TraceChoice: AS_RECORDED,
    Replayed: Replayed(),
    Timed: Timed(),
    Sample: Sample(),
}
IN_A_CELL: Mapping[type, Callable[[Any], Cell]] = {
    Cell: lambda cell: cell,
    RunSpec: lambda made: dataclasses.replace(BASE, made=made),
    CompileChoice: lambda choice: dataclasses.replace(BASE, made=dataclasses.replace(MADE, choice=choice)),
    TraceChoice: lambda reading: dataclasses.replace(BASE, made=dataclasses.replace(MADE, reading=reading)),
    Replayed: lambda how: dataclasses.replace(BASE, how=how),
    Timed: lambda how: dataclasses.replace(BASE, how=how),
    Sample: lambda sample: dataclasses.replace(BASE, how=Timed(sample)),
}


def usual(kind: type) -> Cell:
    """The base with the usual one of this kind."""
    return IN_A_CELL[kind](USUAL[kind])


def changed(kind: type, name: str) -> Cell:
    """The base with another value of one field of what is of this kind."""
    return IN_A_CELL[kind](dataclasses.replace(USUAL[kind], **{name: OTHER[kind][name]}))


def contained(value: Any) -> Iterator[type]:
    """The dataclasses of a value, and of what it contains."""
    if dataclasses.is_dataclass(value):
        yield type(value)
        for field in dataclasses.fields(value):
            yield from contained(getattr(value, field.name))


@pytest.mark.parametrize("kind", OTHER)
def test_every_field_is_decided(kind: type) -> None:
    """Who adds a field adds another value of it here, and it then counts, or says in `WITHOUT_EFFECT` why not."""
    assert [field.name for field in dataclasses.fields(kind)] == list(OTHER[kind])
    assert WITHOUT_EFFECT.get(kind, {}).keys() <= OTHER[kind].keys()


def test_every_part_of_a_cell_is_decided() -> None:
    ways: Sequence[CountingMethod] = (Replayed(), Timed(Sample()))
    assert tuple(type(how) for how in ways) == found_rows.KEPT
    parts = {kind for how in ways for kind in contained(dataclasses.replace(BASE, how=how))}
    assert parts == set(OTHER)


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_each_field_changes_the_key(kind: type, name: str) -> None:
    is_same = name in WITHOUT_EFFECT.get(kind, {})
    assert (key_of(changed(kind, name)) == key_of(usual(kind))) == is_same


def test_no_two_changes_have_the_same_key() -> None:
    """But for `Timed()`, which is a change of `how`, and the same with other fields that no row depends on."""
    cells = [BASE, *(changed(kind, name) for kind, name in FIELDS)]
    assert len({key_of(cell) for cell in cells}) == len(cells) - 3
    for name in ("mode", "threads", "resume"):
        assert key_of(changed(Timed, name)) == key_of(changed(Cell, "how"))


def test_a_field_that_is_new_counts_at_once() -> None:
    @dataclass(frozen=True, slots=True)
    class Deeper(Timed):
        depth: int = 0

    shallow, deep = (dataclasses.replace(BASE, how=Deeper(depth=depth)) for depth in (0, 1))
    assert key_of(shallow) != key_of(deep)


def test_a_field_that_cannot_be_spelled_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Weighed(Timed):
        weights: Any = None

    with pytest.raises(TypeError, match=r"numpy.ndarray has no identity: array\(\[1\]\)"):
        key_of(dataclasses.replace(BASE, how=Weighed(weights=np.array([1]))))


def test_checks_of_hooks_change_the_key() -> None:
    assert key_of(BASE) != key_of(BASE, unchecked=True)
    checked, unchecked = Batch.of([BASE]), Batch.of([BASE], unchecked=True)
    assert (checked.keys, unchecked.keys) == ([key_of(BASE)], [key_of(BASE, unchecked=True)])


def test_a_value_that_is_the_default_is_the_default() -> None:
    """The register file cache has six entries by default (gebhart2011, section 3)."""
    named, left_out = (dataclasses.replace(BASE, values=values) for values in ((("entries", 6),), ()))
    assert key_of(named) == key_of(left_out) != key_of(BASE)


def test_keys_of_many_cells_are_those_of_each_alone() -> None:
    """What is read once for all is read for the right machine: the parameters of some designs describe it."""
    machines = ("gebhart-rfc", "v100", "gtx480", "bow-titanx")
    names = [name for name in designs.names() if designs.load(name).of_machine(gpu.load("v100"))]
    assert names
    cells = [
        dataclasses.replace(BASE, machine=machine, design=name, values=())
        for name in names
        for machine in machines
        if _is_possible(name, machine)
    ]
    cells += [changed(kind, name) for kind, name in FIELDS]
    together = Keys(False)
    assert [together.of(cell) for cell in cells] == [key_of(cell) for cell in cells]
    together = Keys(False)
    assert [together.of(cell) for cell in reversed(cells)] == [key_of(cell) for cell in reversed(cells)]


def _is_possible(design: str, machine: str) -> bool:
    try:
        batch.loaded(design, (), gpu.load(machine), False)
    except WarpregError:
        return False
    return True


WORKLOAD = """
import dataclasses
from pathlib import Path
from warpreg import workloads

known = workloads.find("vector-add")
WORKLOAD = dataclasses.replace(known, name="own", source=Path(__file__).with_name("own.ptx"))
"""
DESCRIPTION = """
source = "own.ptx"
[arrays.x]
file = "x.npy"
[[launches]]
kernel = "k"
grid = [1]
block = [32]
arguments = ["x"]
[expect.x]
file = "expected.npy"
"""


HEADERS = {
    "cuda.cu": '#include "first.h"\n#include <missing.h>\n',
    "first.h": '#pragma once\n  #  include "inner/second.h"\n',
    "inner/second.h": "#include <third.h>\n",
    "inner/third.h": '#include "first.h"\n',
}
"""The third is beside the second one; a circle ends."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's machine, technology, design, workload, descriptions and trace, in the current directory."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(gpu.machine.FOLDER / "gebhart-rfc.toml", tmp_path / "machine.toml")
    shutil.copy(energy.technology.FOLDER / "gebhart-40nm.toml", tmp_path / "technology.toml")
    shutil.copy(ROOT / "examples" / "my_design.py", tmp_path / "design.py")
    shutil.copy(ROOT / "src/warpreg/workloads/cuda_sdk/vector_add/kernel.ptx", tmp_path / "own.ptx")
    (tmp_path / "own.py").write_text(WORKLOAD, encoding="utf-8")
    (tmp_path / "own.toml").write_text(DESCRIPTION, encoding="utf-8")
    (tmp_path / "cuda.toml").write_text(DESCRIPTION.replace("own.ptx", "cuda.cu"), encoding="utf-8")
    for name, text in HEADERS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("x", "expected"):
        np.save(tmp_path / f"{name}.npy", np.zeros(32, np.float32))
    (tmp_path / "trace").mkdir()
    write_vector_add(tmp_path / "trace", 100)
    return tmp_path


def own(folder: Path, **files: str) -> Cell:
    """The base with files of a user in place of a machine, a technology, a design, a workload or the latencies."""
    paths: dict[str, Any] = {name: str(folder / file) for name, file in files.items()}
    workload, latencies = paths.pop("workload", MADE.workload), paths.pop("latencies", None)
    choice = dataclasses.replace(CHOICE, latencies=latencies)
    made = dataclasses.replace(MADE, workload=workload, choice=choice)
    values: tuple[tuple[str, Any], ...] = () if "design" in paths else BASE.values
    return dataclasses.replace(BASE, made=made, values=values, **paths)


@pytest.mark.parametrize(
    ("files", "edited"),
    [
        ({"machine": "machine.toml"}, "machine.toml"),
        ({"latencies": "machine.toml"}, "machine.toml"),
        ({"technology": "technology.toml"}, "technology.toml"),
        ({"design": "design.py"}, "design.py"),
        ({"workload": "own.py"}, "own.py"),
        ({"workload": "own.py"}, "own.ptx"),
        ({"workload": "own.toml"}, "own.toml"),
        ({"workload": "own.toml"}, "own.ptx"),
        ({"workload": "own.toml"}, "x.npy"),
        ({"workload": "own.toml"}, "expected.npy"),
        ({"workload": "cuda.toml"}, "cuda.cu"),
        ({"workload": "cuda.toml"}, "first.h"),
        ({"workload": "cuda.toml"}, "inner/second.h"),
        ({"workload": "cuda.toml"}, "inner/third.h"),
        ({"workload": "trace/kernelslist.g"}, "trace/kernelslist.g"),
        ({"workload": "trace/kernelslist.g"}, "trace/kernel-1.traceg"),
        ({"workload": "trace/kernel-1.traceg"}, "trace/kernel-1.traceg"),
    ],
)
def test_the_content_of_a_file_changes_the_key(folder: Path, files: Mapping[str, str], edited: str) -> None:
    cell = own(folder, **files)
    before = key_of(cell)
    assert before == key_of(cell)
    path = folder / edited
    found = path.read_bytes()
    path.write_bytes(EDITS[path.suffix](found))
    after = key_of(cell)
    assert after != before
    path.write_bytes(found)
    assert key_of(cell) == before


EDITS: Mapping[str, Callable[[bytes], bytes]] = {
    ".toml": lambda text: text.replace(b"title = ", b'title = "another: " #', 1) if b"title" in text else text + b"\n",
    ".npy": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    ".g": lambda text: text + b"# edited\n",
    ".traceg": lambda text: text + b"\n",
    ".ptx": lambda text: text + b"\n",
    ".cu": lambda text: text + b"\n",
    ".h": lambda text: text + b"\n",
    ".py": lambda text: text + b"\n",
}
"""The smallest change by the ending of a file; of one that is read into numbers, such that it is read as another."""


@pytest.mark.parametrize(
    ("kind", "file", "copy"),
    [
        ("machine", "machine.toml", "copy.toml"),
        ("technology", "technology.toml", "copy.toml"),
        ("design", "design.py", "copy.py"),
        ("workload", "own.py", "copy.py"),
        ("workload", "trace/kernel-1.traceg", "trace/copy.traceg"),
        ("latencies", "machine.toml", "copy.toml"),
    ],
)
def test_a_copy_under_another_name_has_another_key(folder: Path, kind: str, file: str, copy: str) -> None:
    """Its name is in the row."""
    shutil.copy(folder / file, folder / copy)
    assert key_of(own(folder, **{kind: file})) != key_of(own(folder, **{kind: copy}))


def test_the_name_of_a_recorded_run_is_that_of_its_folder(folder: Path) -> None:
    shutil.copytree(folder / "trace", folder / "other")
    first, second = (own(folder, workload=f"{name}/kernelslist.g") for name in ("trace", "other"))
    assert key_of(first) != key_of(second)


def test_a_file_that_is_replaced_with_its_old_time_of_change_is_read_again(folder: Path) -> None:
    cell = own(folder, workload="own.py")
    before = key_of(cell)
    shutil.copy2(folder / "own.py", folder / "kept.py")
    (folder / "own.py").write_text(WORKLOAD.replace('"own"', '"Own"'), encoding="utf-8")  # of the same size
    shutil.copystat(folder / "kept.py", folder / "own.py")
    assert key_of(cell) != before


def test_the_code_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(BASE)
    monkeypatch.setattr(batch, "package", lambda: "0123456789abcdef" * 4)
    assert key_of(BASE) != before
    assert key_of(BASE).startswith("0123456789ab-")


@pytest.fixture
def package_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of a few files in place of the own one, for digests of sources."""
    for name in ("__init__.py", "replay/replay.py", "gpu/machines/a.toml", "cli/app.py", "report/page.py"):
        file = tmp_path / "warpreg" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {name}\n", encoding="utf-8")
    monkeypatch.setattr(warpreg, "__file__", str(tmp_path / "warpreg" / "__init__.py"))
    _forget()
    yield tmp_path / "warpreg"
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for function in (sources.sources_digest, sources.content_digest, sources._digests):
        function.cache_clear()


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("replay/replay.py", True),
        ("gpu/machines/a.toml", True),
        ("__init__.py", True),
        ("cli/app.py", False),
        ("report/page.py", False),
    ],
)
def test_each_file_that_results_depend_on_changes_the_digest_of_the_code(
    package_copy: Path, name: str, counts: bool
) -> None:
    before = batch.package()
    (package_copy / name).write_text(f"# {name.upper()}\n", encoding="utf-8")  # of the same size
    _forget()
    assert (batch.package() != before) == counts


def test_a_file_that_moves_and_the_versions_change_the_digest_of_the_code(
    package_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [batch.package()]
    (package_copy / "replay/replay.py").rename(package_copy / "replay/counts.py")
    _forget()
    found.append(batch.package())
    monkeypatch.setattr(sys, "version", "3.99")
    _forget()
    found.append(batch.package())
    monkeypatch.setattr(np, "__version__", "9.9")
    _forget()
    found.append(batch.package())
    assert len(set(found)) == 4
    assert UNUSED == ("cli", "report")


COMPARED = Comparison(
    designs=(("rfc", {"entries": 4}),),
    unchecked=False,
    machine="gebhart-rfc",
    technology="gebhart-40nm",
    how=Replayed(),
    making=RunOptions("tiny", 0, CHOICE, Record(path=True)),
)
OTHER_COMPARED: Mapping[type, Mapping[str, Any]] = {
    Comparison: {
        "designs": (("rfc", {"entries": 5}),),
        "unchecked": True,
        "machine": "v100",
        "technology": "common-40nm",
        "how": Replayed("static"),
        "making": dataclasses.replace(COMPARED.making, seed=7),
    },
    RunOptions: {
        "size": "small",
        "seed": 1,
        "choice": dataclasses.replace(CHOICE, schedule=False),
        "record": Record(path=True, addresses=True),
        "max_instructions": 1_000_000,
        "reading": TraceChoice("alu"),
    },
}
UNKEPT = ("max_instructions",)
NO_EFFECT = ("record",)


@pytest.mark.parametrize("kind", OTHER_COMPARED)
def test_every_field_of_a_comparison_is_decided(kind: type) -> None:
    assert [field.name for field in dataclasses.fields(kind)] == list(OTHER_COMPARED[kind])


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, one in OTHER_COMPARED.items() for name in one])
def test_each_field_of_a_comparison_changes_the_key_or_keeps_nothing(kind: type, name: str) -> None:
    value = OTHER_COMPARED[kind][name]
    other = (
        dataclasses.replace(COMPARED, **{name: value})
        if kind is Comparison
        else dataclasses.replace(COMPARED, making=dataclasses.replace(COMPARED.making, **{name: value}))
    )
    (before,), (after,) = (found_rows._keys(one, "vector-add") for one in (COMPARED, other))
    assert before == key_of(BASE)
    assert (after is None) == (name in UNKEPT)
    assert (after == before) == (name in NO_EFFECT)


def test_a_comparison_with_more_than_a_cell_says_is_not_kept() -> None:
    @dataclass(frozen=True, slots=True)
    class Deeper(RunOptions):
        depth: int = 1

    made = COMPARED.making
    deeper = Deeper(made.size, made.seed, made.choice, made.record)
    assert found_rows._keys(dataclasses.replace(COMPARED, making=deeper), "vector-add") == [None]
