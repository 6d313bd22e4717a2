"""A whole kernel as native code.

Read `block_compiler` (its blocks), `block_versions`, `block_ends` (how they go on), `warp_driver` and `warp_steps` (the
path of a warp where they do not), then `native_kernel` and `kernel_cache`, which stores it on disk.
"""
