"""Matrix instructions and asynchronous copies.

Read `instructions`; `elements` says which lane holds which element, `products` multiplies, `async_copy` copies.
"""
