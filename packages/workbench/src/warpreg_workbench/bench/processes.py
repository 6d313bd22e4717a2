"""New Python processes for measurements of start-up time."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def python(arguments: Sequence[str], cache: str, installed: str = "") -> str:
    """The output of a Python process with these arguments, ``cache`` as its cache directory, and ``installed`` as the
    folder of compiled code beside the package; empty for none.

    Python's byte code is cached there too, regardless of the environment: with an empty directory modules are compiled,
    later they are loaded.
    """
    folders = {"WARPREG_CACHE": cache, "WARPREG_COMPILED": installed}
    environment = os.environ | folders | {"PYTHONPYCACHEPREFIX": str(Path(cache) / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def processor_seconds(arguments: Sequence[str], cache: str, installed: str = "") -> float:
    """Processor seconds of `python` with these arguments, those of its child processes included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    python(arguments, cache, installed)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
