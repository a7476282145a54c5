"""The ops that OpenVINO's frontend for LiteRT files has.

Measured by loading a model of each op of LiteRT's schema (OpenVINO 2026.4): one that it lacks is reported before
anything else.
"""

from __future__ import annotations

from litefuse.litert.targets.table import Limits, OpTable

__all__ = ["OPENVINO_OPS"]

_ANY = (
    *("ABS", "ADD", "ADD_N", "ARG_MAX", "ARG_MIN", "AVERAGE_POOL_2D", "BATCH_MATMUL", "BATCH_TO_SPACE_ND"),
    *("BROADCAST_ARGS", "BROADCAST_TO", "CAST", "CEIL", "COMPLEX_ABS", "CONCATENATION", "CONV_2D", "CONV_3D", "COS"),
    *("CUMSUM", "DENSIFY", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DEQUANTIZE", "DIV", "ELU", "EMBEDDING_LOOKUP"),
    *("EQUAL", "EXP", "EXPAND_DIMS", "FILL", "FLOOR", "FLOOR_DIV", "FLOOR_MOD", "FULLY_CONNECTED", "GATHER"),
    *("GATHER_ND", "GELU", "GREATER", "GREATER_EQUAL", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU", "LESS"),
    *("LESS_EQUAL", "LOG", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC", "LOG_SOFTMAX", "MATRIX_DIAG"),
    *("MAXIMUM", "MAX_POOL_2D", "MEAN", "MINIMUM", "MIRROR_PAD", "MUL", "NEG", "NOT_EQUAL", "ONE_HOT", "PACK", "PAD"),
    *("PADV2", "POW", "PRELU", "QUANTIZE", "RANGE", "RANK", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN"),
    *("REDUCE_PROD", "RELU", "RELU6", "RELU_0_TO_1", "RESHAPE", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"),
    *("REVERSE_SEQUENCE", "REVERSE_V2", "RFFT2D", "ROUND", "RSQRT", "SCATTER_ND", "SEGMENT_SUM", "SELECT"),
    *("SELECT_V2", "SHAPE", "SIGN", "SIN", "SLICE", "SOFTMAX", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT"),
    *("SPLIT_V", "SQRT", "SQUARE", "SQUARED_DIFFERENCE", "SQUEEZE", "STABLEHLO_COMPOSITE", "STRIDED_SLICE", "SUB"),
    *("SUM", "TANH", "TILE", "TOPK_V2", "TRANSPOSE", "TRANSPOSE_CONV", "UNIQUE", "UNPACK", "WHERE", "WHILE"),
    "ZEROS_LIKE",
)

OPENVINO_OPS = OpTable("OpenVINO 2026.4", ops={name: Limits() for name in _ANY})
