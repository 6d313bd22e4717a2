"""A whole kernel as native code.

Read `block_compiler` (its blocks), `warp_driver` (the path of a warp through them), then `native_kernel` and
`kernel_cache`, which stores it on disk.
"""
