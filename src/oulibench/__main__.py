"""`python -m oulibench` is the `oulibench` command."""

import sys

from oulibench.cli import main

sys.exit(main())
