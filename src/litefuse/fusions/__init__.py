"""Conversion code that turns composites into fused ops. One module per family.

Importing this package does not load the engine; ``builder`` and ``composite`` do.
"""

from litefuse.fusions.fusion import Fusion, fusion, registered_fusions

__all__ = ["Fusion", "fusion", "registered_fusions"]
