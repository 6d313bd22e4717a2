"""The disk cache of the package: results that are slow to compute, kept between processes.

Read `directory` (its location), `trust` (refused directories and files), then `store`, which every cache of the package
uses.  `identity` and `sources` say what a key covers.
"""
