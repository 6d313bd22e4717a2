"""The page of an explorer as text: what it was opened for, its style and its scripts."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from warpreg import designs
from warpreg.designs.interface.parameters import expectation
from warpreg.evaluation.runs.run import RANGES
from warpreg.report import inline
from warpreg.report.explorer.subject import Subject

SCRIPTS = ("elements.js", "syntax.js", "editor.js", "designs.js", "listing.js", "explorer.js")
"""The scripts of the page, in the order in which they run, after those of all pages."""


def page(subject: Subject) -> str:
    """The page; it runs its own scripts only, and asks its own server only."""
    script = "\n".join([inline.element(), *(inline.text(__package__, name) for name in SCRIPTS)])
    allowed = f"script-src 'sha256-{inline.sha256(script)}'; style-src 'unsafe-inline'; img-src data:"
    return inline.text(__package__, "explorer.html").format(
        title=escape(subject.name),
        policy=f"default-src 'none'; {allowed}; connect-src 'self'; form-action 'none'; base-uri 'none'",
        style=inline.style(__package__, "explorer.css"),
        data=json.dumps(_data(subject)).replace("<", "\\u003c"),
        script=script,
    )


def _data(subject: Subject) -> dict[str, Any]:
    choice = subject.choice
    return {
        "name": subject.name,
        "language": subject.language,
        "text": subject.text,
        "codes": subject.codes,
        "limits": RANGES["max_registers"],
        "options": {
            "max_registers": choice.max_registers,
            "schedule": choice.schedule,
            "address_bits": choice.address_bits,
        },
        "designs": [_design(name) for name in subject.designs],
        "chosen": {name: {key: _text(value) for key, value in one.items()} for name, one in subject.chosen.items()},
    }


def _design(name: str) -> dict[str, Any]:
    design = designs.load(name, checked=False)
    parameters = [
        {
            "name": one.name,
            "default": _text(one.default),
            "choices": one.choices or (("true", "false") if one.type is bool else ()),
            "expected": expectation(one),
            "low": one.low,
            "high": one.high,
            "is_number": one.type in (int, float),
        }
        for one in design.parameters
    ]
    return {"name": name, "shown": Path(name).stem, "summary": design.summary, "parameters": parameters}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
