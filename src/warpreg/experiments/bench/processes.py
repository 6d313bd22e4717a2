"""Fresh Python processes whose starts are timed, as a user has them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def python(arguments: Sequence[str], cache: str) -> str:
    """What a Python process with these arguments prints, with ``cache`` as its cache directory.

    Python keeps its byte code there as well, also where the environment forbids that: with an empty directory modules
    are compiled, later they are loaded.
    """
    environment = os.environ | {"WARPREG_CACHE": cache, "PYTHONPYCACHEPREFIX": str(Path(cache) / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True)
    return done.stdout
