"""Speed of this machine and of the package: what `warpreg bench` measures, a file a benchmark."""
