"""``python -m litefuse``."""

from __future__ import annotations

from litefuse.tools.cli import main

if __name__ == "__main__":
    main()
