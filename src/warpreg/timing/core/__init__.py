"""The state of the core: int64 arrays of rows and columns, and what every phase uses.

Read `columns` (what each number means, with types that keep rows and columns apart), `state` (the arrays), `rows` (the
rows of components), `ports` (what a run puts in its place), then the small parts: `bitset`, `inflight`, `prefetch`.
"""
