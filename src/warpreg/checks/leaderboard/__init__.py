"""A leaderboard of design files of others, each measured in a process of its own with limits.

Read `process` (the process of one file), `confinement` (its limits), `entrant` (what it does), `scores` (the ranking).
This is no sandbox for hostile code: see `confinement`.
"""
