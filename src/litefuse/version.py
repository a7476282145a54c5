"""The version, which the build reads from here."""

from __future__ import annotations

__all__ = ["DOCUMENTATION", "__version__"]

__version__ = "0.2.0"
#: The address of the documentation.
DOCUMENTATION = "https://litefuse.github.io/litefuse/"
