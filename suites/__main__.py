"""``python -m suites``."""

import sys

from suites.cli import main

if __name__ == "__main__":
    sys.exit(main())
