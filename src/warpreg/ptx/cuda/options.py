"""What a user chooses of the compilation of CUDA C++: folders of headers, macros, architecture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpreg.ir.errors import WarpregError

DEFAULT_ARCHITECTURE = "sm_75"
"""The oldest architecture that NVRTC 13 accepts: its PTX runs on the widest range of machines."""

ARCHITECTURE = re.compile(r"(?:sm|compute)_(\d+)([af]?)")
MACRO = re.compile(r"[A-Za-z_]\w*(\([\w ,.]*\))?(=.*)?")


class CudaOptionError(WarpregError):
    """An invalid include folder, macro or architecture; the message names it."""


@dataclass(frozen=True, slots=True)
class CudaOptions:
    """``include``: folders of headers; ``define``: macros, ``NAME`` or ``NAME=VALUE``; ``arch``: ``sm_80``, None for
    that of ``target``, and of `DEFAULT_ARCHITECTURE` where that is no ``sm_`` target.

    Raises CudaOptionError for what is none of that.
    """

    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    arch: str | None = None
    target: str = ""

    def __post_init__(self) -> None:
        for macro in self.define:
            if not MACRO.fullmatch(macro):
                raise CudaOptionError(f"define: expected NAME or NAME=VALUE, found '{macro}'")
        if self.arch is not None and not ARCHITECTURE.fullmatch(self.arch):
            raise CudaOptionError(f"arch: expected an architecture such as sm_80, found '{self.arch}'")
        for folder in self.include:
            if not Path(folder).is_dir():
                raise CudaOptionError(f"include: expected a folder, found '{folder}'")

    @property
    def is_given(self) -> bool:
        """Whether the user has chosen any of it."""
        return bool(self.include or self.define or self.arch)

    @property
    def architecture(self) -> str:
        """The virtual architecture, ``compute_80``."""
        found = ARCHITECTURE.fullmatch(self.arch or self.target) or ARCHITECTURE.fullmatch(DEFAULT_ARCHITECTURE)
        assert found is not None
        return f"compute_{found[1]}{found[2]}"

    @property
    def folders(self) -> list[str]:
        """The absolute include folders in order."""
        return [str(Path(folder).resolve()) for folder in self.include]

    def over(self, other: CudaOptions) -> CudaOptions:
        """These options before those of a file: its folders are searched later, its macros and architecture yield."""
        return CudaOptions(
            self.include + other.include, other.define + self.define, self.arch or other.arch, self.target
        )


def macros(given: Sequence[str] | Mapping[str, object]) -> tuple[str, ...]:
    """Macros as `CudaOptions` has them, of a list, or of a mapping of names to values."""
    if isinstance(given, Mapping):
        return tuple(f"{name}={value}" for name, value in given.items())
    return (given,) if isinstance(given, str) else tuple(given)
