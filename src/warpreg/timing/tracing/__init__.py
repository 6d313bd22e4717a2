"""Events of a window of a run, recorded by a core that is compiled for it.

Read `rows` (an event), `buffers` (where the core writes them), `event_writers` (what writes them, around functions of
the core), then `recorder` (the table that a run leaves).  `wait_recorder` sums waits by instruction instead.  A core
that does not record contains none of this.
"""
