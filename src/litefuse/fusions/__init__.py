"""Conversion code: how a composite becomes a fused op. One module per family.

Importing this package loads no engine; ``builder`` and ``composite`` do.
"""

from litefuse.fusions.fusion import Fusion, fusion, registered_fusions

__all__ = ["Fusion", "fusion", "registered_fusions"]
