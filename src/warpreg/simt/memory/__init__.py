"""Memory accesses of a warp, checked lane by lane.

Read `arena` (the buffers of a device), `load_store`, then its ways: `coalesced_path`, `gather_scatter`, `atomics`,
`bulk_copy`; `instructions` maps PTX to them, `heap` is malloc.
"""
