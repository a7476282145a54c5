"""The ops that LiteRT's GPU accelerator takes.

Read from the op parsers of its open part (ml_drift_delegate in LiteRT's repository, 2026-08), and measured with the
accelerator of ai-edge-litert 2.3.
"""

from __future__ import annotations

from litefuse.litert.targets.table import Limits, OpTable

__all__ = ["GPU_OPS"]

_ANY = (
    *("ABS", "ADD", "ADD_N", "ARG_MAX", "ATAN2", "BATCH_MATMUL", "BITCAST", "BITWISE_XOR", "CAST", "CEIL", "COS"),
    *("DEPTH_TO_SPACE", "DIV", "DYNAMIC_UPDATE_SLICE", "ELU", "EMBEDDING_LOOKUP", "EQUAL", "EXP", "FLOOR", "FLOOR_DIV"),
    *("FLOOR_MOD", "GELU", "GREATER", "GREATER_EQUAL", "HARD_SWISH", "LEAKY_RELU", "LESS", "LESS_EQUAL", "LOG"),
    *("LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC", "LSTM", "MAXIMUM", "MEAN", "MINIMUM", "MUL", "NEG"),
    *("NOT_EQUAL", "PACK", "POW", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "RELU_0_TO_1"),
    *(
        "RELU_N1_TO_1",
        "REVERSE_V2",
        "RIGHT_SHIFT",
        "ROUND",
        "RSQRT",
        "SIGN",
        "SIN",
        "SPLIT",
        "SPLIT_V",
        "SQRT",
        "SQUARE",
    ),
    *("SQUARED_DIFFERENCE", "STABLEHLO_BROADCAST_IN_DIM", "STABLEHLO_CBRT", "STABLEHLO_CLAMP", "STABLEHLO_COMPOSITE"),
    *("STABLEHLO_REMAINDER", "STABLEHLO_SHIFT_LEFT", "SUB", "SUM", "TANH", "TILE", "UNPACK"),
)

_VERSIONS = {
    "AVERAGE_POOL_2D": 2,
    "MAX_POOL_2D": 2,
    "CONCATENATION": 6,
    "CONV_2D": 6,
    "DEPTHWISE_CONV_2D": 6,
    "CUMSUM": 1,
    "DEQUANTIZE": 3,
    "ONE_HOT": 1,
    "PRELU": 1,
    "PAD": 5,
    "PADV2": 5,
    "MIRROR_PAD": 5,
    "QUANTIZE": 2,
    "RELU": 2,
    "RELU6": 2,
    "RESIZE_BILINEAR": 3,
    "RESIZE_NEAREST_NEIGHBOR": 3,
    "SELECT": 1,
    "SELECT_V2": 1,
    "SLICE": 8,
    "SOFTMAX": 4,
    "SPACE_TO_DEPTH": 2,
    "TOPK_V2": 1,
    "TRANSPOSE_CONV": 3,
    "TRANSPOSE": 9,
}

GPU_OPS = OpTable(
    "the accelerator of ai-edge-litert 2.3",
    ops={
        **{name: Limits() for name in _ANY},
        **{name: Limits(version) for name, version in _VERSIONS.items()},
        "FULLY_CONNECTED": Limits(14, computed=(0,)),
        "GATHER": Limits(ranks={1: (1,)}),
        "RESHAPE": Limits(1, constant=(1,)),
        # begin_mask and end_mask are fields 0 and 1 of StridedSliceOptions.
        "STRIDED_SLICE": Limits(
            2, constant=(1, 2, 3), unset={2: "ellipsis_mask", 3: "new_axis_mask", 4: "shrink_axis_mask"}
        ),
    },
    every=Limits(rank=4),
    variables=False,
)
