"""Archives of studies and of single commands, from which anybody can measure the same results again.

Read `contents` (what every archive has, packing and unpacking), `study` and `command` (the two kinds), `check`
(measuring again and comparing), then `readme` and `wheel` (files of an archive).
"""
