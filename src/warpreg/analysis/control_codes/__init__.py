"""Control codes of machine code: the timing of instructions, and whether the codes keep dependences.

Read `latencies` (the table `latencies.toml`), `timing` (what an instruction reads and writes, and when), `pending`
(what is under way at a point of the code), `check`.
"""
