"""Matrix instructions and asynchronous copies.

Read `instructions`; `elements` decodes the elements of registers, `products` multiplies, `async_copy` copies.
"""
