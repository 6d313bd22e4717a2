"""LLVM IR as text, and its compilation to machine code.

Read `text` (values and instructions of LLVM), `emitter` (a function under construction), then `object_code`, which
compiles and loads it; `select_workaround` avoids an LLVM defect in selects.
"""
