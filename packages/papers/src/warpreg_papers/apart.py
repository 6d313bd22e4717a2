"""Why a result outside its tolerance is counted apart, although no ablation explains it.

``contradicted``: other numbers of the paper do not allow the printed one (`Contradiction`).  ``out of reach``: no
design reaches the printed value on this machine and this code (`Limit`).  ``other reading``: the printed value is met
by another measure that the text allows (`Reading`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from warpreg.evaluation.studies.study import Measured, Study
from warpreg_papers.contradiction import Contradiction
from warpreg_papers.limit import Limit
from warpreg_papers.published import Published
from warpreg_papers.reading import Reading

Kind = Literal["contradicted", "out of reach", "other reading"]
FIELDS: dict[Kind, str] = {"contradicted": "allowed", "out of reach": "limit", "other reading": "otherwise"}
"""The field of the JSON output with the value that decides."""


@dataclass(frozen=True, slots=True)
class Apart:
    """``value``: what the printed numbers allow, what the machine allows, or the value by the other reading."""

    kind: Kind
    text: str
    value: Measured

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {FIELDS[self.kind]: self.value}


Statement = Contradiction | Limit | Reading


def reasons_apart(said: object) -> Iterator[tuple[str, Statement]]:
    """The statements of a paper's causes by result id: contradictions, then limits, then other readings."""
    for name in ("CONTRADICTIONS", "LIMITS", "READINGS"):
        yield from cast(dict[str, Statement], getattr(said, name, {})).items()


def set_apart(result: Published, said: object, found: Study) -> Apart | None:
    """The first statement about a result outside its tolerance that holds in a study; None without one."""
    for name, statement in reasons_apart(said):
        if name == result.id and (apart := _judged(result, statement, found)):
            return apart
    return None


def _judged(result: Published, statement: Statement, study: Study) -> Apart | None:
    if isinstance(statement, Contradiction):
        return Apart("contradicted", str(statement), statement.allowed())
    if isinstance(statement, Limit):
        most = statement.excluding(result, study)
        return None if most is None else Apart("out of reach", statement.text, most)
    value = statement.agreeing(result, study)
    return None if value is None else Apart("other reading", statement.text, value)
