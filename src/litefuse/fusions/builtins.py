"""Result dtypes and default attributes of LiteRT's builtin ops.

The result shapes are those of ``litefuse.ir.ops.rules.litert``.
Source: the operators of https://www.tensorflow.org/mlir/tfl_ops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from litefuse.support.records import Record

Dtypes: TypeAlias = "Callable[[Sequence[str], Mapping[str, Any]], list[str]]"
"""Returns the result dtypes, given the operands' dtypes and the attributes."""


class Builtin(Record):
    """A builtin op.

    Attributes:
        dtypes: The dtypes of its results.
        defaults: Its attributes with their default values; lists hold int64, a float is a float32, an int an int32.
        alike: Whether its operands must have the same dtype.
        constants: The operands that must be constants because the result shapes depend on them: index and description.
    """

    dtypes: Dtypes
    defaults: Mapping[str, Any]
    alike: bool = False
    constants: Mapping[int, str] = field(default_factory=dict[int, str])


def _of_operand(index: int) -> Dtypes:
    return lambda operands, _: [operands[index]]


def _of_attribute(name: str) -> Dtypes:
    return lambda _, attributes: [attributes[name]]


def _always(*dtypes: str) -> Dtypes:
    return lambda _operands, _attributes: list(dtypes)


def _parts(index: int, count: str) -> Dtypes:
    """Parts of an operand, of which an attribute says how many there are."""
    return lambda operands, attributes: [operands[index]] * attributes[count]


def _top_k(operands: Sequence[str], _: Mapping[str, Any]) -> list[str]:
    return [operands[0], "int32"]


_SAME, _BOOL = _of_operand(0), _always("bool")

_ACTIVATION = {"fused_activation_function": "NONE"}
_KEEP = {"keep_dims": False}
_STRIDES = {"padding": "SAME", "stride_h": 1, "stride_w": 1, **_ACTIVATION}
_DILATIONS = {"dilation_h_factor": 1, "dilation_w_factor": 1}
_AXES, _AXIS, _SHAPE, _PADDINGS = {1: "axes"}, {1: "the axis"}, {1: "the new shape"}, {1: "the paddings"}
_RESIZE = {"align_corners": False, "half_pixel_centers": False}

#: The ops by LiteRT's name.
BUILTINS: Mapping[str, Builtin] = {
    **dict.fromkeys(
        (
            *("ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "HARD_SWISH", "LOG", "LOGICAL_NOT", "LOGISTIC"),
            *("LOG_SOFTMAX", "NEG", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "REVERSE_V2", "ROUND"),
            *("RSQRT", "SIGN", "SIN", "SQRT", "SQUARE", "TANH", "ZEROS_LIKE", "DYNAMIC_UPDATE_SLICE"),
        ),
        Builtin(_SAME, {}),
    ),
    "ATAN2": Builtin(_SAME, {}, alike=True),
    "CUMSUM": Builtin(_SAME, {"exclusive": False, "reverse": False}),
    "GELU": Builtin(_SAME, {"approximate": False}),
    "L2_NORMALIZATION": Builtin(_SAME, _ACTIVATION),
    "LEAKY_RELU": Builtin(_SAME, {"alpha": 0.2}),
    "SOFTMAX": Builtin(_SAME, {"beta": 1.0}),
    **dict.fromkeys(("ADD", "DIV", "MUL", "SUB"), Builtin(_SAME, _ACTIVATION, alike=True)),
    **dict.fromkeys(
        (
            *("BITWISE_XOR", "FLOOR_DIV", "FLOOR_MOD", "LOGICAL_AND", "LOGICAL_OR", "MAXIMUM", "MINIMUM"),
            *("POW", "PRELU", "RIGHT_SHIFT", "SQUARED_DIFFERENCE"),
        ),
        Builtin(_SAME, {}, alike=True),
    ),
    **dict.fromkeys(
        ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"), Builtin(_BOOL, {}, alike=True)
    ),
    "SELECT_V2": Builtin(_of_operand(1), {}),
    **dict.fromkeys(
        ("MEAN", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"),
        Builtin(_SAME, _KEEP, constants=_AXES),
    ),
    **dict.fromkeys(
        ("ARG_MAX", "ARG_MIN"), Builtin(_of_attribute("output_type"), {"output_type": "int32"}, constants=_AXIS)
    ),
    "TOPK_V2": Builtin(_top_k, {}, constants={1: "k"}),
    "BATCH_MATMUL": Builtin(_SAME, {"adj_x": False, "adj_y": False}),
    "FULLY_CONNECTED": Builtin(_SAME, {**_ACTIVATION, "weights_format": "DEFAULT", "keep_num_dims": False}),
    "CONV_2D": Builtin(_SAME, {**_STRIDES, **_DILATIONS}),
    "DEPTHWISE_CONV_2D": Builtin(_SAME, {**_STRIDES, **_DILATIONS, "depth_multiplier": 1}),
    **dict.fromkeys(
        ("AVERAGE_POOL_2D", "MAX_POOL_2D"), Builtin(_SAME, {**_STRIDES, "filter_height": 1, "filter_width": 1})
    ),
    "RESHAPE": Builtin(_SAME, {}, constants=_SHAPE),
    "TRANSPOSE": Builtin(_SAME, {}, constants={1: "the permutation"}),
    "SLICE": Builtin(_SAME, {}, constants={1: "begin", 2: "size"}),
    "CONCATENATION": Builtin(_SAME, {"axis": 0, **_ACTIVATION}),
    "PACK": Builtin(_SAME, {"axis": 0}),
    "UNPACK": Builtin(_parts(0, "num"), {"axis": 0, "num": 1}),
    "SPLIT": Builtin(_parts(1, "num_splits"), {"num_splits": 1}, constants={0: "the axis"}),
    "SPLIT_V": Builtin(_parts(0, "num_splits"), {"num_splits": 1}, constants={1: "the sizes", 2: "the axis"}),
    "GATHER": Builtin(_SAME, {"axis": 0, "batch_dims": 0}),
    "GATHER_ND": Builtin(_SAME, {}),
    "EXPAND_DIMS": Builtin(_SAME, {}, constants=_AXIS),
    "SQUEEZE": Builtin(_SAME, {"squeeze_dims": []}),
    **dict.fromkeys(("PAD", "PADV2"), Builtin(_SAME, {}, constants=_PADDINGS)),
    "MIRROR_PAD": Builtin(_SAME, {"mode": "REFLECT"}, constants=_PADDINGS),
    "TILE": Builtin(_SAME, {}, constants={1: "the multiples"}),
    "BROADCAST_TO": Builtin(_SAME, {}, constants=_SHAPE),
    "SHAPE": Builtin(_of_attribute("out_type"), {"out_type": "int32"}),
    "RANK": Builtin(_always("int32"), {}),
    "CAST": Builtin(_of_attribute("to"), {"to": "float32"}),
    "FILL": Builtin(_of_operand(1), {}),
    "ONE_HOT": Builtin(_of_operand(2), {"axis": -1}),
    "SPACE_TO_DEPTH": Builtin(_SAME, {"block_size": 1}),
    "DEPTH_TO_SPACE": Builtin(_SAME, {"block_size": 1}),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), Builtin(_SAME, _RESIZE, constants={1: "the size"})),
}
