"""Find designs: in this package, by entry point (group ``warpreg.designs``), or in a file."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import linecache
import os
import re
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.hooks import hooks_of
from warpreg.designs.interface.parameters import NoParameters
from warpreg.designs.loading.checks import check
from warpreg.designs.loading.composition import SEPARATOR, compose
from warpreg.designs.loading.design import Design
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.text_files import read_text

FOLDER = Path(__file__).parents[1]
GROUP = "warpreg.designs"
DECLARES = re.compile(r"^DESIGN(:.*)? = ", re.MULTILINE)


def names() -> tuple[str, ...]:
    """Names of the designs that ``load`` finds without a path, sorted."""
    return tuple(sorted({*_packaged(), *_installed()}))


def load(name_or_path: str | Path) -> Design:
    """The design with this name, or in this file if it ends in ``.py``; names joined by ``+`` make a composition.

    Raises UnknownNameError with the nearest name, and DesignError with file and line for a file that is not a design.
    """
    text = str(name_or_path)
    if SEPARATOR in text and not Path(text).exists():
        return compose([load(part) for part in text.split(SEPARATOR)])
    if text.endswith(".py"):
        return _design(Path(text), partial(_from_file, Path(text)))
    packaged = _packaged()
    known = packaged if text in packaged else {**_installed(), **packaged}
    if text not in known:
        raise UnknownNameError("design", text, known)
    return _imported(text, *known[text])


@functools.cache
def _imported(name: str, path: Path, module: str) -> Design:
    """A design in an importable module."""
    return _design(path, partial(importlib.import_module, module), name)


@functools.cache
def _packaged() -> dict[str, tuple[Path, str]]:
    files = (path for path in FOLDER.glob("*.py") if DECLARES.search(path.read_text(encoding="utf-8")))
    return {_name(path): (path, f"warpreg.designs.{path.stem}") for path in files}


def _installed() -> dict[str, tuple[Path, str]]:
    """File and module of each entry point, found without importing it."""
    found: dict[str, tuple[Path, str]] = {}
    for point in entry_points(group=GROUP):
        spec = importlib.util.find_spec(point.module)
        if spec is not None and spec.origin is not None:
            found[point.name] = (Path(spec.origin), point.module)
    return found


def _name(path: Path) -> str:
    return path.stem.replace("_", "-")


def _design(path: Path, run: Callable[[], ModuleType], name: str | None = None) -> Design:
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DesignError(f"{path}: cannot read the design: {reason}") from error
    try:
        module = run()
    except DesignError as error:
        raise DesignError(_with_place(path, error)) from error
    except Exception as error:
        message = error.msg if isinstance(error, SyntaxError) else error
        raise DesignError(f"{path}:{_line(path, error)}: {type(error).__name__}: {message}") from error
    declaration = check(path, text, module)
    docstring = (ast.get_docstring(ast.parse(text)) or "").replace("\n", " ")
    return Design(
        name=name or _name(path),
        path=path,
        summary=re.split(r"[.:](?:\s|$)", docstring, maxsplit=1)[0],
        declaration=declaration,
        parameter_type=getattr(module, "Parameters", NoParameters),
        hooks=hooks_of(vars(module)),
        module=module,
    )


def _from_file(path: Path) -> ModuleType:
    """Run a file as a separate module; it can import modules of its folder, like a script."""
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    linecache.checkcache(str(path))
    name = f"warpreg_design_{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:12]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        exec(code, vars(module))
    finally:
        sys.path.remove(folder)
    return module


def _with_place(path: Path, error: DesignError) -> str:
    message = str(error)
    return message if message.startswith(f"{path}:") else f"{path}:{_line(path, error)}: {message}"


def _line(path: Path, error: BaseException) -> int:
    """The last line of the file that the error passed through, 1 if none."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 1
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
