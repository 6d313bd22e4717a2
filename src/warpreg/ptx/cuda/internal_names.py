"""Names of what belongs to one file alone: NVIDIA's compilers put hashes of place, time and process into them."""

from __future__ import annotations

import re

LENGTH = re.compile(r"((?<=_ZN)\d+|(?<=[A-Za-z_])\d\d)_(INTERNAL|GLOBAL__N_)_")
"""The length of an identifier with hashes in a mangled name (Itanium C++ ABI, section 5.1), where it is plain: the
identifier before it may end in a digit."""

KINDS = ("INTERNAL", "GLOBAL__N_")
OWN = "file"


def independent(text: str) -> str:
    """PTX, or a name in it, with the same names for every compilation of a source."""
    stems = {text[found.end() : found.start(2) - 1 + int(found[1])] for found in LENGTH.finditer(text)}
    for stem in sorted(stems, key=len, reverse=True):
        for kind in KINDS:
            text = text.replace(_identifier(f"_{kind}_{stem}"), _identifier(f"_{kind}_{OWN}"))
    return text


def _identifier(name: str) -> str:
    return f"{len(name)}{name}"
