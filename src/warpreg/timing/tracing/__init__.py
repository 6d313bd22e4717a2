"""Events of a window of a run, recorded by a core that is compiled for it.

Read `rows` (an event), `buffers` (where the core writes them), `recording` (what writes them, around functions of the
core), then `recorder` (the table that a run leaves).  `waits` sums by instruction
instead.  A core that does not record contains none of this.
"""
