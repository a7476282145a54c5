"""The kernel pack: Python kernels of TensorFlow ops that LiteRT lacks, or has for numbers and not for strings.

Each kernel's module is loaded when the kernel is first asked for: most models need none.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from litefuse.kernels.native import native_library

if TYPE_CHECKING:
    from litefuse.kernels.images.crop_and_resize import CropAndResize
    from litefuse.kernels.images.dense_image_warp import DenseImageWarp
    from litefuse.kernels.images.extract_image_patches import ExtractImagePatches
    from litefuse.kernels.images.max_pool_with_argmax import MaxPoolWithArgmax
    from litefuse.kernels.images.max_unpooling_2d import MaxUnpooling2D
    from litefuse.kernels.images.pool_3d import AvgPool3D, MaxPool3D
    from litefuse.kernels.numbers.counting import Bincount, DenseBincount
    from litefuse.kernels.numbers.cross import Cross
    from litefuse.kernels.numbers.cumprod import Cumprod
    from litefuse.kernels.numbers.erf import Erf
    from litefuse.kernels.numbers.fourier import IRFFT, IRFFT2D
    from litefuse.kernels.numbers.lin_space import LinSpace
    from litefuse.kernels.numbers.linear_algebra import (
        Cholesky,
        MatrixDeterminant,
        MatrixInverse,
        MatrixSolve,
        MatrixTriangularSolve,
    )
    from litefuse.kernels.numbers.roll import Roll
    from litefuse.kernels.numbers.unravel_index import UnravelIndex
    from litefuse.kernels.strings.base64_strings import DecodeBase64, EncodeBase64
    from litefuse.kernels.strings.dense_strings import RaggedTensorToTensor, SparseToDense
    from litefuse.kernels.strings.moved_strings import ConcatV2, Pack, Pad, PadV2, Select, SelectV2
    from litefuse.kernels.strings.ngrams import Ngrams
    from litefuse.kernels.strings.raw_bytes import DecodePaddedRaw, DecodeRaw
    from litefuse.kernels.strings.sgnn_projection import SgnnProjection
    from litefuse.kernels.strings.sparse_cross import SparseCross
    from litefuse.kernels.strings.string_forms import StringLower, StringStrip, StringUpper
    from litefuse.kernels.strings.string_hashes import (
        StringToHashBucket,
        StringToHashBucketFast,
        StringToHashBucketStrong,
    )
    from litefuse.kernels.strings.string_joins import ReduceJoin, StringJoin, UnsortedSegmentJoin
    from litefuse.kernels.strings.string_ngrams import StringNGrams
    from litefuse.kernels.strings.string_numbers import AsString, StringToNumber
    from litefuse.kernels.strings.string_patterns import (
        RegexFullMatch,
        RegexReplace,
        StaticRegexFullMatch,
        StaticRegexReplace,
    )
    from litefuse.kernels.strings.string_splits import StringSplit, StringSplitV2
    from litefuse.kernels.strings.substrings import StringLength, Substr
    from litefuse.kernels.strings.unicode_strings import (
        UnicodeDecode,
        UnicodeDecodeWithOffsets,
        UnicodeEncode,
        UnicodeTranscode,
    )
    from litefuse.kernels.strings.whitespace_tokenizer import WhitespaceTokenizer
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
    "AsString": "strings.string_numbers",
    "AvgPool3D": "images.pool_3d",
    "Bincount": "numbers.counting",
    "Cholesky": "numbers.linear_algebra",
    "ConcatV2": "strings.moved_strings",
    "CropAndResize": "images.crop_and_resize",
    "Cross": "numbers.cross",
    "Cumprod": "numbers.cumprod",
    "DecodeBase64": "strings.base64_strings",
    "DecodePaddedRaw": "strings.raw_bytes",
    "DecodeRaw": "strings.raw_bytes",
    "DenseBincount": "numbers.counting",
    "DenseImageWarp": "images.dense_image_warp",
    "EncodeBase64": "strings.base64_strings",
    "Erf": "numbers.erf",
    "ExtractImagePatches": "images.extract_image_patches",
    "IRFFT": "numbers.fourier",
    "IRFFT2D": "numbers.fourier",
    "LinSpace": "numbers.lin_space",
    "MatrixDeterminant": "numbers.linear_algebra",
    "MatrixInverse": "numbers.linear_algebra",
    "MatrixSolve": "numbers.linear_algebra",
    "MatrixTriangularSolve": "numbers.linear_algebra",
    "MaxPool3D": "images.pool_3d",
    "MaxPoolWithArgmax": "images.max_pool_with_argmax",
    "MaxUnpooling2D": "images.max_unpooling_2d",
    "Ngrams": "strings.ngrams",
    "Pack": "strings.moved_strings",
    "Pad": "strings.moved_strings",
    "PadV2": "strings.moved_strings",
    "RaggedTensorToTensor": "strings.dense_strings",
    "ReduceJoin": "strings.string_joins",
    "RegexFullMatch": "strings.string_patterns",
    "RegexReplace": "strings.string_patterns",
    "Roll": "numbers.roll",
    "Select": "strings.moved_strings",
    "SelectV2": "strings.moved_strings",
    "SgnnProjection": "strings.sgnn_projection",
    "SparseCross": "strings.sparse_cross",
    "SparseToDense": "strings.dense_strings",
    "StaticRegexFullMatch": "strings.string_patterns",
    "StaticRegexReplace": "strings.string_patterns",
    "StringJoin": "strings.string_joins",
    "StringLength": "strings.substrings",
    "StringLower": "strings.string_forms",
    "StringNGrams": "strings.string_ngrams",
    "StringSplit": "strings.string_splits",
    "StringSplitV2": "strings.string_splits",
    "StringStrip": "strings.string_forms",
    "StringToHashBucket": "strings.string_hashes",
    "StringToHashBucketFast": "strings.string_hashes",
    "StringToHashBucketStrong": "strings.string_hashes",
    "StringToNumber": "strings.string_numbers",
    "StringUpper": "strings.string_forms",
    "Substr": "strings.substrings",
    "UnicodeDecode": "strings.unicode_strings",
    "UnicodeDecodeWithOffsets": "strings.unicode_strings",
    "UnicodeEncode": "strings.unicode_strings",
    "UnicodeTranscode": "strings.unicode_strings",
    "UnravelIndex": "numbers.unravel_index",
    "UnsortedSegmentJoin": "strings.string_joins",
    "WhitespaceTokenizer": "strings.whitespace_tokenizer",
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
    frozenset(_OPS.get(name, name) for name, module in _MODULES.items() if module.startswith("strings.")) - _NATIVE
)
"""The ops of the pack's kernels that have no native form: most of those of strings, which run in Python only."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = _load(name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
