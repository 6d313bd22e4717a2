"""The benchmarks of `warpreg bench`: speed of the package on this machine, one file per benchmark."""
