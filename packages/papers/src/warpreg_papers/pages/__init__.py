"""Pages of reproduced papers: one per paper, and one that sums up all of them.

Read `page` (one paper), `overview` (all papers), `write` (files and pictures).
"""
