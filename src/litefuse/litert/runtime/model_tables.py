"""The tables of a ``.tflite`` file: the numbers of their fields, and the names of ops and types.

Source of the numbers: schema.fbs of LiteRT.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

from litefuse.litert.runtime.flatbuffer import Table

#: The identifier behind the first four bytes of a LiteRT model.
IDENTIFIER = b"TFL3"
#: The metadata in which litefuse says, as JSON, that it wrote a file, and which nodes the results are from.
PRODUCER = "LITEFUSE"

# Model
VERSION, OPERATOR_CODES, SUBGRAPHS, DESCRIPTION, BUFFERS, METADATA_BUFFER, METADATA, SIGNATURES = range(8)
# OperatorCode
DEPRECATED_CODE, CUSTOM_CODE, CODE_VERSION, CODE = range(4)
# SubGraph
TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, OPERATORS, GRAPH_NAME = range(5)
# Operator; the fields of its options of either kind follow those of their types.
OPCODE, OP_INPUTS, OP_OUTPUTS, OPTIONS_TYPE, OPTIONS, CUSTOM_OPTIONS = range(6)
INTERMEDIATES, LARGE_OPTIONS_OFFSET, LARGE_OPTIONS_SIZE, OPTIONS_2_TYPE, OPTIONS_2 = range(8, 13)
# Tensor
SHAPE, TYPE, BUFFER, TENSOR_NAME, QUANTIZATION, IS_VARIABLE = range(6)
SPARSITY, SHAPE_SIGNATURE, HAS_RANK = range(6, 9)
EXTERNAL_BUFFER = 10
# QuantizationParameters
SCALE, ZERO_POINT, QUANTIZATION_DETAILS = 2, 3, 4
QUANTIZED_DIMENSION = 6
# Buffer
DATA, OFFSET, SIZE = 0, 1, 2
# SignatureDef
SIGNATURE_INPUTS, SIGNATURE_OUTPUTS, SIGNATURE_KEY, SIGNATURE_GRAPH = 0, 1, 2, 4
# TensorMap
MAP_NAME, MAP_INDEX = 0, 1
# Metadata
METADATA_NAME, METADATA_CONTENT = 0, 1

# The options that name subgraphs, by the number of their type in either union, and the fields in which they do.
CALLEES: tuple[Mapping[int, tuple[int, ...]], ...] = (
    {92: (1, 0), 93: (1, 0), 103: (0,)},  # If, While, CallOnce
    # StableHLO's Reduce, Scatter, ReduceWindow, Sort, While and Composite
    {6: (1,), 7: (6,), 13: (5,), 14: (2,), 15: (1, 0), 21: (1,)},
)


def names_of(enumeration: object) -> dict[int, str]:
    """Returns the names of the values of an enumeration of the schema, by their numbers."""
    return {number: name for name, number in vars(cast("type", enumeration)).items() if name.isupper()}


# In the order of their numbers, from 0 on. The schema's module, which has them too, takes as long to import as a small
# model to read.
_BUILTIN_OPS = """
ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR
FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM
MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS
SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND
SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN
EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2
GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG
SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT
UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR LEAKY_RELU
SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE
MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5
SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO
RFFT2D CONV_3D IMAG REAL COMPLEX_ABS HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL
CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE
RANDOM_UNIFORM MULTINOMIAL GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX
UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT STABLEHLO_LOGISTIC STABLEHLO_ADD
STABLEHLO_DIVIDE STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE
STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE STABLEHLO_ABS
STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG STABLEHLO_MINIMUM STABLEHLO_NEGATE
STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH
STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE
STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE
STABLEHLO_GATHER STABLEHLO_TRANSPOSE DILATE STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW STABLEHLO_COMPOSITE
STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT STABLEHLO_CASE
"""
_TENSOR_TYPES = """
FLOAT32 FLOAT16 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT64 COMPLEX128 UINT64 RESOURCE VARIANT UINT32
UINT16 INT4 BFLOAT16 INT2 UINT4 FLOAT8_E4M3FN FLOAT8_E5M2
"""

#: The names of LiteRT's ops, such as ``CONV_2D``, by their numbers.
BUILTIN_OPS = dict(enumerate(_BUILTIN_OPS.split()))
#: The names of its types, such as ``FLOAT32``, by their numbers.
TENSOR_TYPES = dict(enumerate(_TENSOR_TYPES.split()))


class OpCode(NamedTuple):
    """An op code of the model.

    Attributes:
        name: Its name in the schema; CUSTOM for custom ops.
        custom: The name of a custom op; empty for others.
        version: The version of the op.
    """

    name: str
    custom: str
    version: int = 1

    @classmethod
    def read(cls, code: Table) -> OpCode:
        # Old files have the number in a field of only one byte.
        number = max(code.number(CODE, "i"), code.number(DEPRECATED_CODE, "b"))
        name = BUILTIN_OPS.get(number, f"BUILTIN_{number}")
        return cls(name, code.text(CUSTOM_CODE) if name == "CUSTOM" else "", code.number(CODE_VERSION, "i", 1))

    @property
    def shown(self) -> str:
        """The op's name, or that of a custom op."""
        return self.custom or self.name


#: The prefix of the name of a custom op that stands for the builtin op of the rest of the name, which the engine's
#: dialect lacks, until the file is written. Its options are a JSON object: the name of the schema's ``table`` of the
#: op's options, empty for none, the ``options`` in it, and the positions of the operands that are ``states``.
STAND_IN = "litefuse.builtin."
#: The numbers of ops by their names.
OP_NUMBERS = {name: number for number, name in BUILTIN_OPS.items()}
#: The numbers of types by their names as of dtypes, such as ``float32``.
DTYPE_NUMBERS = {name.lower(): number for number, name in TENSOR_TYPES.items()}
#: The activations that ops may end with, by their numbers.
ACTIVATIONS = dict(enumerate(("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT")))


def dtype_name(number: int) -> str:
    """Returns the name of a type of the schema, such as ``int8``."""
    return TENSOR_TYPES[number].lower() if number in TENSOR_TYPES else f"type_{number}"


def sizes_of(tensor: Table) -> tuple[int | None, ...]:
    """Returns the shape of a tensor; None for a dynamic dimension. Empty if the rank is unknown, too."""
    sizes = tensor.numbers(SHAPE_SIGNATURE) or tensor.numbers(SHAPE)
    return tuple(None if size < 0 else size for size in sizes)


def data_span(buffer: Table) -> tuple[int, int]:
    """Returns where the data of a buffer begin in the file, inside or behind the flatbuffer, and how many bytes.

    The runtime looks behind the flatbuffer where a buffer has none inside; an offset of 1 stands for no data.
    """
    size = buffer.length(DATA)
    if not size and (offset := buffer.number(OFFSET, "Q")) > 1:
        return offset, buffer.number(SIZE, "Q")
    return buffer.vector(DATA), size


def data_of(buffer: Table) -> bytes:
    """Returns a copy of the data of a buffer, which may be stored behind the flatbuffer."""
    start, size = data_span(buffer)
    return bytes(buffer.data[start : start + size])


def custom_options(operator: Table) -> bytes:
    """Returns a copy of the options of a custom op, which may be stored behind the flatbuffer."""
    if not operator.length(CUSTOM_OPTIONS) and (offset := operator.number(LARGE_OPTIONS_OFFSET, "Q")) > 1:
        return bytes(operator.data[offset : offset + operator.number(LARGE_OPTIONS_SIZE, "Q")])
    return operator.content(CUSTOM_OPTIONS)
