"""Compares the executor with an NVIDIA GPU: every launch runs on both from the same memory.

`paired_device` is a device that does both, `process` the process that owns the GPU, `driver` the calls of NVIDIA's
driver library, `request` what one launch needs, `differences` the comparison of memory, `verification` the check of a
workload.  Needs a machine with an NVIDIA GPU and its driver, and no other package.
"""
