"""``python -m warpreg`` is the command line."""

import sys

from warpreg.cli import main

sys.exit(main())
