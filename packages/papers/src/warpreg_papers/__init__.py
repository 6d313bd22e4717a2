"""Reproduced papers, one folder each: `results`, `figures`, `causes` and special designs.

Read `reproduction`, which compares measured and printed values; `cause`, `ablation` and `shown`, which explain
differences and test the explanations.  ``figure("rfc", "figure-2a")`` returns the data of a figure.
"""

from warpreg_papers.reproduction import figure

__all__ = ["figure"]
