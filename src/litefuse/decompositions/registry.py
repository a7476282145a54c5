"""Which decomposition is for which op."""

from __future__ import annotations

from litefuse.decompositions.bincount import Bincount
from litefuse.decompositions.crop_and_resize import CropAndResize
from litefuse.decompositions.cross import Cross
from litefuse.decompositions.cumprod import Cumprod
from litefuse.decompositions.decomposition import Decomposition
from litefuse.decompositions.erf import Erf
from litefuse.decompositions.extract_image_patches import ExtractImagePatches
from litefuse.decompositions.integer_sign import IntegerSign
from litefuse.decompositions.linspace import LinSpace
from litefuse.decompositions.max_pool_with_argmax import MaxPoolWithArgmax
from litefuse.decompositions.pool_3d import Pool3D
from litefuse.decompositions.roll import Roll
from litefuse.decompositions.tan import Tan
from litefuse.decompositions.unravel_index import UnravelIndex

__all__ = ["DECOMPOSITIONS", "find_decomposition"]

DECOMPOSITIONS: tuple[type[Decomposition], ...] = (
    Bincount,
    CropAndResize,
    Cross,
    Cumprod,
    Erf,
    ExtractImagePatches,
    IntegerSign,
    LinSpace,
    MaxPoolWithArgmax,
    Pool3D,
    Roll,
    Tan,
    UnravelIndex,
)
"""One entry for each family of ops."""

_BY_NAME = {name: decomposition for decomposition in DECOMPOSITIONS for name in decomposition.names}


def find_decomposition(name: str) -> Decomposition | None:
    """The decomposition of a TensorFlow op; None when there is none."""
    decomposition = _BY_NAME.get(name)
    return None if decomposition is None else decomposition()
