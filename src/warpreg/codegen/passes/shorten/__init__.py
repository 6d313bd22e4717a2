"""Shorter live ranges: values are computed later, or again, so that fewer are live at a time."""

from warpreg.codegen.passes.shorten.rematerialize import RematerializeValues
from warpreg.codegen.passes.shorten.sink import SinkValues

__all__ = ["RematerializeValues", "SinkValues"]
