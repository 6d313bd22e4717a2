"""Parts of designs that stage operands by regions of code."""
