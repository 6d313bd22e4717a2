"""Files that ``warpreg new-design`` writes: a design and its test, with ``my_design`` where the name goes."""
