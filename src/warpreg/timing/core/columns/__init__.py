"""Columns of the core's rows: one module per component.

`typed` defines columns, rows and views; each other module names the columns of one component.  The type checker rejects
a column used with a row of another component.  In compiled code, a column is a plain number.
"""
