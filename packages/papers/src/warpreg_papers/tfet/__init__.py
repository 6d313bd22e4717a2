"""Hybrid CMOS-TFET register file with memory contention-aware allocation (MEM_RA).

Read `results`; `designs` defines workloads, machine and designs, `samples` what is timed, `costs` the energy, `band`
how far the derived energies may be off.
"""
