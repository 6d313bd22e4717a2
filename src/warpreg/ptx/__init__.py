"""PTX text to `ir.module.Module` and back."""

from warpreg.ptx.diagnostics import Diagnostic, PtxError
from warpreg.ptx.parser import parse
from warpreg.ptx.writer import write

__all__ = ["Diagnostic", "PtxError", "parse", "write"]
