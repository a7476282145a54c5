"""Writes functions of TensorFlow ops as MLIR text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

Sizes: TypeAlias = "tuple[int | None, ...]"
Argument: TypeAlias = "tuple[Sizes, str]"


class Value:
    """A value in a function: its name, sizes and dtype."""

    def __init__(self, graph: Graph, name: str, sizes: Sizes, dtype: str = "f32") -> None:
        self.graph, self.name, self.sizes, self.dtype = graph, name, sizes, dtype

    @property
    def type(self) -> str:
        return _type(self.sizes, self.dtype)

    def __add__(self, other: Value | float) -> Value:
        return self.graph.binary("AddV2", self, other)

    def __sub__(self, other: Value | float) -> Value:
        return self.graph.binary("Sub", self, other)

    def __mul__(self, other: Value | float) -> Value:
        return self.graph.binary("Mul", self, other)

    def __truediv__(self, other: Value | float) -> Value:
        return self.graph.binary("RealDiv", self, other)

    def __neg__(self) -> Value:
        return self.graph.unary("Neg", self)


class Graph:
    """Collects ops."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def op(self, name: str, operands: Sequence[Value], sizes: Sizes, dtype: str = "f32", attributes: str = "") -> Value:
        result = Value(self, f"%{len(self.lines)}", sizes, dtype)
        given = ", ".join(each.name for each in operands)
        types = ", ".join(each.type for each in operands)
        options = f" {{{attributes}}}" if attributes else ""
        self.lines.append(f'{result.name} = "tf.{name}"({given}){options} : ({types}) -> {result.type}')
        return result

    def constant(self, values: Any, dtype: str = "f32") -> Value:
        array = np.array(values)
        kind = _type(array.shape, dtype)
        text = str(array.tolist()) if dtype != "f32" else _floats(array.tolist())
        value = Value(self, f"%{len(self.lines)}", array.shape, dtype)
        self.lines.append(f'{value.name} = "tf.Const"() {{value = dense<{text}> : {kind}}} : () -> {kind}')
        return value

    def unary(self, name: str, x: Value, dtype: str | None = None) -> Value:
        return self.op(name, [x], x.sizes, dtype or x.dtype)

    def binary(self, name: str, x: Value, y: Value | float, dtype: str | None = None) -> Value:
        other = y if isinstance(y, Value) else self.constant(y, x.dtype)
        sizes = x.sizes if len(x.sizes) >= len(other.sizes) else other.sizes
        return self.op(name, [x, other], sizes, dtype or x.dtype)

    def compare(self, name: str, x: Value, y: Value | float) -> Value:
        return self.binary(name, x, y, "i1")

    def where(self, condition: Value, x: Value, y: Value | float) -> Value:
        other = y if isinstance(y, Value) else self.constant(y)
        return self.op("SelectV2", [condition, x, other], condition.sizes)

    def reduce(self, name: str, x: Value) -> Value:
        """Reduces the last axis, which stays with size 1."""
        return self.op(name, [x, self.constant(-1, "i32")], (*x.sizes[:-1], 1), attributes="keep_dims = true")

    def first(self, x: Value, count: int) -> Value:
        """Slices the first columns of rows of dynamic size, or all if there are fewer."""
        begin, end, stride = (self.constant(each, "i32") for each in ([0, 0], [0, count], [1, 1]))
        masks = "begin_mask = 3 : i64, end_mask = 1 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64"
        options = f"{masks}, shrink_axis_mask = 0 : i64"
        return self.op("StridedSlice", [x, begin, end, stride], (x.sizes[0], None), attributes=options)


Formula: TypeAlias = "Callable[[Graph, Value], Value]"


def function(name: str, argument: Argument, *formulas: Formula) -> str:
    """Returns a function as text with a result for each formula, which takes the graph and the argument."""
    graph = Graph()
    x = Value(graph, "%x", *argument)
    results = [formula(graph, x) for formula in formulas]
    types = ", ".join(each.type for each in results)
    body = "\n  ".join([*graph.lines, f"return {', '.join(each.name for each in results)} : {types}"])
    return f"func.func private @{name}({x.name}: {x.type}) -> ({types}) {{\n  {body}\n}}\n"


def _type(sizes: Sizes, dtype: str) -> str:
    shown = "".join(f"{'?' if size is None else size}x" for size in sizes)
    return f"tensor<{shown}{dtype}>"


def _floats(values: list[Any] | float) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_floats, values))}]"
    return f"0x{np.float32(values).view(np.uint32):08X}"
