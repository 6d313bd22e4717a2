"""State of the core (int64 arrays of rows and columns) and helpers that every phase uses.

Read `typed` (types that keep rows and columns of components apart), `columns` (meaning of each word), `state` (the
arrays), `rows` (the rows of components), `ports` (functions that a run replaces), `port` and `conditions` (how a
function says that it is replaced, by what and when), then `bitset`, `inflight`, `prefetch`.
"""
