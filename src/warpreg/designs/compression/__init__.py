"""Register files that hold values in compressed form."""
