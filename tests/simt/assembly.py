"""The instructions of object code as text."""

from __future__ import annotations

from warpreg.simt.llvm import object_code


def assembly(text: str, optimize: bool = False) -> str:
    """What `object_code.object_code` makes of an LLVM module."""
    with object_code.parsed(text, optimize) as module:
        return str(object_code.target_machine().emit_assembly(module))
