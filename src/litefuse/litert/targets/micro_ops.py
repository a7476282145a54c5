"""The ops of tflite-micro's Python package.

Measured by loading a model of each op of LiteRT's schema (tflite-micro 0.dev20260101 and later, 2026-11): an op that
it lacks is looked up, and reported, before anything else.
"""

from __future__ import annotations

from litefuse.litert.targets.table import Limits, OpTable

__all__ = ["MICRO_OPS"]

_ANY = (
    *("ABS", "ADD", "ADD_N", "ARG_MAX", "ARG_MIN", "ASSIGN_VARIABLE", "AVERAGE_POOL_2D", "BATCH_MATMUL"),
    *("BATCH_TO_SPACE_ND", "BROADCAST_ARGS", "CALL_ONCE", "CAST", "CEIL", "CONCATENATION", "CONV_2D", "COS", "CUMSUM"),
    *("DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DEQUANTIZE", "DIV", "DYNAMIC_UPDATE_SLICE", "ELU", "EMBEDDING_LOOKUP"),
    *("EQUAL", "EXP", "EXPAND_DIMS", "FLOOR", "FLOOR_DIV", "FLOOR_MOD", "FULLY_CONNECTED", "GATHER", "GATHER_ND"),
    *("GREATER", "GREATER_EQUAL", "HARD_SWISH", "IF", "L2_NORMALIZATION", "L2_POOL_2D", "LEAKY_RELU", "LESS"),
    *("LESS_EQUAL", "LOG", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC", "LOG_SOFTMAX", "MAXIMUM"),
    *("MAX_POOL_2D", "MEAN", "MINIMUM", "MIRROR_PAD", "MUL", "NEG", "NOT_EQUAL", "PACK", "PAD", "PADV2", "PRELU"),
    *("QUANTIZE", "READ_VARIABLE", "REDUCE_ALL", "REDUCE_MAX", "REDUCE_MIN", "RELU", "RELU6", "RESIZE_BILINEAR"),
    *("RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2", "ROUND", "RSQRT", "SELECT_V2", "SHAPE", "SIN", "SLICE", "SOFTMAX"),
    *("SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQRT", "SQUARE", "SQUARED_DIFFERENCE", "SQUEEZE"),
    *("STRIDED_SLICE", "SUB", "SUM", "SVDF", "TANH", "TRANSPOSE", "TRANSPOSE_CONV", "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    *("UNPACK", "VAR_HANDLE", "WHILE", "ZEROS_LIKE"),
)

MICRO_OPS = OpTable(
    "tflite-micro's Python package, 2026-11",
    ops={
        **{name: Limits() for name in _ANY},
        # Sizes of results are planned before the first call.
        "RESHAPE": Limits(constant=(1,)),
        "FILL": Limits(constant=(0,)),
        "BROADCAST_TO": Limits(constant=(1,)),
    },
    custom=frozenset({"TFLite_Detection_PostProcess"}),
)
