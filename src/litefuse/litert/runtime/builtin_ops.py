"""The operands that LiteRT's builtin ops require.

The numbers are from the ops' definitions (https://www.tensorflow.org/mlir/tfl_ops) and from the checks in their
kernels; they are lower bounds, since later versions of some ops take more. Ops that are not listed, such as those of a
later runtime, are not known to require any.
"""

from __future__ import annotations

from collections.abc import Mapping

# By the least number of inputs, all of which must be present.
_BY_COUNT = {
    1: """
        ABS ADD_N AVERAGE_POOL_2D BITCAST BUCKETIZE CAST CEIL COMPLEX_ABS CONCATENATION COS DENSIFY DEPTH_TO_SPACE
        DEQUANTIZE ELU EXP FAKE_QUANT FLOOR GELU HARD_SWISH HASHTABLE_SIZE IF IMAG L2_NORMALIZATION L2_POOL_2D
        LEAKY_RELU LOCAL_RESPONSE_NORMALIZATION LOG LOGICAL_NOT LOGISTIC LOG_SOFTMAX MATRIX_DIAG MAX_POOL_2D NEG PACK
        QUANTIZE RANDOM_STANDARD_NORMAL RANDOM_UNIFORM RANK READ_VARIABLE REAL RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1
        RESHAPE ROUND RSQRT SHAPE SIGN SIN SKIP_GRAM SOFTMAX SPACE_TO_DEPTH SQRT SQUARE SQUEEZE TANH UNIQUE UNPACK WHERE
        WHILE ZEROS_LIKE
        """,
    2: """
        ADD ARG_MAX ARG_MIN ASSIGN_VARIABLE ATAN2 BATCH_MATMUL BITWISE_XOR BROADCAST_ARGS BROADCAST_TO CUMSUM DIV
        EMBEDDING_LOOKUP EQUAL EXPAND_DIMS FILL FLOOR_DIV FLOOR_MOD GATHER GATHER_ND GREATER GREATER_EQUAL LESS
        LESS_EQUAL LOGICAL_AND LOGICAL_OR LSH_PROJECTION MATRIX_SET_DIAG MAXIMUM MEAN MINIMUM MIRROR_PAD MUL MULTINOMIAL
        NOT_EQUAL PAD POW PRELU REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD RESIZE_BILINEAR
        RESIZE_NEAREST_NEIGHBOR REVERSE_SEQUENCE REVERSE_V2 RFFT2D RIGHT_SHIFT SEGMENT_SUM SPLIT SQUARED_DIFFERENCE SUB
        SUM TILE TOPK_V2 TRANSPOSE
        """,
    3: """
        BATCH_TO_SPACE_ND DILATE DYNAMIC_UPDATE_SLICE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_LOOKUP PADV2 RANGE
        SCATTER_ND SELECT SELECT_V2 SLICE SPACE_TO_BATCH_ND SPLIT_V UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_MIN
        UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_SUM
        """,
    4: "ONE_HOT SPARSE_TO_DENSE STRIDED_SLICE",
    5: "EMBEDDING_LOOKUP_SPARSE NON_MAX_SUPPRESSION_V4 REDUCE_WINDOW RNN UNIDIRECTIONAL_SEQUENCE_RNN",
    6: "NON_MAX_SUPPRESSION_V5",
}

# The positions of the inputs that must be present in ops whose other inputs, such as biases, may be omitted.
_BY_POSITION: Mapping[str, tuple[int, ...]] = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": tuple(
        position
        for first, end in ((0, 1), (2, 5), (6, 9), (13, 16), (19, 22), (23, 26), (30, 33), (35, 39))
        for position in range(first, end)
    ),
    "BIDIRECTIONAL_SEQUENCE_RNN": (*range(9),),
    "CONV_2D": (0, 1),
    "CONV_3D": (0, 1),
    "CONV_3D_TRANSPOSE": (0, 1, 2),
    "DEPTHWISE_CONV_2D": (0, 1),
    "FULLY_CONNECTED": (0, 1),
    "LSTM": (0, 2, 3, 4),
    "SVDF": (0, 1, 2, 4),
    "TRANSPOSE_CONV": (0, 1, 2),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (0, 2, 3, 4, 6, 7, 8, 13, 14, 15, 18, 19),
}

# By the op's name, the positions of the inputs that it must have, and whether all further ones must be present as well.
INPUTS: Mapping[str, tuple[tuple[int, ...], bool]] = {
    **{name: (tuple(range(count)), True) for count, names in _BY_COUNT.items() for name in names.split()},
    **{name: (positions, False) for name, positions in _BY_POSITION.items()},
}

_OTHER_OUTPUTS: Mapping[str, int] = {
    "ASSIGN_VARIABLE": 0,
    "HASHTABLE_IMPORT": 0,
    "IF": 0,
    "NON_MAX_SUPPRESSION_V4": 2,
    "NON_MAX_SUPPRESSION_V5": 3,
    "TOPK_V2": 2,
    "UNIQUE": 2,
    "WHILE": 0,
}

# By the op's name, the least number of outputs.
OUTPUTS: Mapping[str, int] = {**dict.fromkeys([*INPUTS, "HASHTABLE", "VAR_HANDLE"], 1), **_OTHER_OUTPUTS}
