"""Ops of real numbers without an integer kernel in LiteRT, as others that have one and give the same.

A model in floating point is rewritten before its ranges are taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from litefuse.conversion.quantization.recurrent.needless_conversions import drop_unused
from litefuse.litert.export.editor import GraphEditor, editors_of
from litefuse.litert.runtime.model_tables import ACTIVATIONS
from litefuse.litert.runtime.schema_objects import made, set_options
from litefuse.litert.targets import TargetTraits


def write_equal_ops(model: Any, bits: int, kept: Container[str], traits: TargetTraits) -> bool:
    """Rewrites ops of float32 without an integer kernel, or without a fast one; returns whether there were any::

        %y = neg(%x)                 -->  %y = mul(%x, -1)
        %y = square(%x)              -->  %y = mul(%x, %x)
        %z = add_n(%a, %b, %c)       -->  %z = add(add(%a, %b), %c)

    where activations are int16, or int8 that XNNPACK computes (the first one then if the squares are averaged)::

        %y = squared_difference(%a, %b)  -->  %0 = sub(%a, %b), %y = mul(%0, %0)
        %y = hard_swish(%x)          -->  %y = mul(mul(%x, relu6(add(%x, 3))), 1/6)

    and where activations are int16::

        %y = relu_n1_to_1(%x)        -->  %y = maximum(minimum(%x, 1), -1)
        %y = elu(%x)                 -->  %y = add(relu(%x), sub(exp(minimum(%x, 0)), 1))
        %y = prelu(%x, %slopes)      -->  %y = add(relu(%x), mul(minimum(%x, 0), %slopes))
        %y = log_softmax(%x)         -->  %0 = sub(%x, reduce_max(%x)), %y = sub(%0, log(sum(exp(%0))))
        %y = l2_normalization(%x)    -->  %y = mul(%x, rsqrt(maximum(sum(mul(%x, %x)), 1e-12)))
        %y = depth_to_space(%x)      -->  %y = reshape(transpose(reshape(%x)))

    Args:
        model: The model in floating point, as the schema's objects.
        bits: The bits of activations.
        kept: The names of results whose ops stay in floating point.
        traits: The target's.
    """
    changed = False
    rewrites = _OF_BITS[bits] | (_OF_XNNPACK if traits.xnnpack and bits == 8 else {})
    for graph in editors_of(model):
        for op in [*(graph.ops or ())]:
            rewrite = rewrites.get(graph.kind(op))
            if f"{graph.kind(op)} int{bits}" in traits.no_integers:
                continue
            if rewrite is None or graph.name(int(op.outputs[0])) in kept or not graph.is_type(op.outputs[0], "float32"):
                continue
            if rewrite(_Ops(graph, op), op):
                graph.remove_op(op)
                changed = True
    if changed:
        drop_unused(model)
    return changed


class _Ops:
    """Emits ops before another one, the last of which makes its result."""

    def __init__(self, graph: GraphEditor, op: Any) -> None:
        self.graph, self._op = graph, op
        self.operands = [*map(int, op.inputs)]
        self.result = int(op.outputs[0])
        self._count = 0

    def number(self, value: float) -> int:
        """Adds a scalar."""
        return self.graph.add_constant(f"{self.graph.name(self.result)}/{value:g}", np.array(value, np.float32))

    def numbers(self, values: Sequence[int]) -> int:
        """Adds a vector of int32."""
        self._count += 1
        return self.graph.add_constant(
            f"{self.graph.name(self.result)}/{self._count}_numbers", np.array(values, np.int32)
        )

    def emit(
        self, kind: str, *operands: int, like: int = -1, shape: Sequence[int] | None = None, activation: str = "NONE"
    ) -> int:
        """Emits an op whose result has the shape of the first operand, of another tensor, or a given one."""
        self._count += 1
        sizes = self.graph.shape(operands[0] if like < 0 else like) if shape is None else shape
        result = self.graph.add_tensor(f"{self.graph.name(self.result)}/{self._count}_{kind.lower()}", sizes, "float32")
        self.place(kind, operands, result, activation)
        return result

    def difference(self) -> int:
        """Returns the result of a SUB of the operands before the op: one of a later place is moved there."""
        graph, place = self.graph.ops, self.graph.ops.index(self._op)
        for number, op in enumerate(graph):
            plain = self.graph.kind(op) == "SUB" and not op.builtinOptions.fusedActivationFunction
            if plain and [*map(int, op.inputs)] == self.operands:
                if number > place:
                    graph.insert(place, graph.pop(number))
                return int(op.outputs[0])
        return self.emit("SUB", *self.operands, like=self.result)

    def place(self, kind: str, operands: Sequence[int], result: int = -1, activation: str = "NONE") -> bool:
        """Emits an op that makes the result; returns True."""
        op = self.graph.add_op(self._op, kind, operands, [self.result if result < 0 else result])
        if (options := _OPTIONS.get(kind)) is not None:
            set_options(op, made(options[0], **options[1]))
        if activation != "NONE":
            op.builtinOptions.fusedActivationFunction = _ACTIVATIONS[activation]
        return True


_ACTIVATIONS = {name: number for number, name in ACTIVATIONS.items()}
_OPTIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "ADD": ("AddOptions", {}),
    "MUL": ("MulOptions", {}),
    "SUB": ("SubOptions", {}),
    "SUM": ("ReducerOptions", {"keepDims": True}),
    "REDUCE_MAX": ("ReducerOptions", {"keepDims": True}),
}
_Rewrite: TypeAlias = Callable[[_Ops, Any], bool]


def _neg(ops: _Ops, _: Any) -> bool:
    return ops.place("MUL", [*ops.operands, ops.number(-1.0)])


def _square(ops: _Ops, _: Any) -> bool:
    return ops.place("MUL", ops.operands * 2)


def _add_n(ops: _Ops, _: Any) -> bool:
    total, *rest = ops.operands
    for operand in rest[:-1]:
        total = ops.emit("ADD", total, operand)
    return len(rest) > 0 and ops.place("ADD", [total, rest[-1]])


def _squared_difference(ops: _Ops, _: Any) -> bool:
    return ops.place("MUL", [ops.difference()] * 2)


def _variance(ops: _Ops, op: Any) -> bool:
    """Rewrites squares that are averaged: else the steps of the difference would be seen."""
    readers = {ops.graph.kind(reader) for reader in ops.graph.consumers(ops.result)}
    return bool(readers) and readers <= {"MEAN", "SUM"} and _squared_difference(ops, op)


def _hard_swish(ops: _Ops, _: Any) -> bool:
    (x,) = ops.operands
    gate = ops.emit("ADD", x, ops.number(3.0), activation="RELU6")
    return ops.place("MUL", [ops.emit("MUL", x, gate), ops.number(1 / 6)])


def _relu_n1_to_1(ops: _Ops, _: Any) -> bool:
    return ops.place("MAXIMUM", [ops.emit("MINIMUM", *ops.operands, ops.number(1.0)), ops.number(-1.0)])


def _elu(ops: _Ops, _: Any) -> bool:
    (x,) = ops.operands
    power = ops.emit("EXP", ops.emit("MINIMUM", x, ops.number(0.0)))
    return ops.place("ADD", [ops.emit("RELU", x), ops.emit("SUB", power, ops.number(1.0))])


def _prelu(ops: _Ops, _: Any) -> bool:
    x, slopes = ops.operands
    below = ops.emit("MUL", ops.emit("MINIMUM", x, ops.number(0.0)), slopes, like=ops.result)
    return ops.place("ADD", [ops.emit("RELU", x), below])


def _log_softmax(ops: _Ops, _: Any) -> bool:
    (x,), reduced = ops.operands, [*ops.graph.shape(ops.operands[0])[:-1], 1]
    below = ops.emit("SUB", x, ops.emit("REDUCE_MAX", x, ops.numbers([-1]), shape=reduced))
    total = ops.emit("SUM", ops.emit("EXP", below), ops.numbers([-1]), shape=reduced)
    return ops.place("SUB", [below, ops.emit("LOG", total)])


def _l2_normalization(ops: _Ops, _: Any) -> bool:
    (x,), reduced = ops.operands, [*ops.graph.shape(ops.operands[0])[:-1], 1]
    total = ops.emit("SUM", ops.emit("MUL", x, x), ops.numbers([-1]), shape=reduced)
    return ops.place("MUL", [x, ops.emit("RSQRT", ops.emit("MAXIMUM", total, ops.number(1e-12)))])


def _depth_to_space(ops: _Ops, op: Any) -> bool:
    return _moved_blocks(ops, int(op.builtinOptions.blockSize), apart=False)


def _space_to_depth(ops: _Ops, op: Any) -> bool:
    return _moved_blocks(ops, int(op.builtinOptions.blockSize), apart=True)


def _moved_blocks(ops: _Ops, block: int, *, apart: bool) -> bool:
    (x,) = ops.operands
    shape, result = ops.graph.shape(x), ops.graph.shape(ops.result)
    if len(shape) != _RANK or any(size < 0 for size in (*shape[1:], *result[1:])) or math.prod(shape[1:]) == 0:
        return False
    batch, height, width, depth = shape
    split = (batch, height, width, block, block, depth // block**2)
    if apart:
        split = (batch, height // block, block, width // block, block, depth)
    order = (0, 1, 3, 2, 4, 5)  # either way
    blocks = ops.emit("RESHAPE", x, ops.numbers(split), shape=split)
    moved = ops.emit("TRANSPOSE", blocks, ops.numbers(order), shape=[split[axis] for axis in order])
    return ops.place("RESHAPE", [moved, ops.numbers(result)])


_RANK = 4
_OF_ALL: dict[str, _Rewrite] = {"ADD_N": _add_n, "NEG": _neg, "SQUARE": _square}
_OF_XNNPACK: dict[str, _Rewrite] = {"HARD_SWISH": _hard_swish, "SQUARED_DIFFERENCE": _variance}
_OF_BITS: Mapping[int, dict[str, _Rewrite]] = {
    8: _OF_ALL,
    16: {
        **_OF_ALL,
        "DEPTH_TO_SPACE": _depth_to_space,
        "ELU": _elu,
        "HARD_SWISH": _hard_swish,
        "L2_NORMALIZATION": _l2_normalization,
        "LOG_SOFTMAX": _log_softmax,
        "PRELU": _prelu,
        "RELU_N1_TO_1": _relu_n1_to_1,
        "SPACE_TO_DEPTH": _space_to_depth,
        "SQUARED_DIFFERENCE": _squared_difference,
    },
}
