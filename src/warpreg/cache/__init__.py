"""The disk cache: what is slow to make and can be made again, kept between processes.

Read `directory` (where it is), `trust` (what is refused), then `store`, which every cache of the package goes through.
"""
