"""Where the integer form of a model rounds: the ranges of its activations, and the weights of its products."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litefuse.frontends.quantization_aware.tracing import Step, Trace, Value

# Products with weights, their last argument.
_PRODUCTS = frozenset({"Conv", "ConvTranspose", "DepthwiseConv", "Einsum", "Matmul"})
# Ops that have fused activations, as products do.
_ARITHMETIC = frozenset({"Add", "Multiply", "Subtract"})
_NORMALIZATION = "BatchNormalization"
_CLIPPING = frozenset({"Clip", "ReLU", "Relu", "Relu6"})
# Ops that give numbers that they take, in the steps of their operand.
_MOVING = frozenset(
    {
        *("BroadcastTo", "Cast", "ConvertToTensor", "Copy", "DepthToSpace", "ExpandDims", "Flip", "GetItem"),
        *("Identity", "Max", "MaxPool", "Min", "Moveaxis", "Pad", "Ravel", "Repeat", "Reshape", "Slice"),
        *("Split", "Squeeze", "StopGradient", "SwapAxes", "Swapaxes", "Take", "Tile", "Transpose", "Unstack"),
    }
)
# Ops that average, in the steps of their operand.
_AVERAGES = frozenset({"AveragePool"})
# Ops whose operands have one range, that of the result.
_JOINING = frozenset({"Concatenate", "Maximum", "Minimum", "Stack"})
_SAME = _MOVING | _AVERAGES | _JOINING
# Ops whose result has a certain scale and zero point in LiteRT's kernels: the ends of its range.
_FIXED: Mapping[str, tuple[float, float]] = {
    "LogSoftmax": (-255 / 16, 0.0),
    "Sigmoid": (0.0, 255 / 256),
    "Softmax": (0.0, 255 / 256),
    "Tanh": (-1.0, 127 / 128),
}
# All with integer kernels.
_KNOWN = frozenset(
    {
        *(*_PRODUCTS, *_ARITHMETIC, *_CLIPPING, *_SAME, *_FIXED, _NORMALIZATION),
        *("Absolute", "Elu", "Exp", "Gelu", "HardSilu", "LeakyRelu", "Mean", "Rsqrt", "Square", "Sum"),
    }
)


@dataclass(eq=False)
class Range:
    """The ends of what a tensor is clipped to before it is rounded to 8 bits.

    Attributes:
        ends: The ends if the op defines them; None if training observes them.
    """

    ends: tuple[float, float] | None = None


@dataclass
class Placement:
    """Where values are rounded.

    Attributes:
        ranges: The ranges, in the order of the steps.
        grids: The range that a value is rounded to, by itself or as the operand that an op gives on.
        rounded: The values to round when they have been computed, and whether they move their range.
        weights: The weights that a step rounds. From the given axis on, each element of the axes has a range of its own;
            with None, all have one.
        products: For a normalization that stands alone: the range of its product, which it adds to.
        floats: The names of calls that the integer form computes in floats.
        kept: The names of the calls that were to stay in floats.
    """

    ranges: list[Range] = field(default_factory=list[Range])
    grids: dict[Value, Range] = field(default_factory=dict[Value, Range])
    rounded: dict[Value, bool] = field(default_factory=dict[Value, bool])
    weights: dict[tuple[Step, Value], int | None] = field(default_factory=dict[tuple[Step, Value], int | None])
    products: dict[Step, Range] = field(default_factory=dict[Step, Range])
    floats: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])


def placement_of(keras: Any, trace: Trace, keep_float: str | None) -> Placement:
    """Places fake quantization where litefuse's integer form has QUANTIZE, or the end of a fused op.

    Args:
        keras: The package.
        trace: The calls of the model.
        keep_float: A regular expression that matches the names of calls to leave in floats.
    """
    return _Placing(keras, trace, re.compile(keep_float) if keep_float else None).placement


class _Placing:
    def __init__(self, keras: Any, trace: Trace, keep_float: re.Pattern[str] | None) -> None:
        self.placement = Placement()
        self._keras, self._keep = keras, keep_float
        self._outputs = {leaf for leaf in keras.tree.flatten(trace.outputs) if isinstance(leaf, Value)}
        self._users: dict[Value, list[Step]] = {}
        for step in trace.steps:
            for value in self._inputs(step):
                self._users.setdefault(value, []).append(step)
        # What is rounded by the op that follows: products, and other ops that fuse an activation.
        self._open: dict[Value, bool] = {}
        for value in keras.tree.flatten(trace.args):
            if value.is_activation:
                self._round(value)
        for step in trace.steps:
            self._place(step)

    def _inputs(self, step: Step) -> list[Value]:
        leaves = self._keras.tree.flatten((step.args, dict(step.kwargs)))
        return [leaf for leaf in leaves if isinstance(leaf, Value)]

    def _place(self, step: Step) -> None:
        results = [value for value in step.outputs if value.is_activation]
        if not results:
            return
        placement, constants = self.placement, self._constants(step)
        activations = [value for value in self._inputs(step) if value.is_activation]
        kept = self._keep is not None and self._keep.search(step.name) is not None
        if kept:
            placement.kept.append(step.name)
        extends = len(activations) == 1 and activations[0] in self._open
        product = bool(constants) and step.kind in _PRODUCTS or (extends and self._open[activations[0]])
        grids = {placement.grids.get(value) for value in activations}
        if step.kind == "Take" and constants and not kept:
            placement.weights.update(dict.fromkeys(((step, table) for table in constants), None))
            return
        if activations and len(grids) == 1 and (step.kind in _SAME or step.keeps_input):
            self._keep_range(results, grids.pop(), rounds=step.kind in _AVERAGES)
            return
        if kept and not product:
            return
        if not kept and step.kind in _PRODUCTS:
            placement.weights.update({(step, weights): _first_channel_axis(step, weights) for weights in constants})
        elif not kept and step.kind in _ARITHMETIC and not extends:
            placement.weights.update(dict.fromkeys(((step, operand) for operand in constants), None))
        elif step.kind == _NORMALIZATION and not extends:
            placement.products[step] = self._range()
        elif step.kind not in _KNOWN:
            placement.floats.append(step.name)
        if step.kind in _FIXED:
            self._round(results[0], _FIXED[step.kind])
        elif not self._left_open(step, results[0], product=product):
            for value in results:
                self._round(value)

    def _left_open(self, step: Step, result: Value, *, product: bool) -> bool:
        """Whether the only user of a result is fused with its op, or gives it the range of its own result."""
        users = self._users.get(result, [])
        if len(users) != 1 or result in self._outputs:
            return False
        user = users[0]
        fuses = step.kind in (*_PRODUCTS, *_ARITHMETIC, _NORMALIZATION)
        others = [value for value in self._inputs(user) if value is not result]
        scales = user.kind == _NORMALIZATION or (
            user.kind in _ARITHMETIC and user.args[0] is result and all(value.constant for value in others)
        )
        if fuses and (_clips(user) or (product and scales)):
            self._open[result] = product
            return True
        return user.kind in _JOINING

    def _keep_range(self, results: Sequence[Value], grid: Range | None, *, rounds: bool) -> None:
        if grid is not None:
            self.placement.grids.update(dict.fromkeys(results, grid))
            self.placement.rounded.update(dict.fromkeys(results if rounds else (), False))

    def _range(self, ends: tuple[float, float] | None = None) -> Range:
        self.placement.ranges.append(Range(ends))
        return self.placement.ranges[-1]

    def _round(self, value: Value, ends: tuple[float, float] | None = None) -> None:
        self.placement.grids[value] = self._range(ends)
        self.placement.rounded[value] = ends is None

    def _constants(self, step: Step) -> list[Value]:
        return [value for value in self._inputs(step) if value.constant and value.dtype == "float32"]


def _clips(step: Step) -> bool:
    if step.kind == "ReLU":
        operation: Any = step.function
        return not operation.negative_slope and not operation.threshold
    return step.kind in _CLIPPING


def _first_channel_axis(step: Step, weights: Value) -> int | None:
    """Returns the axis of weights that begins their output channels; None if they have one range for all."""
    rank = len(weights.shape)
    if step.args[-1] is not weights:
        return None
    if step.kind == "Einsum":
        function: Any = step.function
        subscripts: str = getattr(function, "subscripts", None) or function.args[0]
        operands, _, result = subscripts.replace(" ", "").partition("->")
        kept = [letter in result and letter not in operands.split(",")[0] for letter in operands.split(",")[-1]]
        return kept.index(True) if kept == sorted(kept) and any(kept) else None
    return {"Conv": rank - 1, "DepthwiseConv": rank - 2}.get(step.kind, 1 if step.kind == "Matmul" and rank == 2 else None)
