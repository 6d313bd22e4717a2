"""Textures and surfaces.

Read `objects` and `arrays` (what a host makes), `records` (how a kernel sees them), then the way of a fetch:
`instructions`, `state`, `levels`, `axes`, `texel_addresses`, `texels`, `fetch`; `surfaces` and `queries` stand beside.
"""
