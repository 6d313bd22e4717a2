"""Sphinx configuration: Markdown pages, and the Python reference from docstrings."""

import sys
from pathlib import Path

import warpreg

project = "Warpreg"
author = "The Warpreg authors"
copyright = "2026, The Warpreg authors"
version = release = warpreg.__version__

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
extensions = ["myst_parser", "sphinx.ext.autodoc", "command_line", "design_catalogue"]
myst_heading_anchors = 3
exclude_patterns = ["images", "extensions", "generated", "static"]
smartquotes = False
html_theme = "furo"
html_title = f"Warpreg {version}"
html_static_path = ["static"]
html_css_files = ["wide.css"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_mock_imports = ["cuda"]
default_role = "code"
suppress_warnings = ["ref.python"]
