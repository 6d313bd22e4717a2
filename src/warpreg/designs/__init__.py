"""Register-file organisations: the interface of a design, and the designs, one file each.

``load("rfc")`` or ``load("path/to/mine.py")`` returns a :class:`Design`; ``names()`` lists the designs that need no
path.  A design's file imports from :mod:`warpreg.designs.interface`.
"""

from warpreg.designs.errors import DesignError, ParameterError
from warpreg.designs.interface.program import Program
from warpreg.designs.loading.design import Design
from warpreg.designs.loading.loader import load, names
from warpreg.designs.parts.hints.program_table import program_table

__all__ = ["Design", "DesignError", "ParameterError", "Program", "load", "names", "program_table"]
