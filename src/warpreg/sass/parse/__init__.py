"""Parser of a trace's text: lines become steps and address records.

Read `source` (the text, decompressed), `header` and `structure` (lines around the instructions), `line` (the format of
an instruction, parsed slowly with error messages), then `state` and `scan` (the compiled scanner).
"""
