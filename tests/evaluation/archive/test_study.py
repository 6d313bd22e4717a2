"""Archives of studies: what is in them, that they come back, and what is said of damaged ones."""

from __future__ import annotations

import errno
import gzip
import json
import shutil
import tarfile
from pathlib import Path

import pytest
from tests.evaluation.sweep.conftest import StudyFolder

from warpreg.cli import main
from warpreg.evaluation.sweep.study_file import read_study

Output = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[3]


@pytest.fixture
def packed(study: StudyFolder, capsys: Output) -> Path:
    """The archive of a swept study with a design and a workload of one's own."""
    (study.folder / "designs").mkdir()
    shutil.copy(ROOT / "examples" / "my_design.py", study.folder / "designs")
    file = study.write(
        'workloads = ["counted.py", "vector-add"]\nsizes = "tiny"\n[[designs]]\nname = "designs/my_design.py"\n'
    )
    assert main(["sweep", str(file), "-j", "1", "--json"]) == 0
    assert main(["archive", str(file)]) == 0
    capsys.readouterr()
    return study.folder / "study.tar.gz"


def test_an_archive_has_all_inputs_and_comes_back(packed: Path, study: StudyFolder, capsys: Output) -> None:
    first = packed.read_bytes()
    assert main(["archive", str(study.folder / "study.toml")]) == 0
    assert packed.read_bytes() == first
    with tarfile.open(packed) as tar:
        names = tar.getnames()
        (file,) = [found for name in names if name == "study/manifest.json" and (found := tar.extractfile(name))]
        manifest = json.load(file)
    own = [name.removeprefix("study/") for name in names if not name.startswith(("study/results/", "study/wheels/"))]
    assert own[:4] == ["manifest.json", "study.toml", "designs/my_design.py", "counted.py"]
    assert own[4:] == ["expected.json", "requirements.txt", "Makefile", "README.md", "CHECKLIST.md"]
    assert (manifest["cells"], manifest["finished"], len(names)) == (2, 2, len(own) + 3)

    batch = study.batch(study.folder / "study.toml")
    rows = [batch.result(1), batch.result(2)]
    study.forget(batch.keys)
    assert batch.result(1) is None
    folder = study.folder / "again"
    assert main(["archive", str(packed), "--output", str(folder)]) == 0
    assert f"{folder / 'study.toml'}: 2 of 2 cells finished" in capsys.readouterr().out
    again = StudyFolder(folder).batch(folder / "study.toml")
    assert read_study(folder / "study.toml") == read_study(study.folder / "study.toml")
    assert [again.result(1), again.result(2)] == rows
    assert main(["archive", str(packed), "--output", str(folder)]) == 1
    assert "expected a folder that does not exist" in capsys.readouterr().err


def test_a_damaged_archive_is_refused_before_anything_is_written(packed: Path, capsys: Output) -> None:
    content = bytearray(gzip.decompress(packed.read_bytes()))
    place = content.index(b'workloads = ["counted.py"')
    content[place] ^= 1
    packed.write_bytes(gzip.compress(bytes(content)))
    folder = packed.parent / "again"
    assert main(["archive", str(packed), "--output", str(folder)]) == 1
    assert "damaged: study.toml has not the content that the manifest names" in capsys.readouterr().err
    packed.write_bytes(b"not an archive")
    assert main(["archive", str(packed), "--output", str(folder)]) == 1
    assert "not an archive of a study: " in capsys.readouterr().err
    assert not folder.exists()


def test_a_full_disk_leaves_no_half_archive_and_no_half_study(
    packed: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, before = Path.write_bytes, sorted(packed.parent.iterdir())

    def half(path: Path, data: bytes) -> int:
        write(path, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    for source, output in ((packed, "again"), (packed.parent / "study.toml", "other.tar.gz")):
        assert main(["archive", str(source), "--output", str(packed.parent / output)]) == 1
        assert capsys.readouterr().err == f"warpreg: {packed.parent / output}: No space left on device\n"
    assert sorted(packed.parent.iterdir()) == before


def test_a_study_that_was_not_measured_has_no_archive(study: StudyFolder, capsys: Output) -> None:
    assert main(["archive", str(study.seeds(1))]) == 1
    assert "no cell is finished; 'warpreg sweep " in capsys.readouterr().err


def test_an_input_elsewhere_is_refused(study: StudyFolder, capsys: Output) -> None:
    inside = study.folder / "inside"
    inside.mkdir()
    file = inside / "study.toml"
    file.write_text('workloads = "../counted.py"\nsizes = "tiny"\n[[designs]]\nname = "mrf"\n', encoding="utf-8")
    assert main(["sweep", str(file), "-j", "1", "--json"]) == 0
    assert main(["archive", str(file)]) == 1
    assert "counted.py: expected inputs of an archive in the folder of the study or below" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["{folder}/counted.py", "../{folder.name}/counted.py"])
def test_a_path_that_other_machines_do_not_have_is_refused(name: str, study: StudyFolder, capsys: Output) -> None:
    place = name.format(folder=study.folder)
    file = study.write(f'workloads = "{place}"\nsizes = "tiny"\n[[designs]]\nname = "mrf"\n')
    assert main(["sweep", str(file), "-j", "1", "--json"]) == 0
    assert main(["archive", str(file)]) == 1
    assert f"{place}: expected inputs of an archive in the folder of the study or below" in capsys.readouterr().err


def test_more_files_lie_where_they_lay_beside_the_study(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    """The command is called from the folder above; the workload imports a module of one's own."""
    (study.folder / "own.py").write_text("")
    text = (study.folder / "counted.py").read_text()
    (study.folder / "counted.py").write_text(text.replace("import ", "import own\nimport ", 1))
    (study.folder / "link.py").symlink_to("counted.py")
    file = study.write('workloads = "link.py"\nsizes = "tiny"\n[[designs]]\nname = "mrf"\n')
    assert main(["sweep", str(file), "-j", "1", "--json"]) == 0
    monkeypatch.chdir(study.folder.parent)
    more = f"{study.folder.name}/own.py"
    assert main(["archive", str(file), "--with", more, "--output", "study.tar.gz"]) == 0
    with tarfile.open("study.tar.gz") as tar:
        assert {"study/own.py", "study/link.py"} <= set(tar.getnames())
    capsys.readouterr()
    assert main(["archive", "--check", "study.tar.gz"]) == 0
    assert capsys.readouterr().out == "reproduced: 1 result, all numbers equal\n"


def test_another_file_with_the_name_of_the_study_is_refused(study: StudyFolder, capsys: Output) -> None:
    file = study.write('workloads = "counted.py"\nsizes = "tiny"\n[[designs]]\nname = "mrf"\n')
    file = file.rename(study.folder / "small.toml")
    (study.folder / "study.toml").write_text("")
    assert main(["sweep", str(file), "-j", "1", "--json"]) == 0
    assert main(["archive", str(file), "--with", str(study.folder / "study.toml")]) == 1
    assert "study.toml: expected inputs with other names: the study has this one" in capsys.readouterr().err
