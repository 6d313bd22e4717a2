"""Files of machine code as modules: cubins, fat binaries, and listings of ``nvdisasm`` and ``cuobjdump -sass``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from warpreg.ir.module import Module
from warpreg.ir.text_files import read_text
from warpreg.machine_code import assembly, cubin, dump, fatbin, listing
from warpreg.machine_code.assembler import ARCHITECTURES
from warpreg.machine_code.binary import module_of_cubin, module_of_listing
from warpreg.machine_code.cubin import Cubin
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.listing import Listing

CUBIN, FATBIN, LISTING = ".cubin", ".fatbin", ".sass"
SUFFIXES = (CUBIN, FATBIN, LISTING)
Part = TypeVar("Part")


def read(path: Path, architecture: str | None = None) -> Module:
    """The module of a file, its code for ``architecture`` where it has several.

    A listing takes the records of a cubin of the same stem beside it, else those in its text.  Raises MachineCodeError
    for a file that cannot be read, or has no code for the architecture.
    """
    file = str(path)
    if path.suffix == LISTING:
        text = read_text(path, errors="replace")
        return _listed(text, path, architecture)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MachineCodeError(f"{file}: {error.strerror}") from error
    if path.suffix == FATBIN:
        images = {one.architecture: one.data for one in fatbin.read(data, file)}
        if not images:
            raise MachineCodeError(f"{file}: no machine code, PTX only")
        data = _chosen(images, architecture, file)
    module = module_of_cubin(data, file)
    _chosen({module.target[0]: None}, architecture, file)
    return module


def _listed(text: str, path: Path, architecture: str | None) -> Module:
    parts = {one.architecture: one for one in listing.parse_all(text, str(path))}
    if "" in parts and architecture:
        parts[""].architecture = architecture
        parts = {architecture: parts[""]}
    listed = _chosen(parts, architecture, str(path))
    beside = path.with_suffix(CUBIN)
    records = _records(beside, listed, path) if beside.is_file() else _records_within(text, listed, str(path))
    return module_of_listing(listed, str(path), records, text)


def _records_within(text: str, listed: Listing, file: str) -> Cubin | None:
    """The records that a whole listing contains.  Raises MachineCodeError for damaged ones."""
    if found := dump.read(text).get(listed.architecture):
        return found
    try:
        whole = assembly.read(text)
        return cubin.records(whole, listed.architecture) if whole else None
    except ValueError as error:
        raise MachineCodeError(f"{file}: damaged records: {error}") from error


def _records(path: Path, listed: Listing, listing_path: Path) -> Cubin:
    """The records of the cubin of a listing.  Raises MachineCodeError for those of another one."""
    records = cubin.read(path.read_bytes(), str(path))
    missing = sorted(listed.functions.keys() - records.kernels.keys())
    if records.architecture != listed.architecture or missing:
        what = f"'{missing[0]}'" if missing else listed.architecture
        raise MachineCodeError(f"{path}: not the cubin of {listing_path}, which has {what}")
    return records


def _chosen(parts: Mapping[str, Part], architecture: str | None, file: str) -> Part:
    """The part of an architecture, or the only one.  Raises MachineCodeError."""
    names = " and ".join(sorted(parts)) or "no architecture"
    if "" in parts:
        raise MachineCodeError(f"{file}: it does not name its architecture; choose it with --code")
    if architecture and architecture not in parts:
        raise MachineCodeError(f"{file}: no code for {architecture}; there is {names}")
    usable = [name for name in parts if name in ARCHITECTURES]
    if not usable:
        raise MachineCodeError(f"{file}: code for {names}; expected {' or '.join(ARCHITECTURES)}")
    if not architecture and len(usable) > 1:
        raise MachineCodeError(f"{file}: code for {names}; choose one with --code")
    return parts[architecture or usable[0]]
