"""The least version of each op in the form that it has in a file: dtypes, scales, ranks and options.

A reader refuses versions that are newer than its kernels; a version below the form's own lets an older kernel run,
which computes something else. Facts from LiteRT's tflite/converter/tools/versioning/op_version.cc. Where that leaves
int16 activations and hybrid int4 weights at the version of another form, the version here is that of the first kernel
that has theirs, or the one that the stock converter gives int16 as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from litefuse.litert.runtime.model_reader import Graph, Op

_FLOAT8 = ("FLOAT8_E4M3FN", "FLOAT8_E5M2")


class _Form:
    """An op with the tensors that it has in its graph."""

    def __init__(self, graph: Graph, op: Op) -> None:
        self._graph = graph
        self.op = op

    def _operand(self, position: int) -> int:
        return self.op.inputs[position] if position < len(self.op.inputs) else -1

    def operand_type(self, position: int) -> str:
        """Returns the schema's name of an operand's type; empty where there is none."""
        index = self._operand(position)
        return "" if index < 0 else self._graph.type_name(index)

    def result_type(self, position: int = 0) -> str:
        """Returns the schema's name of a result's type; empty where there is none."""
        return self._graph.type_name(self.op.outputs[position]) if position < len(self.op.outputs) else ""

    def shape(self, position: int) -> tuple[int | None, ...]:
        index = self._operand(position)
        return () if index < 0 else self._graph.tensor(index).shape

    def scales(self, position: int) -> Sequence[float]:
        index = self._operand(position)
        return () if index < 0 else self._graph.scales(index)

    def result_scales(self) -> Sequence[float]:
        """Returns the scales of the first result."""
        return self._graph.scales(self.op.outputs[0]) if self.op.outputs else ()

    def is_per_axis(self, position: int, axis: int) -> bool:
        """Whether an operand has a scale for each of its slices along an axis."""
        shape = self.shape(position)
        return len(shape) > axis and shape[axis] == len(self.scales(position))

    def is_sparse(self, position: int) -> bool:
        """Whether only those numbers of an operand are stored that are not 0."""
        index = self._operand(position)
        return index >= 0 and self._graph.is_sparse(index)


_Condition: TypeAlias = Callable[[_Form], bool]
_Rules: TypeAlias = Sequence[tuple[int, _Condition]]


def _types(position: int, *names: str) -> _Condition:
    """The condition that an operand is of one of these types."""
    return lambda form: form.operand_type(position) in names


def _rules(position: int, **versions: int) -> _Rules:
    """The versions that follow from the type of one operand."""
    return [(version, _types(position, name)) for name, version in versions.items()]


def _flag(field: int) -> _Condition:
    """The condition that an option, a Boolean or a number of one byte, is set."""
    return lambda form: bool(form.op.option(field, "B"))


def _rank_above(rank: int) -> _Condition:
    return lambda form: len(form.shape(0)) > rank


def _all(*conditions: _Condition) -> _Condition:
    return lambda form: all(condition(form) for condition in conditions)


def _is_hybrid(form: _Form, weights: int = 1) -> bool:
    """Whether an op computes in floats with stored integers."""
    return (
        form.operand_type(0) == "FLOAT32"
        and form.operand_type(weights) in {"INT8", "INT4"}
        and form.result_type() == "FLOAT32"
    )


def _hybrid(weights: int) -> _Condition:
    return lambda form: _is_hybrid(form, weights)


def _is_grouped(form: _Form) -> bool:
    return form.shape(0)[-1:] != form.shape(1)[-1:]


def _is_broadcast_above_4(form: _Form) -> bool:
    shapes = form.shape(0), form.shape(1)
    return shapes[0] != shapes[1] and max(map(len, shapes)) > 4


def _is_upscaled(form: _Form) -> bool:
    """Whether the scales of a product multiply its integers by 1 or more."""
    first, second, result = form.scales(0), form.scales(1), form.result_scales()
    return bool(first and second and result) and first[0] * second[0] >= result[0]


def _is_plain_int16(form: _Form) -> bool:
    return form.operand_type(0) == "INT16" and not form.scales(0)


def _recurrent(asymmetric: int, weights: int = 1) -> _Rules:
    """The rules of ops whose hybrid form has another version where it quantizes activations asymmetrically."""
    return [(3, _all(_hybrid(weights), _flag(asymmetric))), (2, _hybrid(weights))]


_CONVOLUTION: _Rules = [
    (8, _all(_types(0, "INT16"), _flag(6))),
    (8, lambda form: _is_hybrid(form) and form.operand_type(1) == "INT4"),  # up to 2.14, 7 is of int8 and int4 alone
    (6, _is_grouped),
    (4, _types(0, "INT16")),
    (7, _types(1, "INT4")),
    (3, _types(0, "INT8")),
    (5, lambda form: _is_hybrid(form) and form.is_per_axis(1, 0)),
    (2, _is_hybrid),
]
_DEPTHWISE: _Rules = [
    (5, _types(0, "INT16")),
    (7, _types(1, "INT4")),
    (6, lambda form: _is_hybrid(form) and form.is_per_axis(1, 3)),
    (4, _is_hybrid),
    (3, _types(0, "INT8")),
    (2, lambda form: form.op.option(5, default=1) != 1 or form.op.option(6, default=1) != 1),
]
_FULLY_CONNECTED: _Rules = [
    (14, _types(1, "INT2")),
    (13, _all(_types(0, "INT16"), _types(1, "INT4"))),
    (12, lambda form: _is_hybrid(form) and form.is_per_axis(1, 0)),
    # Up to 2.16, what keeps more than two dimensions in int16 takes the first scale of its weights for all.
    (12, lambda form: _all(_types(0, "INT16"), _flag(2), _rank_above(2))(form) and form.is_per_axis(1, 0)),
    (11, _all(_types(0, "INT16"), _flag(4))),
    (10, _types(1, "INT4")),
    (8, lambda form: form.is_sparse(1)),
    (7, _types(0, "INT16")),
    (9, _all(_is_hybrid, _flag(3))),
    (6, lambda form: len(form.op.inputs) == 2),
    (5, _flag(2)),
    (4, _types(0, "INT8")),
    (3, _is_hybrid),
    (2, _flag(1)),
]
_TO_AND_FROM_BATCH: _Rules = [
    (4, _types(0, "INT16")),
    (3, lambda form: len(form.shape(0)) != 4),
    (2, _types(0, "INT8")),
]
_PADDING: _Rules = [(6, _types(0, *_FLOAT8)), (5, _types(0, "BOOL")), (4, _rank_above(4)), *_rules(0, INT16=3, INT8=2)]
_EXTREME: _Rules = [(4, _types(0, "INT16")), (3, _is_broadcast_above_4), (2, _types(0, "INT8"))]
_RESIZED: _Rules = [(4, _types(0, "INT16"))]
_BY_INT8 = _rules(0, INT8=2)
_BY_INTEGER = _rules(0, INT16=3, INT8=2)
_BY_EITHER = _rules(0, INT16=2, INT8=2)

_RULES: Mapping[str, _Rules] = MappingProxyType(
    {
        "ABS": [(5, _types(0, "INT32")), (4, _is_plain_int16), *_rules(0, INT16=3, INT8=2, UINT8=2)],
        "ADD": [
            (6, _types(0, "FLOAT16")),
            (5, _is_plain_int16),
            (4, _types(0, "INT64")),
            (3, lambda form: form.operand_type(0) == "INT16" and not form.op.option(1, "B", 1)),
            (2, _types(0, "INT8")),
        ],
        **dict.fromkeys(("ARG_MAX", "ARG_MIN"), _rules(0, BOOL=3, INT8=2)),
        **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), _BY_INTEGER),
        "BATCH_MATMUL": [*_BY_INTEGER, (4, _all(_is_hybrid, _flag(2)))],
        **dict.fromkeys(("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND"), _TO_AND_FROM_BATCH),
        "BIDIRECTIONAL_SEQUENCE_LSTM": _recurrent(5),
        "BIDIRECTIONAL_SEQUENCE_RNN": _recurrent(3),
        "BROADCAST_TO": [(4, _types(0, *_FLOAT8)), *_rules(0, INT8=3, INT16=3), (2, lambda _: True)],
        "CAST": [
            (version, lambda form, names=names: bool({form.operand_type(0), form.result_type()} & names))
            for version, names in (
                (9, {*_FLOAT8}),
                (8, {"INT2", "UINT4"}),
                (7, {"BFLOAT16"}),
                (6, {"INT4"}),
                (5, {"FLOAT64", "FLOAT16"}),
                (4, {"UINT16"}),
                (3, {"INT8"}),
                (2, {"UINT32"}),
            )
        ],
        "CONCATENATION": [(7, _types(0, *_FLOAT8)), *_rules(0, FLOAT16=6, INT4=5, UINT32=4, INT16=3, INT8=2)],
        "CONV_2D": _CONVOLUTION,
        **dict.fromkeys(("COS", "SIN"), _rules(0, FLOAT16=2)),
        "DEPTHWISE_CONV_2D": _DEPTHWISE,
        "DEQUANTIZE": [
            (9, _types(0, *_FLOAT8)),
            *_rules(0, UINT4=8, INT2=7, INT4=6, INT16=3, FLOAT16=3),
            (5, lambda form: form.operand_type(0) == "INT8" and len(form.scales(0)) > 1),
            (2, _types(0, "INT8")),
        ],
        "DIV": [(2, _is_broadcast_above_4)],
        "DYNAMIC_UPDATE_SLICE": [*_rules(0, BFLOAT16=6, INT4=5, INT16=4, FLOAT16=3), (2, _types(2, "INT64"))],
        "EMBEDDING_LOOKUP": [
            (5, _types(1, "INT2")),
            (4, lambda form: form.operand_type(1) == "INT4" or (len(form.scales(1)) > 1 and form.is_per_axis(1, 0))),
        ],
        "EQUAL": _rules(0, INT16=5, STRING=3, INT8=2),
        **dict.fromkeys(("EXP", "LOG", "REDUCE_PROD", "SQRT"), _BY_EITHER),
        "FAKE_QUANT": [(2, _flag(3))],
        "FILL": [(5, _types(1, *_FLOAT8)), *_rules(1, FLOAT16=4, INT8=3, INT16=3, BOOL=2, STRING=2)],
        "FLOOR_DIV": _rules(0, INT16=3, INT8=3, FLOAT32=2),
        "FLOOR_MOD": _BY_EITHER,
        "FULLY_CONNECTED": _FULLY_CONNECTED,
        "GATHER": [
            (8, _types(0, *_FLOAT8)),
            (7, _types(0, "INT4")),
            (6, _types(1, "INT16")),
            (5, lambda form: form.op.option(1) != 0),
            *_rules(0, INT16=4, BOOL=3, INT8=2),
        ],
        "GATHER_ND": [
            (6, _types(0, *_FLOAT8)),
            (5, _types(0, "BOOL")),
            (4, _types(1, "INT16")),
            *_rules(0, INT16=3, STRING=2),
        ],
        "GELU": _rules(0, FLOAT16=3, INT16=2, INT8=2, UINT8=2),
        **dict.fromkeys(("LESS", "GREATER_EQUAL"), _BY_INTEGER),
        "L2_NORMALIZATION": [(2, lambda form: form.result_type() == "INT8")],
        "LEAKY_RELU": _rules(0, INT16=2),
        "LSTM": [(2, lambda form: form.op.option(3, "b") == 1), (4, _all(_hybrid(2), _flag(4))), (3, _hybrid(2))],
        **dict.fromkeys(("MAXIMUM", "MINIMUM"), _EXTREME),
        **dict.fromkeys(("MEAN", "MIRROR_PAD", "REDUCE_MAX", "REDUCE_MIN", "RELU6", "RSQRT"), _BY_INTEGER),
        "MUL": [
            (8, _types(0, "FLOAT16")),
            (7, lambda form: form.operand_type(0) == "UINT32" or _is_plain_int16(form)),
            *_rules(0, COMPLEX64=6, INT64=5, INT16=4),
            (3, _is_upscaled),
            (2, _types(0, "INT8")),
        ],
        "NOT_EQUAL": _rules(0, INT16=4, STRING=3, INT8=2),
        "PACK": [(5, _types(0, *_FLOAT8)), *_rules(0, UINT32=4, INT16=3, INT8=2)],
        **dict.fromkeys(("PAD", "PADV2"), _PADDING),
        "QUANTIZE": [
            (5, lambda form: "UINT4" in {form.operand_type(0), form.result_type()}),
            (4, lambda form: "INT4" in {form.operand_type(0), form.result_type()}),
            (3, lambda form: len(form.result_scales()) > 1),
            (2, lambda form: form.result_type() == "INT16"),
        ],
        "RANGE": _rules(0, INT64=2),
        "RELU": _rules(0, INT16=3, INT8=2, UINT8=2),
        "RESIZE_BILINEAR": [*_RESIZED, (3, _flag(3)), *_BY_INT8],
        "RESIZE_NEAREST_NEIGHBOR": [*_RESIZED, (3, _flag(0)), (3, _flag(1)), *_BY_INT8],
        "REVERSE_V2": [(4, _types(0, *_FLOAT8)), *_rules(0, INT8=3, BOOL=2)],
        "RNN": _recurrent(1),
        "SELECT": [
            (4, _types(1, "UINT32")),
            (3, lambda form: any(len(form.shape(position)) == 5 for position in range(3))),
            (2, _types(1, "INT8")),
        ],
        "SELECT_V2": [(2, _types(1, "UINT32"))],
        "SIGN": _rules(0, INT32=2),
        "SLICE": [*_rules(0, FLOAT16=8, INT4=7, UINT32=6), (5, _rank_above(4)), *_rules(0, INT16=4, STRING=3, INT8=2)],
        "SOFTMAX": _rules(0, FLOAT16=4, INT16=3, INT8=2),
        **dict.fromkeys(
            ("DEPTH_TO_SPACE", "GREATER", "LESS_EQUAL", "LOG_SOFTMAX", "SPACE_TO_DEPTH", "SQUARED_DIFFERENCE", "SUM"),
            _BY_EITHER,
        ),
        "SPARSE_TO_DENSE": _rules(2, INT8=3, UINT8=3, INT64=2),
        "SPLIT": [(5, _types(1, *_FLOAT8)), *_rules(1, INT16=4, INT32=3, INT8=2)],
        "SPLIT_V": [(3, _types(0, *_FLOAT8)), *_BY_INT8],
        "SQUEEZE": _rules(0, STRING=2),
        "STRIDED_SLICE": [
            (8, _flag(5)),
            (7, _types(0, "UINT32")),
            (6, lambda form: form.op.option(2) != 0 or form.op.option(3) != 0),
            (5, _types(0, "STRING")),
            (4, _rank_above(4)),
            *_rules(0, BOOL=3, INT16=2, INT8=2),
        ],
        "SUB": [
            (5, lambda form: form.operand_type(0) == "INT16" and not form.op.option(1, "B", 1)),
            (4, _types(0, "INT64")),
            (3, _is_broadcast_above_4),
            (2, _types(0, "INT8")),
        ],
        "SVDF": [(3, _types(0, "INT8")), (4, _all(_is_hybrid, _flag(2))), (2, _is_hybrid)],
        **dict.fromkeys(("TANH", "LOGISTIC"), _BY_INTEGER),
        "TILE": _rules(0, INT16=3, INT8=3, STRING=2),
        "TOPK_V2": [
            (3, lambda form: "INT16" in {form.operand_type(0), form.operand_type(1), form.result_type(1)}),
            (2, _types(0, "INT8")),
        ],
        "TRANSPOSE": [
            (9, _types(0, "FLOAT16")),
            (8, lambda form: len(form.shape(0)) > 6 or form.operand_type(0) == "BFLOAT16"),
            (7, _types(0, "INT4")),
            (6, _rank_above(5)),
            (5, _types(0, "INT16")),
            (4, _rank_above(4)),
            *_rules(0, BOOL=3, INT8=2),
        ],
        "TRANSPOSE_CONV": [
            (5, _all(_types(2, "INT16"), _flag(4))),
            (5, _all(_types(2, "FLOAT32"), _types(1, "INT8", "INT4"))),  # 2.17 is the first to have it
            (4, _flag(3)),
            (3, lambda form: form.operand_type(3) != ""),
            (2, _types(1, "INT8")),
        ],
        "UNIDIRECTIONAL_SEQUENCE_LSTM": [(4, _flag(5)), *_recurrent(4, weights=2)],
        "UNIDIRECTIONAL_SEQUENCE_RNN": _recurrent(2),
        "UNPACK": [(6, _types(0, *_FLOAT8)), *_rules(0, BFLOAT16=5, FLOAT16=5, INT16=4, BOOL=3, INT8=2, UINT8=2)],
        "WHERE": [(1, _types(0, "BOOL")), (2, lambda _: True)],
    }
)


def types_of(graph: Graph, op: Op) -> tuple[str, str]:
    """Returns the schema's names of the types of an op's first operand and its first result; empty without one."""
    form = _Form(graph, op)
    return form.operand_type(0), form.result_type()


def least_version(graph: Graph, op: Op) -> int:
    """Returns the least version of an op in the form that it has.

    Returns:
        The version; 1 for an op that has had no other.
    """
    form = _Form(graph, op)
    return next((version for version, applies in _RULES.get(op.name, ()) if applies(form)), 1)
