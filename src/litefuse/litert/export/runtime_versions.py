"""The first runtime with each version of each op, and the least runtime that takes a file.

Facts from LiteRT's tflite/converter/tools/versioning/runtime_version.cc, which counts in releases of TensorFlow; from
2.21 on these are its numbers for releases of LiteRT. Which release of LiteRT was the first was seen by loading each
version of each op in ai-edge-litert 1.0.1 to 2.3.0; TRANSPOSE 7, which the source dates 2.14.4, is not in
tflite-runtime 2.14.0.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, cast

from litefuse.errors import LitefuseError

_Version: TypeAlias = "tuple[int, ...]"

# The releases of TensorFlow that have version 1, 2, ... of an op.
_RELEASES = """
ABS 1.13 2.4 2.5 2.6 2.12
ADD 1.5 1.14 2.4 2.6 2.13 2.23
ARG_MAX 1.9 1.14 2.9
ARG_MIN 1.9 1.14 2.9
AVERAGE_POOL_2D 1.5 1.14 2.3
BATCH_MATMUL 2.3 2.3 2.4 2.5
BATCH_TO_SPACE_ND 1.6 1.14 2.3 2.12
BIDIRECTIONAL_SEQUENCE_LSTM 1.14 1.14 1.14
BIDIRECTIONAL_SEQUENCE_RNN 1.14 1.14 2.3
BROADCAST_TO - 2.5 2.5 2.23
CAST 1.5 2.7 2.8 2.9 2.12 2.15 2.17 2.21 2.23
CONCATENATION 1.5 1.14 2.3 2.14 2.21 2.23 2.23
CONV_2D 1.5 1.14 1.14 2.3 2.4 2.9 2.11 2.15
COS 1.14 2.23
DEPTHWISE_CONV_2D 1.5 1.12 1.14 2.2 2.3 2.3 2.11
DEPTH_TO_SPACE 2.1 2.5
DEQUANTIZE 1.13.1 1.14 1.15 2.2 2.7 2.18 2.21 2.22 2.23
DIV 1.6 2.3
DYNAMIC_UPDATE_SLICE 2.9 2.17 2.19 2.20 2.21 2.22
EMBEDDING_LOOKUP 1.13 1.14 1.14 2.18 2.21
EQUAL 1.14 1.14 2.3 2.13 2.21
EXP 1.7 2.12
FAKE_QUANT 1.5 1.10
FILL 1.13 2.3 2.5 2.12 2.23
FLOOR_DIV 1.14 1.14 2.13
FLOOR_MOD 1.13 2.13
FULLY_CONNECTED 1.5 1.10 1.14 1.14 2.0 2.1 2.3 2.3 2.3 2.11 2.15 2.17 2.18 2.21
GATHER 1.6 1.14 1.15 2.4 2.5 2.13 2.15 2.23
GATHER_ND 1.14 2.3 2.5 2.13 2.16 2.23
GELU 2.9 2.9 2.23
GREATER 1.14 1.14
GREATER_EQUAL 1.14 1.14 2.13
L2_NORMALIZATION 1.5 1.14
LEAKY_RELU 1.13.1 2.3
LESS 1.14 1.14 2.13
LESS_EQUAL 1.14 1.14
LOG 1.14 2.15
LOGISTIC 1.14 1.14 2.3
LOG_SOFTMAX 1.14 1.14
LSTM 1.7 1.10 1.14 2.3
MAXIMUM 1.14 1.14 2.3 2.3
MAX_POOL_2D 1.5 1.14 2.3
MEAN 1.6 1.14 2.4
MINIMUM 1.14 1.14 2.3 2.3
MIRROR_PAD 1.13.1 2.3 2.12
MUL 1.5 1.14 1.15 2.3 2.6 2.11 2.13 2.23
NOT_EQUAL 1.14 1.14 2.3 2.21
PACK 1.11 1.14 2.3 2.13 2.23
PAD 1.5 1.14 2.4 2.6 2.20 2.23
PADV2 1.9 1.14 2.4 2.6 2.20 2.23
QUANTIZE 1.14 1.15 2.7 2.21 2.21 2.21
RANGE 1.13 2.14
REDUCE_MAX 1.11 1.14 2.5
REDUCE_MIN 1.11 1.14 2.5
REDUCE_PROD 1.11 2.6
RELU 1.5 2.1 2.5
RELU6 1.5 1.14 2.5
RESIZE_BILINEAR 1.7 1.14 2.2 2.5
RESIZE_NEAREST_NEIGHBOR 1.13.1 1.14 2.3 2.4
REVERSE_V2 1.14 2.2 2.5 2.23
RNN 1.5 1.14 2.3
RSQRT 1.10 2.5 2.15
SELECT 1.14 1.14 2.12 2.12
SELECT_V2 2.2 2.12
SIGN 2.11 2.12
SIN 1.9 2.23
SLICE 1.14 1.14 1.14 2.4 2.5 2.14 2.21 2.23
SOFTMAX 1.5 1.14 2.3 2.23
SPACE_TO_BATCH_ND 1.6 1.14 2.3 2.12
SPACE_TO_DEPTH 1.5 1.14
SPARSE_TO_DENSE 1.9 1.14 1.15
SPLIT 1.5 1.14 1.14 2.3 2.23
SPLIT_V 1.13.1 2.3 2.23
SQRT 1.10 2.21
SQUARED_DIFFERENCE 1.13.1 2.5
SQUEEZE 1.6 2.5
STRIDED_SLICE 1.6 1.14 2.1 2.2 2.5 2.6 2.14 2.14
SUB 1.6 1.14 2.3 2.4 2.4
SUM 1.10 1.15
SVDF 1.5 1.14 2.2 2.3
TANH 1.14 1.14 2.3
TILE 1.10.1 2.2 2.8
TOPK_V2 1.7 1.14 2.13
TRANSPOSE 1.6 1.14 1.15 2.3 2.4 2.12 2.15 2.22 2.23
TRANSPOSE_CONV 1.9 2.2 2.3 2.13 2.15
UNIDIRECTIONAL_SEQUENCE_LSTM 1.13.1 1.14 2.3 2.12
UNIDIRECTIONAL_SEQUENCE_RNN 1.14 1.14 2.3
UNPACK 1.11 1.14 2.2 2.3 2.22 2.23
WHERE 1.14 2.8
"""
# The ops that have had one version, behind the release that has it.
_OF_ONE_VERSION = """
1.5 EMBEDDING_LOOKUP_SPARSE HASHTABLE_LOOKUP L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LSH_PROJECTION RELU_N1_TO_1
1.5 RESHAPE SKIP_GRAM
1.8 PRELU
1.9 FLOOR NEG
1.10 EXPAND_DIMS POW SHAPE
1.11 LOGICAL_AND LOGICAL_NOT LOGICAL_OR ONE_HOT REDUCE_ANY
1.12 SQUARE ZEROS_LIKE
1.14 ADD_N CEIL ELU MATRIX_DIAG MATRIX_SET_DIAG RANK REVERSE_SEQUENCE ROUND UNIQUE
1.15 HARD_SWISH IF WHILE
2.1 NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND
2.2 DENSIFY SEGMENT_SUM
2.4 CUMSUM
2.5 CALL_ONCE COMPLEX_ABS CONV_3D HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE IMAG REAL RFFT2D
2.6 ASSIGN_VARIABLE BROADCAST_ARGS CONV_3D_TRANSPOSE READ_VARIABLE REDUCE_ALL VAR_HANDLE
2.8 BUCKETIZE MULTINOMIAL RANDOM_STANDARD_NORMAL RANDOM_UNIFORM
2.10 ATAN2 RELU_0_TO_1 UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_SUM
2.11 UNSORTED_SEGMENT_MIN
2.13 BITCAST BITWISE_XOR RIGHT_SHIFT
2.15 DILATE REDUCE_WINDOW STABLEHLO_RNG_BIT_GENERATOR STABLEHLO_SCATTER
2.16 STABLEHLO_ADD STABLEHLO_GATHER STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_PAD
2.16 STABLEHLO_REDUCE_WINDOW
2.17 STABLEHLO_AND STABLEHLO_CASE STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT
"""
# The first release of LiteRT with the ops that a release of TensorFlow brought; all before are in LiteRT 1.0.
_LITERT = ((2, 19, "1.1"), (2, 20, "1.3"), (2, 21, "2.1"), (2, 22, "2.2"))
_LITERT_OF = MappingProxyType(
    {
        ("CAST", 7): "1.1",
        ("CONCATENATION", 5): "2.1.2",
        ("DYNAMIC_UPDATE_SLICE", 5): "2.1.2",
        ("EMBEDDING_LOOKUP", 5): "2.1.2",
        ("PAD", 5): "2.0",
        ("PADV2", 5): "2.0",
        ("QUANTIZE", 5): "2.2",
        ("QUANTIZE", 6): "2.2",
        ("SQRT", 2): "2.0",
        ("STABLEHLO_AND", 1): "1.1",
        ("STABLEHLO_CASE", 1): "1.1",
        ("STABLEHLO_SHIFT_LEFT", 1): "1.1",
        ("TRANSPOSE", 7): "1.2",
    }
)
# The newest release of TensorFlow whose TensorFlow Lite was seen; what is dated later is in LiteRT alone.
_LAST_TENSORFLOW = (2, 21)
_LIMIT = re.compile(r"(?:(?P<name>litert|tflite):)?(?P<version>\d+(?:\.\d+){0,2})", re.IGNORECASE)


def _numbers(version: str) -> _Version:
    return tuple(map(int, version.split(".")))


class Runtime(NamedTuple):
    """The first releases that have something.

    Attributes:
        tflite: The release of TensorFlow whose TensorFlow Lite has it.
        litert: The release of LiteRT.
    """

    tflite: _Version
    litert: _Version

    def __str__(self) -> str:
        litert = f"LiteRT {_text(self.litert)} or newer"
        return litert if self.tflite > _LAST_TENSORFLOW else f"{litert}; TensorFlow Lite {_text(self.tflite)} or newer"

    @property
    def recorded(self) -> str:
        """The release as the stock converter records it in a file, such as ``2.17.0``."""
        return _text((*self.tflite, 0, 0)[:3])

    def joined(self, other: Runtime) -> Runtime:
        """Returns the first releases that have both."""
        return Runtime(max(self.tflite, other.tflite), max(self.litert, other.litert))


def _text(version: _Version) -> str:
    return ".".join(map(str, version))


#: What every runtime has.
NO_RUNTIME = Runtime((1, 5), (1, 0))
# What came later under the version of older forms, by the types of the first operand and the first result: seen by
# calling the integer forms of ops in the same releases, and in TensorFlow 2.14 and 2.21.
_LATER_FORMS = MappingProxyType(
    {
        ("DIV", "INT16", "INT16"): Runtime((2, 21), (2, 0)),
        ("DIV", "INT8", "INT8"): Runtime((2, 22), (2, 1, 6)),
        ("GELU", "INT16", "INT16"): Runtime((2, 21), (1, 3)),
        ("QUANTIZE", "INT8", "INT16"): Runtime((2, 22), (2, 1, 3)),
        ("QUANTIZE", "UINT8", "INT16"): Runtime((2, 22), (2, 1, 3)),
        ("SUM", "INT16", "INT16"): Runtime((2, 21), (1, 3)),
        ("TILE", "INT16", "INT16"): Runtime((2, 22), (2, 1, 3)),
    }
)


class RuntimeLimit(NamedTuple):
    """The oldest runtime that a file has to run in.

    Attributes:
        version: Its release.
        litert: Whether it is LiteRT; else it is TensorFlow Lite.
    """

    version: _Version
    litert: bool

    @classmethod
    def of(cls, text: str | None) -> RuntimeLimit | None:
        """Reads ``2.14`` or ``tflite:2.14``, a release of TensorFlow Lite, or ``litert:1.2``, one of LiteRT; None: any.

        Raises:
            LitefuseError: It is neither.
        """
        if text is None:
            return None
        match = _LIMIT.fullmatch(text.strip()) if isinstance(cast("object", text), str) else None
        if match is None:
            raise LitefuseError(
                f"{text!r} names no runtime",
                hint="Write the release of TensorFlow Lite, such as 2.14, or that of LiteRT, such as litert:1.2.",
            )
        return cls((*_numbers(match["version"]), 0, 0)[:3], (match["name"] or "").lower() == "litert")

    def __str__(self) -> str:
        return f"{'LiteRT' if self.litert else 'TensorFlow Lite'} {_text(self.version).removesuffix('.0')}"

    def has(self, needed: Runtime) -> bool:
        """Whether this release has what some release brought."""
        return (needed.litert if self.litert else needed.tflite) <= self.version


@functools.cache
def _table() -> Mapping[tuple[str, int], Runtime]:
    """Returns the first releases by op and version."""
    first: dict[tuple[str, int], Runtime] = {}
    releases = {op: versions for op, *versions in map(str.split, _RELEASES.strip().splitlines())}
    for release, *ops in map(str.split, _OF_ONE_VERSION.strip().splitlines()):
        releases |= {op: [release] for op in ops}
    for op, versions in releases.items():
        for version, release in enumerate(versions, start=1):
            if release != "-":
                tflite = _numbers(release)
                later = [litert for major, minor, litert in _LITERT if tflite >= (major, minor)]
                litert = _LITERT_OF.get((op, version), later[-1] if later else "1.0")
                first[op, version] = Runtime(tflite, _numbers(litert))
    return first


def first_runtime(op: str, version: int, types: tuple[str, str] = ("", "")) -> Runtime:
    """Returns the first releases with a version of an op; all of them for an op that the table lacks.

    Args:
        op: Its name in the schema.
        version: The version.
        types: The schema's names of the types of its first operand and its first result.
    """
    return _table().get((op, version), NO_RUNTIME).joined(_LATER_FORMS.get((op, *types), NO_RUNTIME))


def least_runtime(forms: Iterable[tuple[str, int, tuple[str, str]]]) -> Runtime:
    """Returns the first releases that have all of some ops, by names, versions and types."""
    return functools.reduce(Runtime.joined, (first_runtime(*form) for form in forms), NO_RUNTIME)
