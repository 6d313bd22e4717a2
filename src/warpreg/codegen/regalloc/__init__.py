"""Virtual registers to architected registers.

Read `allocator`; `live_ranges` and `allocation_units` are its input, `first_fit` assigns registers, `spill` rewrites
the kernel if they do not suffice; `bank_assignment`, `late_reads`, `vector_groups` and `uniform` are constraints.
"""
