"""The columns of a memory system's arrays: one module per component.

A component has an array of its own, and a row of it is a plain index; the array takes the component's columns only (see
`warpreg.timing.core.columns.typed`, whose `Column` this is).
"""
