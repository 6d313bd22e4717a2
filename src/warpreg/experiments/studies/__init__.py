"""Measures over many workloads, kept on disk, beside the figures that papers print.

Read `study`; `findings` keeps what was measured, `published` reads what is printed, `ratios` takes means.
"""
