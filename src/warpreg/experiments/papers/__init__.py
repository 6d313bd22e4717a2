"""The papers, a folder each: `results`, `figures`, `causes` and special designs.

Read `reproduction`, which sets measured values beside printed ones; `cause`, `ablation` and `shown` say why a value
differs and show it; `figure` is what a figure is.
"""
