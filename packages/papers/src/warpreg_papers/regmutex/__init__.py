"""RegMutex: registers shared between warps over time (thesis of 2021, chapter 4).

Read `results`; `kernels` maps Table 4.1 to kernels of the suite, `designs` defines machines and designs, `frames` the
figures.  `samples` measures a kernel in time, as it is compiled and with the printed number of registers (`codes`).
`repeated` has enough thread blocks for it; `live_registers` is Figure 4.1.
"""
