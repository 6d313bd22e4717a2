"""LLVM IR as text, and machine code of it.

Read `text` (values and instructions of LLVM), `emitter` (a function under construction), then `object_code`, which
compiles and loads it; `select_workaround` avoids slow code for selects.
"""
