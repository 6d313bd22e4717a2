"""A slow interpreter of SASS listings, written from the meaning of the instructions and from nothing of the package.

It reads the text of a listing by itself (`text`), executes groups of lanes instruction by instruction and lane by lane
on plain integers (`interpreter`), and serves as a second reading beside `warpreg.machine_code`: `paired.Paired` runs a
launch on both from the same memory.  Numbers are the exact ones of `tests.reference.number`.

Sources of meanings: the PTX ISA for what a sequence of `ptxas` must compute, NVIDIA's table of opcodes in "CUDA Binary
Utilities", and what only one meaning makes correct, such as the 64-bit addend of ``IMAD.HI`` in an integer division.
"""
