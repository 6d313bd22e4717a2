"""The command line: reads arguments, calls the library, prints tables or JSON, turns errors into exit statuses."""

from warpreg.cli.app import main

__all__ = ["main"]
