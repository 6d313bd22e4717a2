"""One workload under one choice of compiler, machine and design: run, count, time, and make a result row.

Read `run` (a workload, run and recorded), `choices` and `comparison` (designs on it), `row` (the result) and
`provenance` (where its numbers come from); then the other ways to count: `counting`, `scheduled`, `timed_sample`.
"""
