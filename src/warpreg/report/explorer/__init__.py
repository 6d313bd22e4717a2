"""The explorer: a page with a kernel's source that can be edited, beside what the compilers make of it.

Reading order: `subject` (what the page was opened for, and what it asks for), `compiled` (all that is shown of a text),
`places` (errors by line and column), `table` (the listing as HTML), `worker` (the process that compiles one text),
`compilations` (these processes), `write` (the page), `serve` (the server).
"""
