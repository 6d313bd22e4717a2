"""Textures and surfaces.

Read `objects` and `arrays` (created by the host), `state` and `records` (their representation in native code), then the
steps of a fetch: `instructions`, `levels`, `axes`, `texels`, `fetch`, `texel_addresses`; then `surfaces` and `queries`.
"""
