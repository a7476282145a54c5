"""The kernel pack: Python kernels of TensorFlow ops that LiteRT lacks.

Each kernel's module is loaded when the kernel is first asked for: most models need none.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from litefuse.kernels.native import native_library

if TYPE_CHECKING:
    from litefuse.kernels.counting import Bincount, DenseBincount
    from litefuse.kernels.crop_and_resize import CropAndResize
    from litefuse.kernels.cross import Cross
    from litefuse.kernels.cumprod import Cumprod
    from litefuse.kernels.dense_image_warp import DenseImageWarp
    from litefuse.kernels.erf import Erf
    from litefuse.kernels.extract_image_patches import ExtractImagePatches
    from litefuse.kernels.fourier import IRFFT, IRFFT2D
    from litefuse.kernels.lin_space import LinSpace
    from litefuse.kernels.linear_algebra import (
        Cholesky,
        MatrixDeterminant,
        MatrixInverse,
        MatrixSolve,
        MatrixTriangularSolve,
    )
    from litefuse.kernels.max_pool_with_argmax import MaxPoolWithArgmax
    from litefuse.kernels.max_unpooling_2d import MaxUnpooling2D
    from litefuse.kernels.ngrams import Ngrams
    from litefuse.kernels.pool_3d import AvgPool3D, MaxPool3D
    from litefuse.kernels.roll import Roll
    from litefuse.kernels.sgnn_projection import SgnnProjection
    from litefuse.kernels.unravel_index import UnravelIndex
    from litefuse.kernels.whitespace_tokenizer import WhitespaceTokenizer
    from litefuse.runtime.custom_op import CustomOp

__all__ = [
    "IRFFT",
    "IRFFT2D",
    "PACK",
    "PYTHON_ONLY",
    "AvgPool3D",
    "Bincount",
    "Cholesky",
    "CropAndResize",
    "Cross",
    "Cumprod",
    "DenseBincount",
    "DenseImageWarp",
    "Erf",
    "ExtractImagePatches",
    "LinSpace",
    "MatrixDeterminant",
    "MatrixInverse",
    "MatrixSolve",
    "MatrixTriangularSolve",
    "MaxPool3D",
    "MaxPoolWithArgmax",
    "MaxUnpooling2D",
    "Ngrams",
    "Roll",
    "SgnnProjection",
    "UnravelIndex",
    "WhitespaceTokenizer",
    "native_library",
]

# The modules by the names of their classes.
_MODULES = {
    "AvgPool3D": "pool_3d",
    "Bincount": "counting",
    "Cholesky": "linear_algebra",
    "CropAndResize": "crop_and_resize",
    "Cross": "cross",
    "Cumprod": "cumprod",
    "DenseBincount": "counting",
    "DenseImageWarp": "dense_image_warp",
    "Erf": "erf",
    "ExtractImagePatches": "extract_image_patches",
    "IRFFT": "fourier",
    "IRFFT2D": "fourier",
    "LinSpace": "lin_space",
    "MatrixDeterminant": "linear_algebra",
    "MatrixInverse": "linear_algebra",
    "MatrixSolve": "linear_algebra",
    "MatrixTriangularSolve": "linear_algebra",
    "MaxPool3D": "pool_3d",
    "MaxPoolWithArgmax": "max_pool_with_argmax",
    "MaxUnpooling2D": "max_unpooling_2d",
    "Ngrams": "ngrams",
    "Roll": "roll",
    "SgnnProjection": "sgnn_projection",
    "UnravelIndex": "unravel_index",
    "WhitespaceTokenizer": "whitespace_tokenizer",
}
# The ops whose names are not those of their classes.
_OPS = {
    "Ngrams": "tftext:Ngrams",
    "SgnnProjection": "tftext:custom:SgnnProjection",
    "WhitespaceTokenizer": "tftext:WhitespaceTokenizer",
}


def _load(name: str) -> type[CustomOp]:
    return getattr(importlib.import_module(f"litefuse.kernels.{_MODULES[name]}"), name)


class _Pack(Mapping[str, "type[CustomOp]"]):
    def __init__(self) -> None:
        self._classes = {_OPS.get(name, name): name for name in _MODULES}

    def __getitem__(self, op: str) -> type[CustomOp]:
        return _load(self._classes[op])

    def __contains__(self, op: object) -> bool:
        return op in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


PACK: Mapping[str, type[CustomOp]] = _Pack()
"""The kernels by the name of their op. ``custom_op`` registers a kernel that goes before the one here."""

PYTHON_ONLY: frozenset[str] = frozenset(_OPS.values())
"""The ops of the pack's kernels that have no native form: those of strings, which run in Python only."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = _load(name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
