"""Placing values above the main register file at compile time (Gebhart et al., MICRO 2011, section 4).

``instances`` finds the writes and reads of a strand, ``candidates`` the values that an upper level could hold and the
energy each would save, ``allocate`` assigns entries to candidates, ``lrf`` selects those for the last result file,
``hierarchy`` runs all of this for a kernel, ``encode`` writes the decisions to hint columns, ``check`` verifies them,
and ``expand`` makes an executable kernel in which the placement is in effect.
"""
