"""``warpreg reproduce`` where the package of papers is not installed."""

from warpreg.cli.installed import PAPERS, absent

command = absent("reproduce", PAPERS)
