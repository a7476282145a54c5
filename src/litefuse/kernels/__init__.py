"""The kernel pack: Python kernels of TensorFlow ops that LiteRT lacks."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from litefuse.kernels.extract_image_patches import ExtractImagePatches
from litefuse.runtime.custom_op import CustomOp, kernels_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PACK", "ExtractImagePatches"]

PACK: Mapping[str, type[CustomOp]] = MappingProxyType(kernels_by_name([ExtractImagePatches]))
"""The kernels by the name of their op. ``custom_op`` registers a kernel that goes before the one here."""
