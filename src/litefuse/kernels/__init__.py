"""The kernel pack: Python kernels of TensorFlow ops that LiteRT lacks."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

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
from litefuse.kernels.native import native_library
from litefuse.kernels.ngrams import Ngrams
from litefuse.kernels.pool_3d import AvgPool3D, MaxPool3D
from litefuse.kernels.roll import Roll
from litefuse.kernels.sgnn_projection import SgnnProjection
from litefuse.kernels.unravel_index import UnravelIndex
from litefuse.kernels.whitespace_tokenizer import WhitespaceTokenizer
from litefuse.runtime.custom_op import CustomOp, kernels_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

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

PACK: Mapping[str, type[CustomOp]] = MappingProxyType(
    kernels_by_name(
        [
            AvgPool3D,
            Bincount,
            Cholesky,
            CropAndResize,
            Cross,
            Cumprod,
            DenseBincount,
            DenseImageWarp,
            Erf,
            ExtractImagePatches,
            IRFFT,
            IRFFT2D,
            LinSpace,
            MatrixDeterminant,
            MatrixInverse,
            MatrixSolve,
            MatrixTriangularSolve,
            MaxPool3D,
            MaxPoolWithArgmax,
            MaxUnpooling2D,
            Ngrams,
            Roll,
            SgnnProjection,
            UnravelIndex,
            WhitespaceTokenizer,
        ]
    )
)
"""The kernels by the name of their op. ``custom_op`` registers a kernel that goes before the one here."""

PYTHON_ONLY: frozenset[str] = frozenset(kernel.op_name for kernel in (Ngrams, SgnnProjection, WhitespaceTokenizer))
"""The ops of the pack's kernels that have no native form: those of strings, which run in Python only."""
