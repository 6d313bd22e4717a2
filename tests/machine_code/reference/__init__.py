"""A slow interpreter of SASS listings, written from the meaning of the instructions, apart from the executor.

It reads the text of a listing by itself (`text`), executes groups of lanes instruction by instruction and lane by lane
on plain integers (`interpreter`), and serves as a second reading beside `warpreg.machine_code`: `paired.Paired` runs a
launch on both from the same memory.  Numbers are the exact ones of `tests.reference.number`.  Shared with the package
are the records of a cubin, the packing of parameters, and the values of ``MUFU``, which PTX leaves open.

Sources of meanings: the PTX ISA for what a sequence of `ptxas` must compute, NVIDIA's table of opcodes in "CUDA Binary
Utilities", and what only one meaning makes correct, such as the 64-bit addend of ``IMAD.HI`` in an integer division.
"""
