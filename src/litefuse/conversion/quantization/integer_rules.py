"""How LiteRT's integer kernels take their numbers: the ops that litert-quantizer leaves in floating point.

Source: the kernels in ``tflite/kernels`` of LiteRT, and ``tflite/converter/tools/optimize/operator_property.cc``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from litefuse.litert.export.editor import Scale
from litefuse.litert.runtime.custom_op import CustomOp, find_kernel
from litefuse.litert.runtime.schema_objects import op_name

Scales: TypeAlias = Literal["own", "result", "alike"]
"""Whether each operand has a scale of its own, that of the result, or one that all of them have."""


class IntegerRule(NamedTuple):
    """The form of an op that its integer kernel takes.

    Attributes:
        bits: The bits of activations.
        scales: The scales of its operands.
        operands: The positions of activations among the operands, the first one first; None for all of them.
        results: How many results are activations; None for all of them.
        fixed: The scale that the result must have, by bits.
        wide: The bits of those activations that it takes as int32 only.
        same_scales: The results that have the scale of an operand, and that operand, by position.
    """

    bits: frozenset[int]
    scales: Scales = "own"
    operands: tuple[int, ...] | None = (0,)
    results: int | None = None
    fixed: Mapping[int, Scale] = MappingProxyType({})
    wide: frozenset[int] = frozenset()
    same_scales: Mapping[int, int] = MappingProxyType({})


# More results than an op has.
_MANY = 1 << 10
_INT8, _BOTH = frozenset({8}), frozenset({8, 16})
_MOVES = IntegerRule(_BOTH, same_scales={0: 0})
_COMPARES = IntegerRule(_BOTH, "alike", (0, 1), 0, wide=_BOTH)
_FINDS = IntegerRule(_BOTH, "alike", (0,), 0, wide=frozenset({16}))
_BUILTIN: Mapping[str, IntegerRule] = {
    **dict.fromkeys(("ABS", "EXP", "LEAKY_RELU", "LOG", "REDUCE_PROD"), IntegerRule(_BOTH)),
    **dict.fromkeys(("ELU", "RELU_0_TO_1", "RELU_N1_TO_1"), IntegerRule(_INT8)),
    **dict.fromkeys(("BATCH_TO_SPACE_ND", "EXPAND_DIMS", "REDUCE_MAX", "REDUCE_MIN", "REVERSE_V2"), _MOVES),
    **dict.fromkeys(("SPACE_TO_BATCH_ND", "SQUEEZE", "TILE"), _MOVES),
    **dict.fromkeys(("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), IntegerRule(_INT8, same_scales={0: 0})),
    **dict.fromkeys(("GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"), _COMPARES),
    **dict.fromkeys(("ARG_MAX", "ARG_MIN"), _FINDS),
    "CUMSUM": IntegerRule(_BOTH, wide=_BOTH),
    "FILL": IntegerRule(_BOTH, operands=(1,), same_scales={0: 1}),
    "L2_NORMALIZATION": IntegerRule(_INT8, fixed={8: Scale(1 / 128)}),
    "LOG_SOFTMAX": IntegerRule(_INT8, fixed={8: Scale(1 / 16, 127)}),
    "MINIMUM": IntegerRule(_BOTH, "result", (0, 1)),
    "RELU6": IntegerRule(_BOTH, "result"),  # tflite-micro takes the one scale for the other
    "PRELU": IntegerRule(_INT8),
    "SPLIT_V": IntegerRule(_BOTH, same_scales=dict.fromkeys(range(_MANY), 0)),
    "TOPK_V2": IntegerRule(_BOTH, results=1, same_scales={0: 0}),
}


class Moving(NamedTuple):
    """How an op hands numbers on, without rounding them.

    Attributes:
        operands: The positions of the operands whose scale its results have.
        handed_on: Whether results have all numbers of an operand and none besides, a part of them, what is within
            limits, or other numbers, too.
    """

    operands: slice = slice(0, 1)
    handed_on: Literal["all", "parts", "limits", "others"] = "others"


_WHOLE, _PART, _LIMITED = Moving(handed_on="all"), Moving(handed_on="parts"), Moving(handed_on="limits")
#: The ops whose results have the scale of their operands.
MOVING: Mapping[str, Moving] = {
    **dict.fromkeys(("BROADCAST_TO", "DEPTH_TO_SPACE", "EXPAND_DIMS", "RESHAPE", "REVERSE_SEQUENCE"), _WHOLE),
    **dict.fromkeys(("REVERSE_V2", "SPACE_TO_DEPTH", "SQUEEZE", "TILE", "TRANSPOSE"), _WHOLE),
    **dict.fromkeys(("GATHER", "GATHER_ND", "SLICE", "SPLIT_V", "STRIDED_SLICE", "UNPACK"), _PART),
    "SPLIT": Moving(slice(1, 2), "parts"),
    **dict.fromkeys(("MAX_POOL_2D", "REDUCE_MAX", "REDUCE_MIN"), _LIMITED),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), Moving(slice(None), "limits")),
    **dict.fromkeys(("AVERAGE_POOL_2D", "BATCH_TO_SPACE_ND", "MIRROR_PAD", "PAD", "RESIZE_BILINEAR"), Moving()),
    **dict.fromkeys(("RESIZE_NEAREST_NEIGHBOR", "SPACE_TO_BATCH_ND", "TOPK_V2"), Moving()),
    **dict.fromkeys(("CONCATENATION", "PACK"), Moving(slice(None))),
    **dict.fromkeys(("SELECT", "SELECT_V2"), Moving(slice(1, 3))),
    **dict.fromkeys(("DYNAMIC_UPDATE_SLICE", "PADV2"), Moving(slice(0, 2))),
    "SCATTER_ND": Moving(slice(1, 2)),
}


def rule_of(model: Any, op: Any, bits: int) -> IntegerRule | None:
    """Returns what an op's kernel takes as integers of so many bits; None for none, and if the quantizer knows it."""
    code = model.operatorCodes[op.opcodeIndex]
    kind = op_name(code)
    if kind == "CUSTOM":
        name = (code.customCode or b"").decode("utf-8", "replace")
        kernel = find_kernel(name) if name else None
        return None if kernel is None or f"int{bits}" not in kernel.quantized_dtypes else _of_kernel(kernel)
    rule = _BUILTIN.get(kind)
    return rule if rule is not None and bits in rule.bits else None


def _of_kernel(kernel: type[CustomOp]) -> IntegerRule:
    return IntegerRule(_BOTH, operands=None, same_scales=kernel.same_scales)


def same_scale_pairs(op: Any, rule: IntegerRule) -> Iterator[tuple[int, int]]:
    """Yields the results of an op that have the scale of an operand, each with that operand, as indices of tensors."""
    for output, position in rule.same_scales.items():
        if output < len(op.outputs) and position < len(op.inputs):
            yield int(op.outputs[output]), int(op.inputs[position])
