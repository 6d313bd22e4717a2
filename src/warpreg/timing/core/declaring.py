"""Declaring columns: each once, with its type, unit and meaning; the order of declaration gives its number.

    class clock(Columns):
        UNTIL: _Clock = word("cycle", "SMs may be stepped up to this cycle, exclusive")

Compiled code and Python see ``clock.UNTIL`` as the number 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from piecewise_numba.namespaces import Namespace


@dataclass(frozen=True, slots=True)
class Word:
    """A column as it is declared: its ``unit``, and what it is ``about``.

    ``at``: its number, or the column before dispatch or in other rows whose word it is too; None: after the last one.
    ``count``: words from it on, one a pipe or the like; 0 if that is known at run time only, or if it names a place.
    ``folded``: the machine's value is a constant of the compiled core.
    """

    unit: str
    about: str
    at: int | str | None = None
    count: int = 1
    folded: bool = False


def word(unit: str, about: str, *, at: int | str | None = None, count: int = 1, folded: bool = False) -> Any:
    """Declare a column of `Columns`; fields as in `Word`."""
    return Word(unit, about, at, count, folded)


class Columns(Namespace):
    """The columns of one component.  In a subclass, each is the number that follows from its declaration.

    ``DECLARED``: their declarations, by name.  ``COUNT``: words of a row, unless the subclass says more.
    ``STRUCTURE``: the folded columns.
    """

    DECLARED: ClassVar[Mapping[str, Word]] = {}
    COUNT: ClassVar[int] = 0
    STRUCTURE: ClassVar[tuple[int, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Number the columns.  Raises TypeError for two columns in a word, and for a row that is too short."""
        declared = {name: value for name, value in vars(cls).items() if isinstance(value, Word)}
        owners: dict[int, str] = {}
        numbers: dict[str, int] = {}
        following = 0
        for name, one in declared.items():
            if isinstance(one.at, str):
                numbers[name] = numbers[one.at]
                continue
            number = numbers[name] = following if one.at is None else one.at
            for taken in range(number, number + one.count):
                if owners.setdefault(taken, name) != name:
                    raise TypeError(f"{cls.__name__}: word {taken} is {owners[taken]} and {name}")
            following = number + one.count
        words = max(owners, default=-1) + 1
        if vars(cls).get("COUNT", words) < words:
            raise TypeError(f"{cls.__name__}: COUNT expects at least {words}, found {cls.COUNT}")
        for name, number in numbers.items():
            setattr(cls, name, number)
        cls.DECLARED = declared
        cls.COUNT = vars(cls).get("COUNT", words)
        cls.STRUCTURE = tuple(sorted(numbers[name] for name, one in declared.items() if one.folded))
