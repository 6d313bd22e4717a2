"""Sweeps: many runs under many designs, described by a study file.

Read `study_file` (what a user writes), `cells` (the grid), `batch` (cells with their keys), `work` (what a process
does), `executors` and `distribution` (where and in which order), `search` (trials in place of the whole grid).
"""
