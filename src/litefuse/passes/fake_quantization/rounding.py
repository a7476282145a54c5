"""Fake quantization that is written as a formula: ``round(clip(x / s)) * s``, as by QKeras."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.ir.mlir import ir, producer
from litefuse.passes.fake_quantization.grid import Grid
from litefuse.passes.fake_quantization.known_values import known_value

Numbers = npt.NDArray[np.float64]

_COPIES = frozenset({"tf.Identity", "tf.StopGradient"})
# How near to 1 the product of the factors before and after the rounding is, and how near bounds are to whole numbers.
_NEAR = 1e-5
# How many ops a formula has before the rounding or behind it.
_LONGEST = 16


class Rounding(NamedTuple):
    """A value that is rounded."""

    value: ir.Value
    grid: Grid


class _WrittenRounding(NamedTuple):
    """A rounding that is written as a formula."""

    last: ir.OpView
    rounding: Rounding


@dataclass(frozen=True)
class _Step:
    """An op of the formula: first a factor, then bounds.

    Attributes:
        value: The operand, on the way to the argument; the result, on the way from the rounding.
        factor: A factor; a scalar, or one for each channel.
        low: A lower bound of the product, or minus infinity.
        high: An upper bound, or infinity.
    """

    value: ir.Value
    factor: Numbers
    low: float = -np.inf
    high: float = np.inf


def rounding_of(op: ir.OpView) -> _WrittenRounding | None:
    """Returns the fake quantization that a rounding is a part of; None if it is of none.

    The formula is ``clip(round(clip(x * a)) * b)`` with constants ``a * b == 1``, in any number of factors and bounds.
    A straight-through estimator, ``x + stop_gradient(formula - x)``, belongs to it.
    """
    longest: _WrittenRounding | None = None
    factor, low, high = np.ones(()), -np.inf, np.inf
    argument = op.operands[0]
    for _ in range(_LONGEST):
        longest = _after(op, argument, factor, low, high) or longest
        step = _step_before(argument)
        if step is None:
            return longest
        # Bounds of what is multiplied later, in the scale of the rounding.
        with np.errstate(invalid="ignore"):
            bounds = np.sort(np.array([step.low * factor.max(), step.high * factor.max()]))
        if np.isfinite([step.low, step.high]).any() and factor.size > 1:
            return longest
        low, high = max(low, bounds[0]), min(high, bounds[1])
        factor = factor * step.factor
        if not (factor > 0).all():
            return longest
        argument = step.value
    return longest


def _after(op: ir.OpView, argument: ir.Value, factor: Numbers, low: float, high: float) -> _WrittenRounding | None:
    """Returns the rounding if the ops that follow undo the factor and there are bounds."""
    value = op.results[0]
    first, last = float(np.rint(low)), float(np.rint(high))
    scale = np.ones(())
    best: tuple[ir.Value, float, float] | None = None
    for _ in range(_LONGEST):
        if _is_near(scale * factor, 1.0) and np.isfinite([first, last]).all():
            best = value, first, last
        step = _step_after(value)
        if step is None:
            break
        scale = scale * step.factor
        if not (scale > 0).all() or (scale.size > 1 and np.isfinite([step.low, step.high]).any()):
            break
        ends = [end / float(scale.max()) for end in (step.low, step.high)]
        if not all(np.isinf(end) or _is_near(end, round(end)) for end in ends):
            break
        first, last = (max(first, np.rint(ends[0])), min(last, np.rint(ends[1])))
        if best is not None and not _is_near(scale * factor, 1.0):
            break
        value = step.value
    if best is None or not best[1] < best[2] or best[2] - best[1] > 255:
        return None
    value, first, last = best
    step_size = np.asarray(1 / factor, np.float32)
    ends = np.full_like(step_size, first, np.int64), np.full_like(step_size, last, np.int64)
    grid = Grid(step_size, ends[0], ends[1], half_to_even=True)
    return _WrittenRounding(_straight_through(value), Rounding(argument, grid))


def _straight_through(value: ir.Value) -> ir.OpView:
    """Returns the last op of an estimator ``z + (value - z)``, or the op that computes the value."""
    for use in value.uses:
        difference = use.owner
        operands = [*difference.operands]
        taken: ir.Value | None = None
        if difference.name == "tf.Sub" and operands[0] == value:
            taken = operands[1]
        elif difference.name == "tf.AddV2":
            negations = [producer(operand, "tf.Neg") for operand in operands if operand != value]
            taken = negations[0].operands[0] if len(negations) == 1 and negations[0] is not None else None
        if taken is None:
            continue
        for total in _users_behind_copies(difference.results[0]):
            if total.name == "tf.AddV2" and any(_is_same(operand, taken) for operand in total.operands):
                return total
    owner = value.owner
    assert not isinstance(owner, ir.Block)
    return owner.opview if isinstance(owner, ir.Operation) else owner


def _is_same(value: ir.Value, other: ir.Value) -> bool:
    """Whether two values are one, or computed from one by ops of one operand and the same name."""
    for _ in range(_LONGEST):
        if value == other:
            return True
        ops = value.owner, other.owner
        if isinstance(ops[0], ir.Block) or isinstance(ops[1], ir.Block):
            return False
        if ops[0].name != ops[1].name or ops[0].name not in {"tf.Identity", "tf.Relu", "tf.Relu6"}:
            return False
        value, other = ops[0].operands[0], ops[1].operands[0]
    return False


def _users_behind_copies(value: ir.Value) -> list[ir.OpView]:
    users: list[ir.OpView] = []
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            if use.owner.name in _COPIES:
                pending.append(use.owner.results[0])
            else:
                users.append(use.owner)
    return users


def _step_before(value: ir.Value) -> _Step | None:
    owner = value.owner
    return None if isinstance(owner, ir.Block) else _step(owner, owner.operands, None)


def _step_after(value: ir.Value) -> _Step | None:
    """Returns the only op that uses a value as a step with its result."""
    users = {use.owner for use in value.uses}
    if len(users) != 1:
        return None
    user = users.pop()
    return _step(user, user.operands, value)


def _step(op: ir.OpView | ir.Operation, operands: ir.OpOperandList, source: ir.Value | None) -> _Step | None:
    """Returns the step that an op is; ``source`` is the operand that is not constant if it is known."""
    if op.name in _COPIES or op.name in {"tf.Relu", "tf.Relu6"}:
        value = operands[0] if source is None else op.results[0]
        bounds = {"tf.Relu": (0.0, np.inf), "tf.Relu6": (0.0, 6.0)}.get(op.name, (-np.inf, np.inf))
        return _Step(value, np.ones(()), *bounds)
    if op.name not in {"tf.Mul", "tf.RealDiv", "tf.Minimum", "tf.Maximum", "tf.ClipByValue"}:
        return None
    constants = [_numbers(value) for value in operands]
    varying = [index for index, constant in enumerate(constants) if constant is None]
    given = [constant for constant in constants if constant is not None]
    if not varying:  # a vector of weights, and a scalar
        varying = [index for index, constant in enumerate(given) if constant.size > 1]
        given = [constant for constant in given if constant.size == 1]
    if len(varying) != 1 or not given or (op.name in {"tf.RealDiv", "tf.ClipByValue"} and varying != [0]):
        return None
    if source is not None and operands[varying[0]] != source:
        return None
    value = operands[varying[0]] if source is None else op.results[0]
    first = given[0]
    if op.name == "tf.Mul":
        return _Step(value, first)
    if op.name == "tf.RealDiv":
        return None if (first == 0).any() else _Step(value, 1 / first)
    if any(constant.size > 1 for constant in given):
        return None
    if op.name == "tf.ClipByValue":
        return _Step(value, np.ones(()), float(given[0]), float(given[1]))
    bound = float(first)
    return _Step(value, np.ones(()), high=bound) if op.name == "tf.Minimum" else _Step(value, np.ones(()), bound)


def _numbers(value: ir.Value) -> Numbers | None:
    """Returns a constant that is a scalar, or one number for each channel, which are the last axis."""
    kind = ir.ShapedType(value.type)
    if not kind.has_static_shape or any(size != 1 for size in kind.shape[:-1]):
        return None
    known = known_value(value)
    if known is None or known.dtype != np.float32:
        return None
    numbers = known.astype(np.float64).reshape(-1)
    return numbers.reshape(()) if numbers.size == 1 else numbers


def _is_near(numbers: npt.ArrayLike, whole: float) -> bool:
    return bool((np.abs(np.asarray(numbers) - whole) <= _NEAR * max(1.0, abs(whole))).all())
