"""A register file in two technologies: what MEM_RA, CMOS_RA and their relatives share (hybrid CMOS-TFET paper).

Read `vectors` (free vectors of both kinds, and why they cannot run out), `table` (where each register is), `prediction`
(when a warp can afford slow registers) and `hooks`.  A *vector* is a physical warp-register.  All functions run inside
hooks; the state of a design that uses them is `state.State`.
"""
