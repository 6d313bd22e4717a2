"""Runs code of a design's author; whatever it raises becomes one message with the author's file and line.

The place comes first where the author is to mend it.  Refusals of the package's own designs are about what they were
given, and name that first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType

from warpreg.designs.errors import DesignError, DesignInterruptedError
from warpreg.designs.interface.hooks import place
from warpreg.ir.errors import WarpregError

PACKAGE = Path(__file__).parents[2]
"""Folder of the package's own designs, among others."""


@contextmanager
def author_code(path: Path, what: str) -> Iterator[None]:
    """Run code of the file inside; ``what`` is said to be going on when the user interrupts it.

    Raises DesignError for every exception, an exit of the process included, and lets those of this package pass.
    """
    try:
        yield
    except DesignError as error:
        message = str(error)
        if not message.startswith(f"{path}:"):
            line = _line(path, error)
            is_own = path.is_relative_to(PACKAGE)
            message = f"{message} ({path.relative_to(PACKAGE)}:{line})" if is_own else f"{path}:{line}: {message}"
        raise type(error)(message) from error
    except WarpregError:
        raise
    except KeyboardInterrupt as error:
        raise DesignInterruptedError(f"{path}:{_line(path, error)}: interrupted while {what}") from error
    except SystemExit as error:
        raise DesignError(f"{path}:{_line(path, error)}: the design ends the process (exit {error.code})") from error
    except Exception as error:
        message = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
        raise DesignError(f"{path}:{_line(path, error)}: {type(error).__name__}: {message}".rstrip(": ")) from error


def place_of(path: Path, function: Callable[..., object] | None) -> str:
    """``file:line`` of a function of the design."""
    return place(function.__code__) if isinstance(function, FunctionType) else str(path)


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
