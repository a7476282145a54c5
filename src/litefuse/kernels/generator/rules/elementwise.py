"""Elementwise ops.

What they compute is what LiteRT's kernels compute, which is written in ``litefuse/arithmetic.h`` where C++'s operators
do something else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, literal, rule
from litefuse.kernels.generator.nodes import CPP_TYPES, Computed, Literal, Node
from litefuse.kernels.generator.rules.sizes import folded, moved_integers
from litefuse.kernels.generator.sizes import Size
from litefuse.litert.runtime.model_tables import ACTIVATIONS

_REAL = ("FLOAT32", "FLOAT64")
_HALF = ("FLOAT16", "BFLOAT16")
_WHOLE = ("INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64")


def needs(op: BodyOp, dtype: str, allowed: Sequence[str]) -> None:
    """Raises ``NotGenerated`` unless a type is one of those that LiteRT has the op for."""
    if dtype not in allowed:
        raise NotGenerated(f"{op.name} of {dtype}")


def _operands(graph: Graph, op: BodyOp, allowed: Sequence[str]) -> list[Node]:
    """Returns the operands of an op that LiteRT has for some types of the first one."""
    nodes = [graph.node(index) for index in op.inputs]
    needs(op, nodes[0].dtype, allowed)
    return nodes


def _function(name: str, dtype: str) -> Callable[[Sequence[str]], str]:
    return lambda texts: f"{name}<{CPP_TYPES[dtype]}>({', '.join(texts)})"


def _activation_number(op: BodyOp) -> int:
    return int(getattr(op.options, "fusedActivationFunction", 0))


def activated(graph: Graph, op: BodyOp, node: Node) -> Node:
    """Applies the activation that an op is fused with."""
    number = _activation_number(op)
    name = ACTIVATIONS.get(number, str(number))
    if name == "NONE":
        return node
    if name not in _ACTIVATIONS or node.dtype not in (*_REAL, "INT32", "INT64"):
        raise NotGenerated(f"{op.name} with the activation {name}")
    return _activation(graph, node, name)


def _activation(graph: Graph, node: Node, name: str) -> Node:
    dtype = node.dtype
    least, most = _ACTIVATIONS[name]
    low = literal(least, dtype)
    kind = CPP_TYPES[dtype]
    if most is None:
        return graph.computed(dtype, [node], lambda texts: f"AtLeast<{kind}>({texts[0]}, {low})", label="relu")
    high = literal(most, dtype)
    return graph.computed(
        dtype, [node], lambda texts: f"AtMost<{kind}>(AtLeast<{kind}>({texts[0]}, {low}), {high})", label="relu"
    )


_ACTIVATIONS: dict[str, tuple[float, float | None]] = {
    "RELU": (0, None),
    "RELU6": (0, 6),
    "RELU_N1_TO_1": (-1, 1),
    "RELU_0_TO_1": (0, 1),
}


@rule("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", takes="x")
def _relu(graph: Graph, op: BodyOp) -> Node:
    (source,) = _operands(graph, op, _REAL)
    return _activation(graph, source, op.name)


_ARITHMETIC = {"ADD": ("+", "Add"), "SUB": ("-", "Subtract"), "MUL": ("*", "Multiply"), "DIV": ("/", "Divide")}


@rule(*_ARITHMETIC, takes="xx")
def _arithmetic(graph: Graph, op: BodyOp) -> Node:
    if not _activation_number(op) and (known := folded(graph, op)) is not None:
        return known
    left, right = _operands(graph, op, (*_REAL, *_WHOLE, "COMPLEX64") if op.name != "DIV" else (*_REAL, *_WHOLE))
    dtype = left.dtype
    sign, name = _ARITHMETIC[op.name]
    costly = op.name == "DIV"
    if dtype in (*_REAL, "COMPLEX64"):
        made = graph.computed(dtype, [left, right], lambda texts: f"({texts[0]} {sign} {texts[1]})", costly=costly)
    else:
        if op.name == "DIV":
            _check_divisor(graph, right)
        made = graph.computed(dtype, [left, right], _function(name, dtype), costly=costly)
    return activated(graph, op, made)


def _check_divisor(graph: Graph, divisor: Node) -> None:
    zero = literal(0, divisor.dtype)
    graph.check(graph.computed("BOOL", [divisor], lambda texts: f"{texts[0]} == {zero}"), "division by 0")


@rule("FLOOR_DIV", "FLOOR_MOD", takes="xx")
def _floor(graph: Graph, op: BodyOp) -> Node:
    if (known := folded(graph, op)) is not None:
        return known
    left, right = _operands(graph, op, ("FLOAT32", "INT8", "INT16", "INT32", "INT64"))
    dtype = left.dtype
    if dtype != "FLOAT32" or op.name == "FLOOR_DIV":
        _check_divisor(graph, right)
    return graph.computed(
        dtype, [left, right], _function("FloorDivide" if op.name == "FLOOR_DIV" else "FloorMod", dtype), costly=True
    )


@rule("MAXIMUM", "MINIMUM", takes="xx")
def _extreme(graph: Graph, op: BodyOp) -> Node:
    if (known := folded(graph, op)) is not None:
        return known
    left, right = _operands(graph, op, (*_REAL, *_WHOLE))
    if left is right:  # LiteRT's converter copies like this
        return graph.computed(left.dtype, [left], lambda texts: texts[0])
    return graph.computed(
        left.dtype, [left, right], _function("Larger" if op.name == "MAXIMUM" else "Smaller", left.dtype)
    )


@rule("SQUARED_DIFFERENCE", takes="xx")
def _squared_difference(graph: Graph, op: BodyOp) -> Node:
    left, right = _operands(graph, op, (*_REAL, "INT32", "INT64"))
    dtype = left.dtype
    difference = graph.computed(dtype, [left, right], _function("Subtract", dtype), label="difference")
    return _squared(graph, difference)


def _squared(graph: Graph, node: Node) -> Node:
    return graph.computed(node.dtype, [node, node], _function("Multiply", node.dtype), label="square")


_MATH = {
    name: name.capitalize()
    for name in ("EXP", "LOG", "TANH", "LOGISTIC", "SIN", "COS", "SQRT", "RSQRT", "FLOOR", "CEIL")
}


@rule(*_MATH, "ROUND", takes="x")
def _math(graph: Graph, op: BodyOp) -> Node:
    (source,) = _operands(graph, op, _REAL)
    name = _MATH.get(op.name, "Round")
    if op.name == "TANH" and (argument := _argument_of_softplus(source)) is not None:
        return graph.computed(source.dtype, [argument], lambda texts: f"math::TanhOfSoftplus({texts[0]})", costly=True)
    costly = op.name not in ("FLOOR", "CEIL", "ROUND")
    return graph.computed(source.dtype, [source], lambda texts: f"math::{name}({texts[0]})", costly=costly)


def _argument_of_softplus(node: Node) -> Node | None:
    """Returns x of log(exp(x) + 1), of which mish takes the hyperbolic tangent: one exponential function does."""
    if not isinstance(node, Computed) or node.label != "log":
        return None
    (total,) = node.args
    if not isinstance(total, Computed) or total.label != "add" or len(total.args) != 2:
        return None
    for power, one in (total.args, total.args[::-1]):
        if (
            isinstance(power, Computed)
            and power.label == "exp"
            and isinstance(one, Literal)
            and one.text in ("1.0f", "1.0")
        ):
            return power.args[0]
    return None


@rule("SQUARE", takes="x")
def _square(graph: Graph, op: BodyOp) -> Node:
    (source,) = _operands(graph, op, (*_REAL, "INT32", "INT64"))
    return _squared(graph, source)


@rule("ABS", "SIGN", takes="x")
def _absolute(graph: Graph, op: BodyOp) -> Node:
    (source,) = _operands(graph, op, (*_REAL, "INT8", "INT16", "INT32", "INT64"))
    return graph.computed(source.dtype, [source], _function("Absolute" if op.name == "ABS" else "Sign", source.dtype))


@rule("NEG", takes="x")
def _negative(graph: Graph, op: BodyOp) -> Node:
    known = moved_integers(graph, op, (0,), lambda values: values[0] * Size(-1))
    if known is not None:
        return known
    (source,) = _operands(graph, op, (*_REAL, "COMPLEX64", *_WHOLE))
    dtype = source.dtype
    if dtype in (*_REAL, "COMPLEX64"):
        return graph.computed(dtype, [source], lambda texts: f"(-{texts[0]})")
    zero = literal(0, dtype)
    return graph.computed(dtype, [source], lambda texts: f"Subtract<{CPP_TYPES[dtype]}>({zero}, {texts[0]})")


@rule("POW", takes="xx")
def _power(graph: Graph, op: BodyOp) -> Node:
    left, right = _operands(graph, op, (*_REAL, "INT32"))
    dtype = left.dtype
    if dtype == "INT32":
        negative = graph.computed("BOOL", [right], lambda texts: f"{texts[0]} < 0")
        graph.check(negative, "an integer to the power of a negative one")
    if isinstance(right, Literal) and right.text in ("2.0f", "3.0f", "2.0", "3.0"):
        square = _squared(graph, left)
        if right.text.startswith("2"):
            return graph.computed(dtype, [square, right], lambda texts: texts[0])
        return graph.computed(dtype, [square, left, right], lambda texts: f"({texts[0]} * {texts[1]})")
    return graph.computed(dtype, [left, right], _function("Power", dtype), costly=True)


@rule("ATAN2", takes="xx")
def _angle(graph: Graph, op: BodyOp) -> Node:
    left, right = _operands(graph, op, _REAL)
    return graph.computed(left.dtype, [left, right], lambda texts: f"std::atan2({texts[0]}, {texts[1]})", costly=True)


@rule("RIGHT_SHIFT", "BITWISE_XOR", takes="xx")
def _bits(graph: Graph, op: BodyOp) -> Node:
    left, right = (graph.node(index) for index in op.inputs)
    kind = left.cpp_type
    needs(op, left.dtype, ("BOOL",) * (op.name == "BITWISE_XOR") + _WHOLE)
    if op.name == "RIGHT_SHIFT":
        return graph.computed(left.dtype, [left, right], _function("ShiftRight", left.dtype))
    if left.dtype == "BOOL":
        return graph.computed(left.dtype, [left, right], lambda texts: f"({texts[0]} != {texts[1]})")
    return graph.computed(left.dtype, [left, right], lambda texts: f"static_cast<{kind}>({texts[0]} ^ {texts[1]})")


_COMPARED = {
    "EQUAL": "==",
    "NOT_EQUAL": "!=",
    "LESS": "<",
    "LESS_EQUAL": "<=",
    "GREATER": ">",
    "GREATER_EQUAL": ">=",
}


@rule(*_COMPARED, takes="xx", gives="b")
def _compared(graph: Graph, op: BodyOp) -> Node:
    if (known := folded(graph, op)) is not None:
        return known
    left, right = (graph.node(index) for index in op.inputs)
    is_ordered = op.name not in ("EQUAL", "NOT_EQUAL")
    needs(op, left.dtype, (*_REAL, *_WHOLE) if is_ordered else (*_REAL, *_WHOLE, "BOOL", "COMPLEX64"))
    sign = _COMPARED[op.name]
    return graph.computed("BOOL", [left, right], lambda texts: f"({texts[0]} {sign} {texts[1]})")


@rule("LOGICAL_AND", "LOGICAL_OR", takes="bb", gives="b")
def _logical(graph: Graph, op: BodyOp) -> Node:
    if (known := folded(graph, op)) is not None:
        return known
    # Bits, so that both sides are computed: that vectorizes.
    sign = "&" if op.name == "LOGICAL_AND" else "|"
    args = [graph.node(index) for index in op.inputs]
    return graph.computed("BOOL", args, lambda texts: f"({texts[0]} {sign} {texts[1]})")


@rule("LOGICAL_NOT", takes="b", gives="b")
def _not(graph: Graph, op: BodyOp) -> Node:
    return graph.computed("BOOL", [graph.node(op.inputs[0])], lambda texts: f"!({texts[0]})")


@rule("SELECT_V2", "SELECT", takes="bxx")
def _select(graph: Graph, op: BodyOp) -> Node:
    condition, left, right = (graph.node(index) for index in op.inputs)
    if op.name == "SELECT" and 0 < len(condition.shape) < len(left.shape):
        condition = graph.with_axes(condition, range(len(condition.shape), len(left.shape)))
    kind = left.cpp_type
    return graph.computed(
        left.dtype,
        [condition, left, right],
        lambda texts: f"({texts[0]} ? {kind}({texts[1]}) : {kind}({texts[2]}))",
    )


@rule("CAST", takes="?", gives="?")
def _cast(graph: Graph, op: BodyOp) -> Node:
    if (known := folded(graph, op)) is not None:
        return known
    source = graph.node(op.inputs[0])
    dtype = graph.tensor(op.outputs[0]).dtype
    kind = CPP_TYPES[dtype]
    plain = dtype in _REAL and source.dtype not in (*_HALF, "COMPLEX64")
    name = f"static_cast<{kind}>" if plain else f"Cast<{kind}>"
    return graph.computed(dtype, [source], lambda texts: f"{name}({texts[0]})")


@rule("LEAKY_RELU", takes="x", options="LeakyReluOptions")
def _leaky(graph: Graph, op: BodyOp) -> Node:
    (source,) = _operands(graph, op, ("FLOAT32",))
    slope = literal(op.options.alpha, source.dtype)
    return graph.computed(source.dtype, [source, source], lambda t: f"({t[0]} > 0 ? {t[0]} : {t[0]} * {slope})")


@rule("PRELU", takes="xx")
def _prelu(graph: Graph, op: BodyOp) -> Node:
    source, slopes = _operands(graph, op, ("FLOAT32",))
    return graph.computed(source.dtype, [source, slopes, source], lambda t: f"({t[0]} >= 0 ? {t[0]} : {t[0]} * {t[1]})")


@rule("ELU", takes="x")
def _elu(graph: Graph, op: BodyOp) -> Node:
    (source,) = _operands(graph, op, ("FLOAT32",))
    return graph.computed(
        source.dtype, [source, source], lambda t: f"({t[0]} < 0 ? math::Expm1({t[0]}) : {t[0]})", costly=True
    )


@rule("HARD_SWISH", takes="x")
def _hard_swish(graph: Graph, op: BodyOp) -> Node:
    (source,) = _operands(graph, op, ("FLOAT32",))
    return graph.computed(
        source.dtype,
        [source, source],
        lambda t: f"({t[0]} * AtMost<float>(AtLeast<float>({t[0]} + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f))",
    )


@rule("GELU", takes="x", options="GeluOptions")
def _gelu(graph: Graph, op: BodyOp) -> Node:
    (source,) = _operands(graph, op, ("FLOAT32",))
    name = "GeluTanh" if op.options.approximate else "Gelu"
    return graph.computed(source.dtype, [source], lambda texts: f"math::{name}({texts[0]})", costly=True)


@rule("REAL", "IMAG", takes="c", gives="f")
def _part(graph: Graph, op: BodyOp) -> Node:
    name = op.name.lower()
    return graph.computed("FLOAT32", [graph.node(op.inputs[0])], lambda texts: f"std::{name}({texts[0]})")


@rule("COMPLEX_ABS", takes="c", gives="f")
def _magnitude(graph: Graph, op: BodyOp) -> Node:
    return graph.computed(
        "FLOAT32",
        [graph.node(op.inputs[0])],
        lambda texts: f"math::Hypot(std::real({texts[0]}), std::imag({texts[0]}))",
        costly=True,
    )


@rule("ZEROS_LIKE", takes="x")
def _zeros(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    zero = literal(0, source.dtype)
    return graph.computed(source.dtype, [], lambda _: zero, shape=source.shape)


@rule("ADD_N", takes="x+")
def _sum(graph: Graph, op: BodyOp) -> Node:
    made = graph.node(op.inputs[0])
    needs(op, made.dtype, ("FLOAT32", "INT32"))
    for index in op.inputs[1:]:
        made = graph.computed(made.dtype, [made, graph.node(index)], _function("Add", made.dtype))
    return made


@rule("DEQUANTIZE", takes="?", gives="f")
def _dequantize(graph: Graph, op: BodyOp) -> Node:
    tensor, source = graph.tensor(op.inputs[0]), graph.node(op.inputs[0])
    if source.dtype == "FLOAT16":
        return graph.computed("FLOAT32", [source], lambda texts: f"Cast<float>({texts[0]})")
    if not tensor.scale or source.dtype not in ("INT8", "UINT8", "INT16"):
        raise NotGenerated(f"DEQUANTIZE of {source.dtype} with more than one scale")
    scale, zero = literal(tensor.scale, "FLOAT32"), tensor.zero_point
    return graph.computed(
        "FLOAT32", [source], lambda texts: f"({scale} * static_cast<float>(static_cast<int32_t>({texts[0]}) - {zero}))"
    )


@rule("QUANTIZE", takes="f", gives="?")
def _quantize(graph: Graph, op: BodyOp) -> Node:
    tensor, source = graph.tensor(op.outputs[0]), graph.node(op.inputs[0])
    if source.dtype != "FLOAT32" or not tensor.scale or tensor.dtype not in ("INT8", "UINT8", "INT16"):
        raise NotGenerated(f"QUANTIZE of {source.dtype} to {tensor.dtype}")
    kind, scale, zero = CPP_TYPES[tensor.dtype], literal(tensor.scale, "FLOAT32"), tensor.zero_point
    return graph.computed(
        tensor.dtype, [source], lambda texts: f"Cast<{kind}>(math::Round({texts[0]} / {scale}) + {float(zero)}f)"
    )
