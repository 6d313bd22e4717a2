"""Measuring an archive again: what is reproduced, what differs, and what is said of changed files and other code."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpreg.cli import main
from warpreg.evaluation.archive import check as checks
from warpreg.evaluation.archive import command, wheel
from warpreg.evaluation.archive.check import Measurement, compared
from warpreg.evaluation.archive.contents import Archive
from warpreg.evaluation.archive.errors import ArchiveError
from warpreg.evaluation.archive.readme import readme

Output = pytest.CaptureFixture[str]
EXAMPLES = Path(__file__).parents[3] / "examples"
COMMAND = ["compare", "vector-add", "--designs", "mrf,orf-lrf", "--size", "tiny"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a comparison of two designs."""
    path = tmp_path_factory.mktemp("archive") / "both.tar.gz"
    assert main(["archive", *COMMAND, "--output", str(path)]) == 0
    return path


@pytest.fixture
def folder(archive: Path, tmp_path: Path) -> Path:
    """The same, unpacked as anybody does."""
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path)
    (found,) = (one for one in tmp_path.iterdir() if one.name.startswith("compare-"))
    return found


@pytest.mark.slow
def test_the_same_command_has_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    assert main(["archive", *COMMAND, "--output", str(tmp_path / "again.tar.gz")]) == 0
    assert (tmp_path / "again.tar.gz").read_bytes() == archive.read_bytes()


@pytest.mark.slow
def test_an_unpacked_archive_is_reproduced_by_its_makefile_and_a_wrong_result_is_not(folder: Path) -> None:
    """With the environment of the tests in place of one that the archive installs."""
    make = ["make", "--silent", "check", f"WARPREG={sys.executable} -m warpreg"]
    found = subprocess.run(make, cwd=folder, capture_output=True, text=True, check=True)
    assert found.stdout == "reproduced: 2 results, all numbers equal\n"

    expected = json.loads((folder / "expected.json").read_text())
    expected[1]["elided"] += 0.01
    text = json.dumps(expected)
    (folder / "expected.json").write_text(text)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sha256"]["expected.json"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    found = subprocess.run(make, cwd=folder, capture_output=True, text=True, check=False)
    assert found.returncode != 0
    first, last = found.stdout.splitlines()
    assert first.startswith("[1].elided: expected ")
    assert last == "not reproduced: 1 difference in 2 results"


@pytest.mark.slow
def test_files_of_an_archive_name_its_command_libraries_and_results(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    assert f"    warpreg {' '.join(COMMAND)} --json\n" in text
    assert "| orf-lrf | 1 | " in text
    assert "Not measured" in text
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["command"] == [*COMMAND, "--json"]
    assert f"numpy=={manifest['libraries']['numpy']}" in (folder / "requirements.txt").read_text().splitlines()


def changed(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes() + b" ")

    return change


def other_code(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"content": "other"}))


def other_package(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"packages": ["warprfg"]}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (changed("expected.json"), "{folder}/expected.json: has changed since it was archived"),
        (lambda folder: (folder / "Makefile").unlink(), "{folder}/Makefile: is missing"),
        (
            lambda folder: (folder / "manifest.json").unlink(),
            "{folder}: not an unpacked archive: manifest.json: No such",
        ),
        (lambda folder: (folder / "manifest.json").write_text("{}"), "{folder}/manifest.json: not the manifest of an"),
        (other_package, "{folder}/manifest.json: not the manifest of an archive: 'warprfg'"),
        (other_code, "{folder}: expected the code of its wheels/ (warpreg 0.1.0), found other code (warpreg 0.1.0);"),
    ],
)
def test_what_was_changed_is_said_in_one_line(
    folder: Path, damage: Callable[[Path], Any], message: str, capsys: Output
) -> None:
    damage(folder)
    assert main(["archive", "--check", str(folder)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"warpreg: {message.format(folder=folder)}")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["oracle", "hotspot"], 2, "expected one file or folder, found oracle hotspot"),
        (["no-study"], 2, "expected a file or one of the commands compare, run, reproduce, found 'no-study'"),
        (["compare", "no-workload"], 1, "expected results, exit status 1"),
        (["--check", "a.tar.gz", "--measure"], 2, "--check takes no --output, --measure or --with"),
        (["run", "vector-add", "--output", "a.cu"], 2, "--output: expected NAME.tar.gz, found 'a.cu'"),
        (["--check", "nowhere"], 1, "nowhere: not an unpacked archive: manifest.json: No such file or directory"),
    ],
)
def test_wrong_sources_are_said(arguments: list[str], status: int, message: str, capsys: Output) -> None:
    assert main(["archive", *arguments]) == status
    assert message in capsys.readouterr().err


def test_integers_and_text_must_be_equal_and_other_numbers_nearly() -> None:
    expected = [{"design": "rfc", "cycles": 100, "energy": 0.5}]

    def verdict(**values: Any) -> checks.Verdict:
        return compared(expected, 0, Measurement([expected[0] | values], 0, 1.0))

    assert verdict() == checks.Verdict(1, [], 0.0)
    nearly = verdict(energy=0.5 * (1 + 1e-12))
    assert nearly.differences == []
    assert nearly.largest == pytest.approx(1e-12, rel=1e-3)
    assert verdict(energy=0.5 * (1 + 1e-8)).differences == ["[0].energy: expected 0.5, found 0.500000005"]
    assert verdict(cycles=101).differences == ["[0].cycles: expected 100, found 101"]
    assert verdict(design="mrf").differences == ['[0].design: expected "rfc", found "mrf"']
    assert compared(expected, 0, Measurement(expected, 1, 1.0)).differences == ["exit status: expected 0, found 1"]
    assert len(compared(expected, 0, Measurement([], 0, 1.0)).differences) == 1


def test_of_a_study_that_was_archived_in_part_only_its_cells_count() -> None:
    cells = [{"cell": 1, "elided": 0.5}, {"cell": 2, "elided": 0.6}]
    assert compared(cells[1:], 0, Measurement(cells, 1, 1.0)).differences == []
    assert compared(cells, 0, Measurement(cells[1:], 0, 1.0)).differences != []


def test_files_that_arguments_name_are_packed_and_others_refused(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "a.cu").write_text('#include "a.h"\n__global__ void k(float* p) {}\n')
    (tmp_path / "kernels" / "a.h").write_text("// nothing\n")
    for name in ("x.npy", "design.py", "helper.py"):
        (tmp_path / name).write_text("")
    arguments = ["run", "kernels/a.cu", "--arg", "file:x.npy", "--design", "design.py+rfc"]
    found = command.inputs(arguments, [Path("helper.py")])
    assert sorted(found) == ["design.py", "helper.py", "kernels/a.cu", "kernels/a.h", "x.npy"]


@pytest.mark.parametrize(
    "argument",
    ["--designs=mrf,a b.py", "--designs=a b.py,b.py", "0=struct:s32:1,bytes:a b.py", "x=y:[s32:1,[bytes:a b.py]]"],
)
def test_files_are_found_wherever_an_argument_names_them(argument: str, tmp_path: Path) -> None:
    (tmp_path / "a b.py").write_text("")
    assert [*command.inputs(["run", argument, "s32:" + ",".join("1" * 300)])] == ["a b.py"]


def test_names_with_separators_and_links_are_kept(tmp_path: Path) -> None:
    for name in ("a+b.py", "c,d.py", "e=f.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "link.py").symlink_to("a+b.py")
    found = command.inputs(["run", "a+b.py", "c,d.py", "--design=e=f.py", "link.py"])
    assert sorted(found) == ["a+b.py", "c,d.py", "link.py"]
    assert [*command.inputs(["run", "e=f.py"])] == ["e=f.py"]


@pytest.mark.parametrize("options", [["-I", "inc"], ["-Iinc"], ["--include", "inc"], ["--include=inc"]])
def test_headers_of_include_folders_are_packed(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "a.h").write_text("// nothing\n")
    (tmp_path / "a.cu").write_text("#include <a.h>\n")
    assert sorted(command.inputs(["run", "a.cu", *options])) == ["a.cu", "inc/a.h"]


def test_paths_that_other_machines_do_not_have_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("__global__ void k() {}\n")
    for name in (sys.executable, str(tmp_path / "a.cu"), f"../{tmp_path.name}/a.cu"):
        with pytest.raises(ArchiveError, match="expected inputs of an archive in the present folder or below, by rel"):
            command.inputs(["run", "vector-add", f"--design=mrf,{name}"])
    with pytest.raises(ArchiveError, match="expected inputs of an archive in"):
        command.inputs(["run", "vector-add"], [Path(sys.executable)])
    (tmp_path / "a.py").write_text(f"SOURCE = '{tmp_path}/a.cu'\n")
    with pytest.raises(ArchiveError, match=r"a.py: names .*/a.cu; expected a relative path"):
        command.inputs(["run", "a.cu", "a.py"])


@pytest.mark.parametrize("name", ["README.md", "manifest.json", "expected.json"])
def test_an_input_does_not_replace_a_file_of_the_archive(name: str) -> None:
    with pytest.raises(ArchiveError, match=f"{name}: expected inputs with other names"):
        Archive("n", ["run"], {name: b""}, {}).packed()


@pytest.mark.parametrize("options", [["--code", "sm_80"], ["--code=sm_80"]])
def test_code_of_the_vendor_requires_its_assembler(options: list[str]) -> None:
    assert Archive("n", ["run", *options], {}, {})._needs_cuda
    assert not Archive("n", ["run"], {}, {})._needs_cuda


@pytest.mark.slow
def test_a_design_with_the_name_of_a_module_of_python_is_measured(tmp_path: Path) -> None:
    """It imports its own module; both lie in the folder in which the command runs."""
    design = (EXAMPLES / "my_design.py").read_text()
    (tmp_path / "random.py").write_text(design.replace("import numpy", "import own\nimport numpy", 1))
    (tmp_path / "own.py").write_text("")
    arguments = ["compare", "vector-add", "--designs", "mrf,random.py", "--size", "tiny", "--with", "own.py"]
    assert main(["archive", *arguments, "--output", "a.tar.gz"]) == 0


def test_a_measured_archive_states_time_and_hardware() -> None:
    measured = {"seconds": 1234, "processor": "P", "processors": 2, "memory_gib": 8, "system": "Linux 6"}
    common = {
        "name": "n",
        "warpreg": "0",
        "command": ["run"],
        "relative_tolerance": 1e-9,
        "python": "3",
        "platform": "L",
    }
    text = readme({**common, "libraries": {}, "measured": measured}, {}, [])
    assert "1,234 s with an empty cache, compilation included, on P with 2 processors and 8 GiB of memory" in text


def test_a_reproduction_states_published_and_measured_values() -> None:
    common = {"name": "n", "warpreg": "0", "command": ["reproduce"], "relative_tolerance": 1e-9, "measured": None}
    results = [
        {"id": "rfc.1", "published": 0.5, "measured": 0.51, "unit": "share", "within": True},
        {"id": "rfc.2", "published": 0.7, "measured": None, "unit": "share", "within": None},
    ]
    text = readme({**common, "libraries": {}, "python": "3", "platform": "L"}, {"results": results}, [])
    assert "| rfc.1 | 0.5 | 0.51 | share | True |\n\nAll of them" in text
    assert compared({"results": results}, 0, Measurement({"results": results}, 0, 1.0)).results == 2


def test_a_run_states_its_numbers() -> None:
    common = {"name": "n", "warpreg": "0", "command": ["run"], "relative_tolerance": 1e-9, "measured": None}
    run = {"options": {"seed": 0}, "passed": True, "profile": {"values": 3}, "warp_instructions": 7590, "kernel": "k"}
    text = readme({**common, "libraries": {}, "python": "3", "platform": "L"}, run, [])
    assert "| name | value |\n| --- | --- |\n| warp_instructions | 7590 |\n| profile.values | 3 |\n\nAll" in text


def test_a_wheel_has_the_code_and_the_same_bytes(tmp_path: Path) -> None:
    name, content = wheel.wheel_of(wheel.PAPERS)
    assert wheel.wheel_of(wheel.PAPERS) == (name, content)
    path = tmp_path / name
    path.write_bytes(content)
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
        assert file.testzip() is None
        record = file.read(next(one for one in names if one.endswith("RECORD"))).decode().splitlines()
    assert "warpreg_papers/command.py" in names
    assert [line.split(",")[0] for line in record] == [
        *(one for one in names if not one.endswith("RECORD")),
        record[-1].split(",")[0],
    ]


@pytest.mark.long
def test_an_archive_is_reproduced_in_an_environment_of_its_own(folder: Path) -> None:
    """The two commands of its README on a machine without Warpreg; needs the Python package index."""
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "WARPREG_CACHE")}
    assert shutil.which("make")
    for target in ("setup", "check"):
        done = subprocess.run(
            ["make", "--silent", target, f"PYTHON={sys.executable}"],
            cwd=folder,
            env=own,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout == "reproduced: 2 results, all numbers equal\n"
