"""``warpreg bench gpu``: measure a real NVIDIA GPU, once, into a file that comparisons read without a GPU.

Read in this order: `measuring_driver` (launches with events), `microbenchmarks` (programs of which one figure follows),
`register_banks` (patched machine code), `durations` (launches of workloads), `kit` (what is measured, in which order).
"""
