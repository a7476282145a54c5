"""Recognizes functions that JAX expands into polynomials, by their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.rules.broadcasting import ON_COMPARED
from litefuse.passes.stablehlo.translation import Translation
from litefuse.passes.stablehlo.values import repeated_number

_Array = npt.NDArray[Any]

# TensorFlow's ops, and the functions that they compute.
_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "Erf": math.erf,
    "Erfc": math.erfc,
    "Lgamma": lambda x: math.lgamma(x) if x > 0 else math.nan,
}

# An expansion has at least and at most this many ops.
_FEWEST, _MOST = 16, 500

_UNARY: Mapping[str, Callable[[_Array], _Array]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "floor": np.floor,
    "is_finite": np.isfinite,
    "log": np.log,
    "log_plus_one": np.log1p,
    "negate": np.negative,
    "not": np.logical_not,
    "sign": np.sign,
    "sine": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
}
_BINARY: Mapping[str, Callable[[_Array, _Array], _Array]] = {
    "add": np.add,
    "and": np.logical_and,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "or": np.logical_or,
    "power": np.power,
    "subtract": np.subtract,
}
_EVALUATED = frozenset({*_UNARY, *_BINARY, "compare", "select"})


def recognized(t: Translation, root: ir.Value) -> ir.Value | None:
    """Returns the op for a function of one variable that is expanded, if a value is one.

    The ops that lead to the value are followed back to each single value that they all depend on, and evaluated for
    numbers in its place. A function that agrees with one of TensorFlow's ops on all of them is that op.

    Returns:
        The op's result; None if the value is not a known function.
    """
    if t.dtype(root) != "float32":
        return None
    for source, ops in _sources(root):
        if len(ops) < _FEWEST:
            continue
        for name, inputs, expected in _expectations():
            with np.errstate(all="ignore"):
                computed = _evaluated(t, root, source, ops, inputs)
            if computed is not None and np.allclose(computed, expected, rtol=1e-4, atol=2e-7):
                return t.b.unary(name, t.value(source))
    return None


def _expectations() -> Iterator[tuple[str, _Array, _Array]]:
    for name, function in _FUNCTIONS.items():
        inputs = np.linspace(0.05 if name == "Lgamma" else -8, 8, 161, dtype=np.float32)
        yield name, inputs, np.array([function(float(x)) for x in inputs])


def _sources(root: ir.Value) -> Iterator[tuple[ir.Value, list[ir.OpView]]]:
    """Yields the values that all else depends on, with the ops between, latest first."""
    order = _positions(root)
    frontier = {root}
    ops: list[ir.OpView] = []
    while len(ops) < _MOST:
        expanded = [value for value in frontier if value in order]
        if len(frontier) - len(expanded) > 1 or not expanded:
            return
        if len(frontier) == 1 and ops:
            yield next(iter(frontier)), ops[::-1]
        latest = max(expanded, key=order.__getitem__)
        frontier.discard(latest)
        op = latest.owner
        assert not isinstance(op, ir.Block)
        ops.append(op)
        frontier.update(value for value in op.operands if repeated_number(value) is None)
        if len(frontier) == 1 and not (frontier & order.keys()):
            yield next(iter(frontier)), ops[::-1]
            return


def _positions(root: ir.Value) -> dict[ir.Value, int]:
    """Returns the positions of the ops before a value that can be evaluated."""
    positions: dict[ir.Value, int] = {}
    waiting = [root]
    seen: set[ir.Value] = set()
    while waiting and len(positions) < _MOST:
        value = waiting.pop()
        if value in seen or isinstance(value.owner, ir.Block):
            continue
        seen.add(value)
        name = value.owner.operation.name.removeprefix("stablehlo.")
        if name in _EVALUATED and len(value.owner.results) == 1:
            positions[value] = 0
            waiting.extend(value.owner.operands)
    owner = root.owner
    if isinstance(owner, ir.Block) or len(positions) < _FEWEST:
        return {}
    for index, op in enumerate(owner.operation.block.operations):
        positions.update({result: index for result in op.results if result in positions})
        if op == owner:
            break
    return positions


def _evaluated(t: Translation, root: ir.Value, source: ir.Value, ops: list[ir.OpView], inputs: _Array) -> _Array | None:
    values: dict[ir.Value, _Array] = {source: inputs}

    def number(value: ir.Value) -> _Array:
        if value not in values:
            values[value] = np.array(repeated_number(value), np.float32)
        return values[value]

    for op in ops:
        name = op.operation.name.removeprefix("stablehlo.")
        operands = [number(value) for value in op.operands]
        if name in _UNARY:
            result = _UNARY[name](*operands)
        elif name in _BINARY:
            result = _BINARY[name](*operands)
        elif name == "select":
            result = np.where(*operands)
        else:
            result = ON_COMPARED[t.direction(op)](*operands)
        values[op.results[0]] = np.asarray(result)
    return np.broadcast_to(values[root], inputs.shape)
