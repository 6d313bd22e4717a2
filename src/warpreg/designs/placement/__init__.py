"""Placing values above the main register file at compile time (Gebhart et al., MICRO 2011, section 4).

``instances`` finds what a strand defines and reads, ``candidates`` makes of it what could be kept in an upper level and
what that would save, ``allocate`` gives entries to candidates, ``lrf`` says which may go to the last result file,
``hierarchy`` does all of it for a kernel, ``encode`` turns the decisions into hint columns, ``check`` proves them, and
``expand`` makes a kernel that runs as placed.
"""
