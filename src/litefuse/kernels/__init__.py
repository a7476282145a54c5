"""The kernel pack: Python kernels of TensorFlow ops that LiteRT lacks, or has for numbers and not for strings.

Each kernel's module is loaded when the kernel is first asked for: most models need none.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from litefuse.kernels.native import native_library

if TYPE_CHECKING:
    from litefuse.kernels.base64_strings import DecodeBase64, EncodeBase64
    from litefuse.kernels.counting import Bincount, DenseBincount
    from litefuse.kernels.crop_and_resize import CropAndResize
    from litefuse.kernels.cross import Cross
    from litefuse.kernels.cumprod import Cumprod
    from litefuse.kernels.dense_image_warp import DenseImageWarp
    from litefuse.kernels.dense_strings import RaggedTensorToTensor, SparseToDense
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
    from litefuse.kernels.moved_strings import ConcatV2, Pack, Pad, PadV2, Select, SelectV2
    from litefuse.kernels.ngrams import Ngrams
    from litefuse.kernels.pool_3d import AvgPool3D, MaxPool3D
    from litefuse.kernels.raw_bytes import DecodePaddedRaw, DecodeRaw
    from litefuse.kernels.roll import Roll
    from litefuse.kernels.sgnn_projection import SgnnProjection
    from litefuse.kernels.sparse_cross import SparseCross
    from litefuse.kernels.string_forms import StringLower, StringStrip, StringUpper
    from litefuse.kernels.string_hashes import StringToHashBucket, StringToHashBucketFast, StringToHashBucketStrong
    from litefuse.kernels.string_joins import ReduceJoin, StringJoin, UnsortedSegmentJoin
    from litefuse.kernels.string_ngrams import StringNGrams
    from litefuse.kernels.string_numbers import AsString, StringToNumber
    from litefuse.kernels.string_patterns import RegexFullMatch, RegexReplace, StaticRegexFullMatch, StaticRegexReplace
    from litefuse.kernels.string_splits import StringSplit, StringSplitV2
    from litefuse.kernels.substrings import StringLength, Substr
    from litefuse.kernels.unicode_strings import (
        UnicodeDecode,
        UnicodeDecodeWithOffsets,
        UnicodeEncode,
        UnicodeTranscode,
    )
    from litefuse.kernels.unravel_index import UnravelIndex
    from litefuse.kernels.whitespace_tokenizer import WhitespaceTokenizer
    from litefuse.runtime.custom_op import CustomOp

__all__ = [
    "IRFFT",
    "IRFFT2D",
    "PACK",
    "PYTHON_ONLY",
    "AsString",
    "AvgPool3D",
    "Bincount",
    "Cholesky",
    "ConcatV2",
    "CropAndResize",
    "Cross",
    "Cumprod",
    "DecodeBase64",
    "DecodePaddedRaw",
    "DecodeRaw",
    "DenseBincount",
    "DenseImageWarp",
    "EncodeBase64",
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
    "Pack",
    "Pad",
    "PadV2",
    "RaggedTensorToTensor",
    "ReduceJoin",
    "RegexFullMatch",
    "RegexReplace",
    "Roll",
    "Select",
    "SelectV2",
    "SgnnProjection",
    "SparseCross",
    "SparseToDense",
    "StaticRegexFullMatch",
    "StaticRegexReplace",
    "StringJoin",
    "StringLength",
    "StringLower",
    "StringNGrams",
    "StringSplit",
    "StringSplitV2",
    "StringStrip",
    "StringToHashBucket",
    "StringToHashBucketFast",
    "StringToHashBucketStrong",
    "StringToNumber",
    "StringUpper",
    "Substr",
    "UnicodeDecode",
    "UnicodeDecodeWithOffsets",
    "UnicodeEncode",
    "UnicodeTranscode",
    "UnravelIndex",
    "UnsortedSegmentJoin",
    "WhitespaceTokenizer",
    "native_library",
]

# The modules by the names of their classes.
_MODULES = {
    "AsString": "string_numbers",
    "AvgPool3D": "pool_3d",
    "Bincount": "counting",
    "Cholesky": "linear_algebra",
    "ConcatV2": "moved_strings",
    "CropAndResize": "crop_and_resize",
    "Cross": "cross",
    "Cumprod": "cumprod",
    "DecodeBase64": "base64_strings",
    "DecodePaddedRaw": "raw_bytes",
    "DecodeRaw": "raw_bytes",
    "DenseBincount": "counting",
    "DenseImageWarp": "dense_image_warp",
    "EncodeBase64": "base64_strings",
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
    "Pack": "moved_strings",
    "Pad": "moved_strings",
    "PadV2": "moved_strings",
    "RaggedTensorToTensor": "dense_strings",
    "ReduceJoin": "string_joins",
    "RegexFullMatch": "string_patterns",
    "RegexReplace": "string_patterns",
    "Roll": "roll",
    "Select": "moved_strings",
    "SelectV2": "moved_strings",
    "SgnnProjection": "sgnn_projection",
    "SparseCross": "sparse_cross",
    "SparseToDense": "dense_strings",
    "StaticRegexFullMatch": "string_patterns",
    "StaticRegexReplace": "string_patterns",
    "StringJoin": "string_joins",
    "StringLength": "substrings",
    "StringLower": "string_forms",
    "StringNGrams": "string_ngrams",
    "StringSplit": "string_splits",
    "StringSplitV2": "string_splits",
    "StringStrip": "string_forms",
    "StringToHashBucket": "string_hashes",
    "StringToHashBucketFast": "string_hashes",
    "StringToHashBucketStrong": "string_hashes",
    "StringToNumber": "string_numbers",
    "StringUpper": "string_forms",
    "Substr": "substrings",
    "UnicodeDecode": "unicode_strings",
    "UnicodeDecodeWithOffsets": "unicode_strings",
    "UnicodeEncode": "unicode_strings",
    "UnicodeTranscode": "unicode_strings",
    "UnravelIndex": "unravel_index",
    "UnsortedSegmentJoin": "string_joins",
    "WhitespaceTokenizer": "whitespace_tokenizer",
}
# The ops whose names are not those of their classes.
_OPS = {
    "Ngrams": "tftext:Ngrams",
    "SgnnProjection": "tftext:custom:SgnnProjection",
    "WhitespaceTokenizer": "tftext:WhitespaceTokenizer",
}
# The modules of strings, and of what becomes strings.
_OF_STRINGS = frozenset(
    {
        *("base64_strings", "dense_strings", "moved_strings", "raw_bytes", "sparse_cross", "string_forms"),
        *(
            "string_hashes",
            "string_joins",
            "string_ngrams",
            "string_numbers",
            "string_patterns",
            "string_splits",
            "substrings",
        ),
        "unicode_strings",
    }
)


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

# Those of them that have a native form, of all attributes or of some (litefuse.kernels.partly_native).
_NATIVE = frozenset(
    {
        *("DecodePaddedRaw", "DecodeRaw", "ReduceJoin", "StaticRegexFullMatch", "StaticRegexReplace"),
        *("StringJoin", "StringLength", "StringLower"),
        *("StringNGrams", "StringSplit", "StringSplitV2", "StringStrip"),
        *("StringToHashBucketFast", "StringToNumber", "StringUpper", "Substr"),
    }
)

PYTHON_ONLY: frozenset[str] = (
    frozenset({*_OPS.values(), *(name for name, module in _MODULES.items() if module in _OF_STRINGS)}) - _NATIVE
)
"""The ops of the pack's kernels that have no native form: most of those of strings, which run in Python only."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = _load(name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
