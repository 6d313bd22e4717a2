"""Registers that warps share in time: the compiler of RegMutex (thesis of 2021, section 4.3.1), and its pool.

Read `instructions` (acquire and release), `states` (where a warp holds a section), `barrier_edges` (acquires behind
barriers), `staging` (acquires, releases and moves), `compaction` (registers below the base set) and `division`, which
puts them together.  `sizes` chooses the extended set, `check` verifies the code, `corruptions` breaks it on purpose.
"""
