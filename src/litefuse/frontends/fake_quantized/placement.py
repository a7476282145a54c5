"""Where the integer form of a model rounds: its activations and the weights of its products."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litefuse.frontends.fake_quantized.tracing import Body, Step, Trace, Value

# Products with weights, their last argument.
_PRODUCTS = frozenset({"Conv", "ConvTranspose", "DepthwiseConv", "Einsum", "Matmul"})
# Ops that have fused activations, as products do.
_ARITHMETIC = frozenset({"Add", "Multiply", "Subtract"})
_NORMALIZATION = "BatchNormalization"
_CLIPPING = frozenset({"Clip", "ReLU", "Relu", "Relu6"})
# Ops that average in the steps of their operand.
_AVERAGES = frozenset({"AveragePool"})
# Ops whose operands have one range, that of the result.
_JOINING = frozenset({"Concatenate", "Maximum", "Minimum", "Stack", "Where"})
# Ops that keep the steps of their operand.
_SAME = frozenset(
    {
        *(*_AVERAGES, *_JOINING, "BroadcastTo", "Cast", "ConvertToTensor", "Copy", "ExpandDims", "Flip", "GetItem"),
        *("Identity", "Max", "MaxPool", "Min", "Moveaxis", "Pad", "Ravel", "Repeat", "Reshape", "Slice", "Split"),
        *("Squeeze", "StopGradient", "Swapaxes", "Take", "Tile", "Transpose", "Unstack"),
    }
)
# Ops whose result has a certain scale and zero point in LiteRT's kernels, as the ends of its range.
_FIXED: Mapping[str, tuple[float, float]] = {
    "LogSoftmax": (-255 / 16, 0.0),
    "Sigmoid": (0.0, 255 / 256),
    "Softmax": (0.0, 255 / 256),
    "Tanh": (-1.0, 127 / 128),
}
# All that have integer kernels.
_KNOWN = frozenset(
    {
        *(*_PRODUCTS, *_ARITHMETIC, *_CLIPPING, *_SAME, *_FIXED, _NORMALIZATION),
        *("Absolute", "Elu", "Exp", "Gelu", "HardSilu", "LeakyRelu", "Mean", "Rsqrt", "Sum"),
    }
)


@dataclass
class Placement:
    """Where values are rounded.

    Attributes:
        ranges: The ends of the ranges that ops define; None for a range that training observes.
        grids: The index of the range that a value has, by its own rounding or by that of an operand.
        rounded: The values that are rounded when they have been computed, and whether they move their range.
        weights: The weights that a call rounds, and the axis from which on each element has a range of its own.
        products: The ranges of the products of normalizations that no product takes in.
        states: The ranges of what states become.
        floats: The names of the calls that the integer form computes in floats.
        kept: The names of those that were to stay in floats.
    """

    ranges: list[tuple[float, float] | None] = field(default_factory=list[tuple[float, float] | None])
    grids: dict[Value, int] = field(default_factory=dict[Value, int])
    rounded: dict[Value, bool] = field(default_factory=dict[Value, bool])
    weights: dict[tuple[Step, Value], int | None] = field(default_factory=dict[tuple[Step, Value], int | None])
    products: dict[Step, int] = field(default_factory=dict[Step, int])
    states: dict[Value, int] = field(default_factory=dict[Value, int])
    floats: list[str] = field(default_factory=list[str])
    kept: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def observed_in(self, body: Body) -> list[int]:
        """Returns the ranges that move by what a recurrent layer computes in each step of time."""
        values = [value for step in body.steps for value in step.outputs]
        return sorted({self.grids[value] for value in values if self.rounded.get(value)})


def placement_of(
    trace: Trace, arguments: Collection[Value], results: Collection[Value], keep_float: Sequence[str]
) -> Placement:
    """Places fake quantization where litefuse's integer form has QUANTIZE, or the end of a fused op.

    Args:
        trace: The operations of the model.
        arguments: Its arguments.
        results: Its results.
        keep_float: Regular expressions of the names of calls that stay in floats.
    """
    results = {*results, *(new for _, new in trace.assigned)}
    placing = _Placing(trace.steps, results, Placement(kept={pattern: [] for pattern in keep_float}))
    placing.round_all(arguments)
    placing.tie(trace.assigned)
    for step in trace.steps:
        placing.place(step)
    placing.tie(trace.assigned)
    return placing.placement


class _Placing:
    def __init__(self, steps: Sequence[Step], results: Collection[Value], placement: Placement) -> None:
        self.placement = placement
        self._steps, self._results = steps, results
        self._users: dict[Value, list[Step]] = {}
        for step in steps:
            for value in step.inputs:
                self._users.setdefault(value, []).append(step)
        # What the next call goes on with before it is rounded, and whether that is a product with weights.
        self._open: dict[Value, bool] = {}

    def round_all(self, values: Collection[Value]) -> None:
        """Gives each activation a range of its own, if anything computes with it in floats."""
        for value in values:
            users = self._users.get(value, [])
            counts = bool(users) and not any(result.is_activation for user in users for result in user.outputs)
            if value.is_activation and not counts:
                self._round(value)

    def place(self, step: Step) -> None:
        """Rounds the weights and the results of a call."""
        results = [value for value in step.outputs if value.is_activation]
        if not results:
            return
        placement = self.placement
        weights = [value for value in step.inputs if value.constant and str(value.tensor.dtype) == "float32"]
        activations = [value for value in step.inputs if value.is_activation]
        matching = [pattern for pattern in placement.kept if re.search(pattern, step.name)]
        for pattern in matching:
            placement.kept[pattern].append(step.name)
        extends = len(activations) == 1 and activations[0] in self._open
        product = (bool(weights) and step.kind in _PRODUCTS) or (extends and self._open[activations[0]])
        grids = {placement.grids.get(value) for value in activations}
        joins_constants = step.kind in _JOINING and (bool(weights) or _has_number(step))
        hands_on = (step.kind in _SAME and not joins_constants) or step.keeps_input
        hands_on = hands_on and placement.states.keys().isdisjoint(results)
        if activations and len(grids) == 1 and hands_on:
            grid = grids.pop()
            if grid is not None:
                placement.grids.update(dict.fromkeys(results, grid))
                placement.rounded.update(dict.fromkeys(results if step.kind in _AVERAGES else (), False))
            if grid is not None or step.kind not in _JOINING:  # which defines the range of operands that have none
                return
        if matching and not product:
            return
        if step.body is not None:
            self._place_body(step, step.body, results)
            return
        if step.kind in _PRODUCTS or step.kind == "Take" or (step.kind in _ARITHMETIC and not extends):
            rounded = () if matching else weights
            placement.weights.update({(step, value): _first_channel_axis(step, value) for value in rounded})
        elif step.kind == _NORMALIZATION and not extends:
            placement.products[step] = self._range()
        elif step.kind not in _KNOWN:
            placement.floats.append(step.name)
        if step.kind in _FIXED:
            self._round(results[0], _FIXED[step.kind])
        elif step.kind != "Take" and not self._left_open(step, results[0], product=product):
            self.round_all(results)

    def tie(self, states: Sequence[tuple[Value, Value]]) -> None:
        """Gives states the range of what they become, in which they are rounded when they are read, too.

        Before the calls are placed, what none of them hands on gets a range for that.
        """
        placement, handing_on = self.placement, _SAME - _JOINING
        made_by = {value: step.kind for step in self._steps for value in step.outputs if step.kind not in handing_on}
        pending = [(state, new) for state, new in states if new.is_activation]
        for _ in states:  # one state may become what another one was
            for state, new in pending:
                if new in made_by and new not in placement.states:
                    placement.states[new] = self._range(_FIXED.get(made_by[new]))
                grid = placement.states.get(new, placement.grids.get(new))
                if grid is not None:
                    placement.grids[state], placement.rounded[state] = grid, False

    def _place_body(self, step: Step, body: Body, results: Sequence[Value]) -> None:
        """Rounds what a recurrent layer computes in each step of time; a state has one range in all of them."""
        placement = self.placement
        placing = _Placing(body.steps, body.results, placement)
        (x, *states), (output, *new_states) = body.arguments, body.results
        if (grid := placement.grids.get(step.inputs[0])) is not None:
            placement.grids[x], placement.rounded[x] = grid, False
        placing.tie([*zip(states, new_states, strict=True)])
        for inner in body.steps:
            placing.place(inner)
        placing.tie([*zip(states, new_states, strict=True)])
        # The layer gives its output, and the states if asked for.
        for value, source in zip(results, (output, *new_states), strict=False):
            grid = placement.states.get(source, placement.grids.get(source))
            if grid is not None:
                placement.grids[value], placement.rounded[value] = grid, False

    def _left_open(self, step: Step, result: Value, *, product: bool) -> bool:
        """Whether the only user of a result is fused with its op, or gives it the range of its own result."""
        users = self._users.get(result, [])
        if len(users) != 1 or result in self._results:
            return False
        user = users[0]
        scales = user.kind == _NORMALIZATION or (
            user.kind in _ARITHMETIC
            and user.args[0] is result
            and all(value.constant for value in user.inputs if value is not result)
        )
        if step.kind in {*_PRODUCTS, *_ARITHMETIC, _NORMALIZATION} and (_clips(user) or (product and scales)):
            self._open[result] = product
            return True
        return user.kind in _JOINING

    def _range(self, ends: tuple[float, float] | None = None) -> int:
        self.placement.ranges.append(ends)
        return len(self.placement.ranges) - 1

    def _round(self, value: Value, ends: tuple[float, float] | None = None) -> None:
        grid = self.placement.states.get(value)
        self.placement.grids[value] = self._range(ends) if grid is None else grid
        self.placement.rounded[value] = ends is None


def _has_number(step: Step) -> bool:
    """Whether a number other than zero, which all ranges have, is among the arguments of a call."""
    return step.kind == "Where" and any(isinstance(number, int | float) and number for number in step.args)


def _clips(step: Step) -> bool:
    operation: Any = step.function
    return step.kind in _CLIPPING and not (step.kind == "ReLU" and (operation.negative_slope or operation.threshold))


def _first_channel_axis(step: Step, weights: Value) -> int | None:
    """Returns the axis of weights that begins their output channels; None if they have one range for all."""
    rank, function = len(weights.shape), step.function
    if step.args[-1] is not weights or step.kind not in _PRODUCTS:
        return None
    if step.kind == "Einsum":
        subscripts: str = getattr(function, "subscripts", "")
        first, _, second = subscripts.replace(" ", "").partition("->")[0].partition(",")
        kept = [letter not in first for letter in second]
        return kept.index(True) if kept == sorted(kept) and any(kept) else None
    if step.kind == "Matmul":
        return 1 if rank == 2 else None
    return {"Conv": rank - 1, "DepthwiseConv": rank - 2}.get(step.kind)
