"""litefuse: operation fusion from TensorFlow to LiteRT."""

from __future__ import annotations

from litefuse.api import ConversionResult, convert
from litefuse.fusions import Fusion, fusion

__all__ = ["ConversionResult", "Fusion", "convert", "fusion"]

__version__ = "0.1.0"
