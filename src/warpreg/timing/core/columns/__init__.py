"""The columns of the core's rows: one module per component.

`typed` says what a column, a row and a view are; the modules beside it name the columns of each component.  A column
that is read at another component's row does not pass the type checker; when compiled, a column is a plain number.
"""
