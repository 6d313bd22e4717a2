"""Designs that bring registers into a cache before they are needed."""
