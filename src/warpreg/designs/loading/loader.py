"""Find designs: in this package, by entry point (group ``warpreg.designs``), or in a file."""

from __future__ import annotations

import ast
import dataclasses
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
from warpreg.designs.interface.accounts import accounted_hooks
from warpreg.designs.interface.hooks import hooks_of
from warpreg.designs.interface.parameters import NoParameters
from warpreg.designs.interface.thread_blocks import knows_thread_blocks
from warpreg.designs.loading.arrangement import apart_from_included
from warpreg.designs.loading.author_code import PACKAGE, author_code
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


def is_packaged(name: str) -> bool:
    """Whether a name means a design of the package, or a composition of such."""
    return all(part in _packaged() for part in name.replace("++", "-pp").split(SEPARATOR))


def packaged() -> dict[str, Path]:
    """The files of the package's own designs by name."""
    return {name: path for name, (path, _) in _packaged().items()}


def load(name_or_path: str | Path, checked: bool | None = None) -> Design:
    """The design with this name, or in this file if it ends in ``.py``; names joined by ``+`` make a composition.

    A composition with a design that another one does itself is the composition without it.  ``++`` stands for ``-pp``.
    ``checked``: whether its hooks check what they do; by default those of designs that are not the package's own do.
    Raises UnknownNameError with the nearest name, and DesignError with file and line for a file that is not a design.
    """
    text = str(name_or_path)
    if SEPARATOR in text and not Path(text).exists():
        parts = apart_from_included([load(part, checked) for part in text.replace("++", "-pp").split(SEPARATOR)])
        return parts[0] if len(parts) == 1 else compose(parts)
    if text.endswith(".py"):
        return _checked(_design(Path(text), partial(_from_file, Path(text))), checked)
    packaged = _packaged()
    known = packaged if text in packaged else {**_installed(), **packaged}
    if text not in known:
        raise UnknownNameError("design", text, known)
    return _checked(_imported(text, *known[text]), checked)


@functools.cache
def _imported(name: str, path: Path, module: str) -> Design:
    """A design in an importable module."""
    return _design(path, partial(importlib.import_module, module), name)


@functools.cache
def _packaged() -> dict[str, tuple[Path, str]]:
    """File and module of each design of the package, all of which are in the folders of families."""
    files = (path for path in FOLDER.glob("*/*.py") if DECLARES.search(path.read_text(encoding="utf-8")))
    return {_name(path): (path, f"warpreg.designs.{path.parent.name}.{path.stem}") for path in files}


def _installed() -> dict[str, tuple[Path, str]]:
    """File and module of each entry point, found without importing it."""
    designs: dict[str, tuple[Path, str]] = {}
    for point in entry_points(group=GROUP):
        spec = importlib.util.find_spec(point.module)
        if spec is not None and spec.origin is not None:
            designs[point.name] = (Path(spec.origin), point.module)
    return designs


def _checked(design: Design, checked: bool | None) -> Design:
    """The design with checks in its hooks, if it is to have them, else with accounts of what they plan."""
    is_own = _is_own(design.path)
    if checked is False or (is_own and not checked):
        return _with_accounts(design)
    return _with_checks(design)


@functools.cache
def _is_own(path: Path) -> bool:
    """Whether a file belongs to the package."""
    return path.is_relative_to(PACKAGE)


@functools.lru_cache(maxsize=64)
def _with_checks(design: Design) -> Design:
    from warpreg.designs.checking.checked_hooks import checked_hooks  # not imported without a design file

    hooks = checked_hooks(design.name, design.declaration, design.hooks, is_own=_is_own(design.path))
    return dataclasses.replace(design, hooks=hooks, is_checked=True)


@functools.lru_cache(maxsize=64)
def _with_accounts(design: Design) -> Design:
    return dataclasses.replace(design, hooks=accounted_hooks(design.name, design.hooks))


def _name(path: Path) -> str:
    return path.stem.replace("_", "-")


def _design(path: Path, run: Callable[[], ModuleType], name: str | None = None) -> Design:
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DesignError(f"{path}: cannot read the design: {reason}") from error
    with author_code(path, "the design was loaded"):
        module = run()
    declaration = check(path, text, module)
    hooks = hooks_of(vars(module))
    if declaration.order == "static" and knows_thread_blocks(hooks):
        raise DesignError(f"{path}:1: thread_block and index_in_block differ between warps, so the order is not static")
    docstring = (ast.get_docstring(ast.parse(text)) or "").replace("\n", " ")
    return Design(
        name=name or _name(path),
        path=path,
        summary=re.split(r"[.:](?:\s|$)", docstring, maxsplit=1)[0],
        declaration=declaration,
        parameter_type=getattr(module, "Parameters", NoParameters),
        hooks=hooks,
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
