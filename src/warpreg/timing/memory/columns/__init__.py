"""Columns of the arrays of a memory system: one module per component.

Each component has an array of its own, indexed by row.  An array accepts only the columns of its component (`Column` of
`warpreg.timing.core.columns.typed`).
"""
