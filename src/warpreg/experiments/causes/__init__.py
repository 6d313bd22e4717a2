"""Why results fall outside their tolerance, and the runs that show it; one module for each paper.

A module ``causes/<paper>.py`` declares ``CAUSES`` (by result id) and ``ABLATIONS`` (by name).
"""
