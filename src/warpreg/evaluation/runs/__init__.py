"""One workload under one choice of compiler, machine and design: run, count, time, and make a result row.

Read `run` (a workload, run and recorded), `choices` and `comparison` (designs on it), `row` (the result) and
`provenance` (the origin of its numbers); then the methods of counting: `counting`, `scheduled`, and `timed_sample` with
what it takes (`sampling`).
"""
