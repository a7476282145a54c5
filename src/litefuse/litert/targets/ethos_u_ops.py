"""The ops that Vela compiles for Ethos-U55 and Ethos-U65.

Of Vela 5.2, ``vela --supported-ops-report``: its ops, and the dtypes and constant sizes that hold for all of them.
Limits on single ops, such as on strides, are not in it.
"""

from __future__ import annotations

from litefuse.litert.targets.table import Limits, OpTable

__all__ = ["ETHOS_U_OPS"]

_ANY = (
    *("ABS", "ADD", "ARG_MAX", "AVERAGE_POOL_2D", "BATCH_MATMUL", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D"),
    *("ELU", "EXP", "EXPAND_DIMS", "FULLY_CONNECTED", "GELU", "HARD_SWISH", "LEAKY_RELU", "LOG", "LOGISTIC"),
    *("MAXIMUM", "MAX_POOL_2D", "MEAN", "MINIMUM", "MIRROR_PAD", "MUL", "NEG", "PACK", "PAD", "PADV2", "PRELU"),
    *("QUANTIZE", "REDUCE_MAX", "REDUCE_MIN", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "RESIZE_BILINEAR"),
    *("RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2", "RSQRT", "SOFTMAX", "SPLIT", "SPLIT_V", "SQUARED_DIFFERENCE"),
    *("SQUEEZE", "SUB", "SUM", "TANH", "TILE", "TRANSPOSE", "TRANSPOSE_CONV", "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    *("UNPACK"),
)

ETHOS_U_OPS = OpTable(
    "Vela 5.2's report on supported ops, for Ethos-U55",
    ops={
        **{name: Limits() for name in _ANY},
        "RESHAPE": Limits(constant=(1,)),
        "STRIDED_SLICE": Limits(constant=(1, 2, 3)),
        "SLICE": Limits(constant=(1, 2)),
    },
    every=Limits(dtypes=frozenset({"int8", "uint8", "int16", "int32"})),
)
