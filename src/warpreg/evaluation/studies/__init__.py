"""Measures over many workloads, cached on disk, and the values that papers print.

Read `study`; `findings` caches measurements, `published` reads printed values, `ratios` computes means.
"""
