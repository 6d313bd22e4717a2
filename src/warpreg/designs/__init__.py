"""Register-file organisations: the interface of a design, and the designs, one file each.

``load("rfc")`` or ``load("path/to/mine.py")`` gives a :class:`Design`; ``names()`` lists what is found without a path.
What a design's file imports is in :mod:`warpreg.designs.interface`.
"""

from warpreg.designs.errors import DesignError, ParameterError
from warpreg.designs.hints.program_table import program_table
from warpreg.designs.interface.program import Program
from warpreg.designs.loading.design import Design
from warpreg.designs.loading.loader import load, names

__all__ = ["Design", "DesignError", "ParameterError", "Program", "load", "names", "program_table"]
