"""Sweeps: rows of cells, what is kept, what fails, and where it is measured."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import distributed
import pytest
from tests.evaluation.sweep.conftest import StudyFolder

from warpreg import gpu
from warpreg.cache import store
from warpreg.cli import main
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.counting import DesignCounts, Replayed
from warpreg.evaluation.runs.row import Row
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.sweep import batch, distribution, executors, processes, sweep, work
from warpreg.evaluation.sweep.batch import Batch, kept
from warpreg.evaluation.sweep.errors import SweepError, SweepWarning
from warpreg.evaluation.sweep.sweep import swept
from warpreg.evaluation.sweep.work import finish, tasks_of

Output = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[3]
HEAD = 'workloads = "counted.py"\nsizes = "tiny"\n'


def test_a_finished_cell_is_not_measured_again(study: StudyFolder) -> None:
    file = study.write(HEAD + '[[designs]]\nname = "rfc"\nparameters = { entries = [2, 4] }\n')
    rows = swept(study.batch(file), workers=1)
    assert [(row["cell"], row["parameters"]["entries"]) for row in rows] == [(1, 2), (2, 4)]
    assert study.runs == 1  # both cells share the run
    assert swept(study.batch(file), workers=1) == rows
    wider = study.write(file.read_text().replace("[2, 4]", "[2, 3, 4]"))
    assert [row for row in swept(study.batch(wider), workers=1) if row["parameters"]["entries"] != 3] == [
        {**row, "cell": place} for row, place in zip(rows, (1, 3), strict=True)
    ]
    assert study.runs == 1  # the latest run is still there


def test_of_cells_with_the_same_key_one_is_measured(study: StudyFolder) -> None:
    """The third seed is the first one again."""
    file = study.write('workloads = "counted.py"\nsizes = "tiny"\nseeds = [0, 1, 0]\n[[designs]]\nname = "rfc"\n')
    batch = study.batch(file)
    assert batch.keys[0] == batch.keys[2] != batch.keys[1]
    done: list[int] = []
    found: list[int] = []
    first, other, same = swept(batch, workers=1, done=done.append, found=found.append)
    assert (study.runs, sum(done), found) == (2, 3, [0])
    assert same == {**first, "cell": 3}
    assert other["seed"] == 1


def test_a_damaged_result_is_measured_again(study: StudyFolder) -> None:
    batch = study.batch(study.seeds(1))
    rows = swept(batch, workers=1)
    (entry,) = [entry for entry in store.entries() if entry.path.name == batch.keys[0]]
    entry.path.write_bytes(entry.path.read_bytes()[:-1])
    assert batch.result(1) is None
    assert swept(batch, workers=1) == rows
    assert batch.result(1) is not None


def test_results_are_not_evicted(study: StudyFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = study.batch(study.seeds(1))
    swept(batch, workers=1)
    key = batch.keys[0]
    assert key is not None
    content = store.read(store.RESULTS, key)
    assert content is not None
    monkeypatch.setenv("WARPREG_CACHE", str(study.folder / "cache"))
    monkeypatch.setenv("WARPREG_CACHE_LIMIT", "0")
    store.write(store.RESULTS, key, content)
    store.write("kernels", "other", b"content")
    assert {entry.kind for entry in store.entries()} == {store.RESULTS}
    assert kept(key) is not None


def test_a_cell_that_fails_has_a_row_that_says_why(study: StudyFolder, capsys: Output) -> None:
    file = study.write(HEAD + '[[designs]]\nname = "rfc"\nparameters = { entries = [2, 5000] }\n')
    assert main(["sweep", str(file), "-j", "1", "--json"]) == 1
    good, bad = json.loads(capsys.readouterr().out)
    assert "error" not in good
    assert (bad["cell"], bad["parameters"]) == (2, {"entries": 5000})
    assert bad["error"].startswith("rfc: parameter entries expects int from 0 to 16 ")
    assert main(["sweep", str(file), "--status"]) == 0
    assert "2 cells, 1 finished, 0 missing, 1 impossible" in capsys.readouterr().out


def test_of_many_failures_the_first_are_printed(study: StudyFolder, capsys: Output) -> None:
    entries = "{ low = 5000, high = 5069 }"
    file = study.write(HEAD + f'[[designs]]\nname = "rfc"\nparameters = {{ entries = {entries} }}\n')
    assert main(["sweep", str(file), "-j", "1"]) == 1
    printed = capsys.readouterr().out
    assert printed.count("parameter entries expects") == 60
    assert "10 more cells failed; see --csv for each" in printed


def test_a_file_that_changes_in_mid_batch_is_noticed(study: StudyFolder) -> None:
    shutil.copy(ROOT / "examples" / "my_design.py", study.folder)
    file = study.write(HEAD + '[[designs]]\nname = "my_design.py"\n')
    batch = study.batch(file)
    (task,) = tasks_of(batch, [1], 1)
    design = study.folder / "my_design.py"
    design.write_text(design.read_text() + "\n# edited\n")
    assert finish(task) == {1: "a file that this cell depends on has changed since the batch began"}
    assert study.batch(file).digest != batch.digest


def test_edited_latencies_are_seen_by_a_worker_that_has_the_run(study: StudyFolder) -> None:
    """A worker keeps its latest run; that of a kernel in another order is another run."""
    machine = study.folder / "own.toml"
    shutil.copy(gpu.machine.FOLDER / "v100.toml", machine)
    file = study.write(
        f'workloads = "matrix-mul"\nsizes = "tiny"\n[[designs]]\nname = "rfc"\n[compile]\nlatencies = "{machine}"\n'
    )
    (before,) = swept(study.batch(file), workers=1)
    text = machine.read_text()
    edited = re.sub(r"(?m)^(dram +=) \{ value = \d+", r"\1 { value = 1", text)
    machine.write_text(edited)
    assert edited != text
    batch = study.batch(file)
    (after,) = swept(batch, workers=1)
    study.forget(batch.keys)
    work._run.cache_clear()
    assert swept(batch, workers=1) == [after]
    assert after["provenance"]["kernel"] != before["provenance"]["kernel"]


def test_a_worker_with_other_code_does_not_measure(study: StudyFolder) -> None:
    (task,) = tasks_of(study.batch(study.seeds(1)), [1], 1)
    found = finish(dataclasses.replace(task, package="another", version="9.9"))
    assert str(found[1]).startswith("expected warpreg 9.9 with the code of this batch on every worker, found ")
    assert study.runs == 0


def test_one_cell_of_a_frozen_batch(study: StudyFolder, capsys: Output) -> None:
    file = study.seeds(3)
    assert main(["sweep", str(file), "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(cell["cell"], cell["seed"], cell["state"]) for cell in listed["cells"]] == [
        (1, 0, "missing"),
        (2, 1, "missing"),
        (3, 2, "missing"),
    ]
    only = ["sweep", str(file), "-j", "1", "--json", "--only", "2", "--batch", listed["batch"]]
    assert main(only) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["cell"], row["seed"], study.runs) == (2, 1, 1)
    assert main([*only[:-1], "0123"]) == 1
    assert "expected batch 0123, found " in capsys.readouterr().err
    assert main(["sweep", str(file), "--only", "4"]) == 1
    assert capsys.readouterr().err == "warpreg: cell 4: expected 1 to 3\n"
    for wrong in ("x", "", "3-2"):  # an unset variable of a job script must not measure all cells
        assert main(["sweep", str(file), "--only", wrong]) == 2
        assert f"--only: expected numbers such as 17 or 3,5-8, found '{wrong}'" in capsys.readouterr().err
    assert study.runs == 1


def test_a_table_a_csv_and_a_parquet_file(study: StudyFolder, capsys: Output) -> None:
    import pandas

    file = study.write(HEAD + '[[designs]]\nname = "mrf"\n[[designs]]\nname = "rfc"\n')
    parquet = study.folder / "rows.parquet"
    assert main(["sweep", str(file), "-j", "1", "--parquet", str(parquet)]) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines()[2:4]] == [
        ["1", "counted", "mrf"],
        ["2", "counted", "rfc"],
    ]
    assert main(["sweep", str(file), "-j", "1", "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = pandas.read_parquet(parquet)
    assert lines[0].split(",") == list(table.columns)
    assert list(table["design"]) == ["mrf", "rfc"]
    assert table["energy_normalized"][0] == 1.0


def test_a_long_table_has_means_over_workloads_and_seeds(study: StudyFolder, capsys: Output) -> None:
    file = study.seeds(31)
    file.write_text(file.read_text().replace('"rfc"', '"rfc"\nparameters = { entries = [2, 4] }'))
    assert main(["sweep", str(file), "-j", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["design", "cells", "elided", "energy_normalized"]
    assert [line.split()[:2] for line in lines[2:4]] == [["rfc(entries=2)", "31"], ["rfc(entries=4)", "31"]]
    assert lines[-1].strip().startswith("means over workloads and seeds of 62 cells")


def test_an_executor_that_is_none(study: StudyFolder, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    file = study.seeds(1)
    assert main(["sweep", str(file), "--executor", "slurn"]) == 1
    assert "no executor named 'slurn'; did you mean 'slurm'?" in capsys.readouterr().err
    monkeypatch.setattr(executors, "ANSWER_S", 0.2)
    assert main(["sweep", str(file), "--executor", "tcp://127.0.0.1:1"]) == 1
    found = capsys.readouterr().err
    assert found.startswith("warpreg: tcp://127.0.0.1:1: no scheduler answers: ")
    assert found.count("\n") == 1


def test_a_server_that_is_no_scheduler(study: StudyFolder) -> None:
    def answer(server: socket.socket) -> None:
        with server.accept()[0] as connection:
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        with pytest.raises(SweepError, match=f"^{address}: no scheduler answers, but another server$"):
            swept(study.batch(study.seeds(1)), where=address)


def test_a_batch_system_that_is_not_configured(study: StudyFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SweepError, match=r"^slurm: no command 'sbatch' on this machine, which submits its jobs$"):
        swept(study.batch(study.seeds(1)), where="slurm")
    monkeypatch.setattr("shutil.which", lambda command: command)
    with pytest.raises(SweepError, match=r"^slurm: Dask-Jobqueue's configuration .* is not complete: [^\n]*$"):
        swept(study.batch(study.seeds(1)), where="slurm")


@pytest.mark.slow
def test_a_scheduler_without_workers_is_told(study: StudyFolder) -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        pytest.warns(SweepWarning, match="has no worker yet; 'dask worker tcp://"),
        executors.opened(cluster.scheduler_address, None),
    ):
        pass


def test_first_tasks_begin_with_different_designs(study: StudyFolder) -> None:
    designs = "".join(f'[[designs]]\nname = "{name}"\n' for name in ("rfc", "rfc-lrf"))
    file = study.write(f'workloads = ["vector-add", "reduction"]\nsizes = "tiny"\n{designs}')
    assert [list(task.cells) for task in tasks_of(study.batch(file), range(1, 5), 2)] == [[1, 2], [4, 3]]


def test_tasks_of_designs_that_none_has_begun_with_come_first(study: StudyFolder) -> None:
    entries = "parameters = { entries = { low = 1, high = 4, step = 1 } }"
    designs = "".join(f'[[designs]]\nname = "{name}"\n{entries}\n' for name in ("rfc", "rfc-lrf"))
    file = study.write(f'workloads = ["vector-add"]\nsizes = "tiny"\n{designs}')
    tasks = tasks_of(study.batch(file), range(1, 9), 4)
    assert [list(task.cells) for task in tasks] == [[1, 2], [5, 6], [3, 4], [7, 8]]


def test_tasks_of_one_run_alternate_with_those_of_others(study: StudyFolder) -> None:
    """Three runs of 20 timed cells each, 16 a task at most; two workers take the tasks of two runs in turns."""
    entries = "parameters = { entries = { low = 1, high = 10, step = 1 }, static_liveness = [true, false] }"
    file = study.write(f'{HEAD}seeds = [0, 1, 2]\ncycles = true\n[[designs]]\nname = "rfc"\n{entries}\n')
    tasks = tasks_of(study.batch(file), range(1, 61), 2)
    runs = [next(iter(task.cells.values())).made.seed for task in tasks]
    assert runs[:4] == [0, 1, 0, 1]
    assert sorted(number for task in tasks for number in task.cells) == list(range(1, 61))


def test_no_more_workers_start_than_there_are_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert [processes.at_once(workers) for workers in (None, 1, 2, 4)] == [3, 1, 2, 3]
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert [processes.at_once(workers) for workers in (None, 1, 4)] == [1, 1, 2]  # two: a death takes a worker only


@pytest.mark.skipif(sys.platform != "linux", reason="copies of the process are made on Linux")
def test_workers_that_are_copies_give_the_rows_of_one_process(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = study.batch(study.seeds(4))
    alone = swept(batch, workers=1)
    study.forget(batch.keys)
    monkeypatch.setattr(processes, "_is_command", True)
    assert processes.starting().get_start_method() == "fork"
    assert swept(batch, workers=2) == alone
    assert study.runs == 8


def test_cells_that_differ_in_the_technology_are_counted_once(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two technologies in turn for each of two numbers of entries: two counts, and those of the plain register file."""
    counted: list[str] = []
    original = Replayed.count

    def count(self: Replayed, run: Run, choice: ConfiguredDesign, machine: gpu.Machine) -> DesignCounts:
        counted.append(choice.design.name)
        return original(self, run, choice, machine)

    monkeypatch.setattr(Replayed, "count", count)
    text = (
        HEAD + 'technologies = ["common-40nm", "bow"]\n[[designs]]\nname = "rfc"\nparameters = { entries = [2, 4] }\n'
    )
    cells = study.batch(study.write(text)).cells
    turns = Batch.of(sorted(cells, key=lambda cell: str(cell.values)))
    rows = swept(turns, workers=1)
    assert [row["technology"] for row in rows] == ["common-40nm", "bow"] * 2
    assert sorted(counted) == ["mrf", "rfc", "rfc"]


GRID = 'workloads = "counted.py"\nsizes = "tiny"\n[[designs]]\nname = "rfc"\nparameters = { entries = [2, 4, 6] }\n'


def test_cells_of_a_task_are_told_one_by_one_in_one_process(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The three cells share their run, and so their task."""
    happened: list[str] = []
    keep = batch.keep

    def noted(key: str, row: Row) -> dict[str, Any]:
        happened.append("measured")
        return keep(key, row)

    monkeypatch.setattr(batch, "keep", noted)
    swept(study.batch(study.write(GRID)), workers=1, told=lambda number, result: happened.append(f"told {number}"))
    assert happened == ["measured", "told 1", "measured", "told 2", "measured", "told 3"]
    assert study.runs == 1


def test_cells_of_an_unfinished_task_are_found_in_the_store_once(study: StudyFolder) -> None:
    batch = study.batch(study.write(GRID))
    (task,) = tasks_of(batch, [1, 2, 3], 1)
    (row,) = swept(batch, [2], workers=1)
    seen: set[int] = set()
    assert distribution._kept_already([task], seen) == {2: batch.result(2)}
    assert row["cell"] == 2
    assert distribution._kept_already([task], seen) == {}


def test_a_cell_that_comes_alone_and_with_its_task_counts_once(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = study.batch(study.write(GRID))
    rows = swept(batch, workers=1)
    results = [batch.result(number) for number in (1, 2, 3)]
    study.forget(batch.keys)
    come = [{2: results[1]}, {1: results[0], 2: results[1], 3: results[2]}]
    monkeypatch.setattr(sweep, "distributed", lambda *given: iter(come))
    counted: list[int] = []
    assert swept(batch, workers=2, done=counted.append) == rows
    assert counted == [1, 2]
