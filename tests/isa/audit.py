"""Test with ptxas which candidate forms it accepts, and in which orders of modifiers: ``python -m tests.isa.audit``.

Writes ``forms.txt`` and ``orders.txt``.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from tests.isa.forms import (
    CANDIDATES,
    FORMS,
    ORDERS,
    Section,
    covering,
    declarations,
    instruction,
    merged,
    sections,
    shuffles,
    spellings,
    syntax,
)

HEADER = """\
# The forms of PTX instructions that ptxas 13.0 accepts, written by tests/isa/audit.py from candidates.txt.
# The notation is that of tests/isa/forms.py.
"""
ORDERS_HEADER = """\
# Other orders of modifiers that ptxas 13.0 takes, drawn and written by tests/isa/audit.py: each line a form of
# forms.txt, and what may stand for its opcode.
"""
ENDS = ("ret", "exit", "trap", "bra")
_REFUSED = re.compile(r"line (\d+); (error|fatal)\s*: (.*)")


Form = tuple[str, ...]
"""Opcode and operands; and where a third stands, what is written in place of the opcode."""


def accepted(section: Section, forms: list[Form]) -> set[Form]:
    """The forms of a section that ptxas compiles; those it refuses are taken out until it is content."""
    left = list(forms)
    while left:
        refused = _refused(section, left)
        if refused is None:
            half = len(left) // 2
            return accepted(section, left[:half]) | accepted(section, left[half:]) if half else set()
        if not refused:
            return set(left)
        left = [form for i, form in enumerate(left) if i not in refused]
    return set()


def _refused(section: Section, forms: list[Form]) -> set[int] | None:
    """The positions of refused forms; None where ptxas ended without naming one."""
    entry = "(.param .u32 x)" if float(section.version) >= 1.4 else ""
    head = f".version {section.version}\n.target {section.target}\n"
    if float(section.version) >= 2.3:
        head += ".address_size 64\n"
    registers = "\n".join(declarations(float(section.version) >= 8.3))
    head += f".entry k{entry}\n{{\n{registers}\nL:\n"
    first = head.count("\n") + 1
    body = "\n".join(f"@%p3 {_written(form)}" if form[0] in ENDS else _written(form) for form in forms)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forms.ptx"
        path.write_text(f"{head}{body}\nexit;\n}}\n")
        arch = max(section.target, "sm_75", key=lambda name: int(re.sub(r"\D", "", name)))
        run = subprocess.run(
            ["ptxas", f"-arch={arch}", "-O0", str(path), "-o", "/dev/null"], capture_output=True, text=True, check=False
        )
    lines = {int(m[1]) - first for m in _REFUSED.finditer(run.stderr)}
    if not run.returncode:
        return set()
    return lines & set(range(len(forms))) or None


def _written(form: Form) -> str:
    opcode, operands, *instead = form
    return instruction(opcode, operands).replace(opcode, instead[0] if instead else opcode, 1)


def orders(section: Section) -> str:
    """Lines of ``orders.txt``: up to three drawn orders of some forms of each group."""
    drawn: list[Form] = [
        (opcode, operands, other)
        for group, operands in section.groups
        for opcode in covering(group)[:2]
        for other in shuffles(opcode)
    ]
    good = accepted(section, drawn)
    return "".join(
        f"{opcode} : {operands} : {other}\n" for opcode, operands, other in drawn if (opcode, operands, other) in good
    )


def main() -> None:
    text = HEADER
    for section in sections(CANDIDATES):
        forms: list[Form] = list(section.forms())
        good = accepted(section, forms)
        print(f"{section.title}: {len(good)} of {len(forms)}")
        text += f"{section.heading}\n"
        for group, operands in section.groups:
            choices = [c for c in spellings(group) if ("".join(c), operands) in good]
            text += "".join(f"{syntax(product)} : {operands}\n" for product in merged(choices))
    FORMS.write_text(text)
    ORDERS.write_text(ORDERS_HEADER + "".join(f"{s.heading}\n{orders(s)}" for s in sections(FORMS)))


if __name__ == "__main__":
    main()
