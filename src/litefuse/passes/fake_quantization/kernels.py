"""The LiteRT ops that have int8 kernels, by what these demand of scales.

Source: the kernels in tflite/kernels of the LiteRT repository.
"""

from __future__ import annotations

from collections.abc import Mapping

from litefuse.passes.fake_quantization.grid import Uniform

#: Products with weights: the axis of the output channels in the weights, which may have one scale each; None for one
#: scale for all. Operand 0 is the input, 1 the weights, 2 the bias (TRANSPOSE_CONV has the shape first).
CHANNEL_AXES: Mapping[str, int | None] = {
    "tfl.batch_matmul": None,
    "tfl.conv_2d": 0,
    "tfl.depthwise_conv_2d": 3,
    "tfl.fully_connected": 0,
    "tfl.transpose_conv": 0,
}

#: Ops that take operands of any scales and give a result of any scale.
RESCALING = frozenset(
    f"tfl.{name}"
    for name in (
        *("abs", "add", "batch_matmul", "elu", "exp", "gelu", "hard_swish", "leaky_relu", "mean", "mul", "prelu"),
        *("relu", "relu6", "relu_0_to_1", "relu_n1_to_1", "rsqrt", "squared_difference", "sub", "sum"),
    )
)

#: Ops that average, in the scale of their operand.
AVERAGES = frozenset({"tfl.average_pool_2d", "tfl.resize_bilinear"})

#: Ops whose float operands and results have one scale, and the position of the first such operand.
SAME: Mapping[str, int] = {
    **dict.fromkeys(
        (
            f"tfl.{name}"
            for name in (
                *("batch_to_space_nd", "broadcast_to", "concatenation", "depth_to_space", "expand_dims", "gather"),
                *("gather_nd", "max_pool_2d", "maximum", "minimum", "mirror_pad", "pack", "pad", "padv2", "reduce_max"),
                *("reduce_min", "reshape", "resize_nearest_neighbor", "reverse_v2", "slice", "space_to_batch_nd"),
                *("space_to_depth", "split_v", "squeeze", "strided_slice", "tile", "transpose", "unpack"),
            )
        ),
        0,
    ),
    **dict.fromkeys(AVERAGES, 0),
    **dict.fromkeys(("tfl.select", "tfl.select_v2", "tfl.split"), 1),
}

#: Ops whose result has one certain scale.
FIXED: Mapping[str, Uniform] = {
    "tfl.l2_normalization": Uniform((1 / 128,), (0,)),
    "tfl.log_softmax": Uniform((16 / 256,), (127,)),
    "tfl.logistic": Uniform((1 / 256,), (-128,)),
    "tfl.softmax": Uniform((1 / 256,), (-128,)),
    "tfl.tanh": Uniform((1 / 128,), (0,)),
}
