"""Figures of measured results, for papers and slides."""

from warpreg.report.figures import demo_figure, save

__all__ = ["demo_figure", "save"]
