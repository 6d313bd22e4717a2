"""Memory accesses of a warp, checked lane by lane.

Read `arena` (the buffers of a device), `load_store`, then its parts: `buffers`, `coalesced_path`, `expected_path`,
`gather_scatter`, `lane_by_lane`, `atomics`, `bulk_copy`; `instructions` maps PTX to them, `heap` is malloc.
"""
