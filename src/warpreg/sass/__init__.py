"""SASS, the machine code of NVIDIA GPUs: import and export of recorded hardware traces.

Read `isa` (opcode table), `parse` (text of a trace to steps), `rebuild` (steps to kernels and paths), `selection` and
`choice` (what is read), `listing` and `reader` (the traces of a run), then `export`.
"""
