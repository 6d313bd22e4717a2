"""Studies of a workload of one's own, which leaves a line in a file each time that it runs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from warpreg.cache import store
from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.evaluation.sweep.sweep import batch_of

COUNTED = """
import dataclasses
import os
import signal
import time
from pathlib import Path

from warpreg import workloads

folder, known = Path(__file__).parent, workloads.find("vector-add")


def run(device, size, inputs):
    with (folder / "runs").open("a") as file:
        file.write("run\\n")
    try:
        (folder / "kill").unlink()  # of several workers, one succeeds
    except FileNotFoundError:
        pass
    else:
        os.kill(os.getpid(), signal.SIGKILL)
    if (folder / "kill-always").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    if (folder / "sleep").exists():
        time.sleep(0.4)
    return known.run(device, size, inputs)


WORKLOAD = dataclasses.replace(known, name="counted", run=run)
"""


@dataclass(frozen=True)
class StudyFolder:
    """A folder with the workload ``counted.py``; files named ``kill``, ``kill-always`` and ``sleep`` change it."""

    folder: Path

    def write(self, text: str) -> Path:
        """A study file with this text."""
        file = self.folder / "study.toml"
        file.write_text(text, encoding="utf-8")
        return file

    def seeds(self, number: int) -> Path:
        """A study of so many cells, each of which is a run of its own."""
        seeds = list(range(number))
        return self.write(f'workloads = "counted.py"\nsizes = "tiny"\nseeds = {seeds}\n[[designs]]\nname = "rfc"\n')

    def batch(self, file: Path) -> Batch:
        """The batch of a study."""
        return batch_of(read_study(file), file.parent)

    def put(self, name: str) -> None:
        """Create one of the files that change the workload."""
        (self.folder / name).touch()

    @property
    def runs(self) -> int:
        """How often the workload has been run."""
        file = self.folder / "runs"
        return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0

    def wait_for_runs(self, number: int) -> None:
        """Wait until the workload has been started so often, for two minutes at most."""
        began = time.monotonic()
        while self.runs < number and time.monotonic() < began + 120:
            time.sleep(0.05)

    @staticmethod
    def forget(keys: Iterable[str | None]) -> None:
        """Delete results, as if they had never been measured."""
        wanted = set(keys)
        for entry in store.entries():
            if entry.kind == store.RESULTS and entry.path.name in wanted:
                store.remove(entry)


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    """A folder for a study."""
    (tmp_path / "counted.py").write_text(f"{COUNTED}# {tmp_path}\n", encoding="utf-8")
    return StudyFolder(tmp_path)
