"""How far the rounding of a function's own operations moves each element of its results.

Each rounded result inside the function, and each operand of a sum, is moved by some steps of float32, at random. Where
that moves an element far, as after a cancellation, another order of the same operations may move it as far.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.engine.lowering import flatbuffer
from litefuse.inputs.numbers import uniform, whole
from litefuse.ir.call_graph import all_operations
from litefuse.ir.custom_options import encode_options
from litefuse.ir.marks import custom_op_attributes
from litefuse.ir.mlir import ir
from litefuse.ir.types import tensor_type_of
from litefuse.runtime.custom_op import CustomOp, TensorSpec
from litefuse.runtime.outputs import Outputs
from litefuse.verify.inputs import Arguments
from litefuse.verify.standalone import StandaloneModel

__all__ = ["Rounding"]

Run: TypeAlias = "Callable[..., Arguments]"

# By how much at most: by 128 steps of float32, so that moves of different ops do not cancel out.
_MOVE = np.float32(2**-16)
# Moves may cancel out in one run; in all of them, those of one element in a billion.
_RUNS, _LEAST_RUNS = 6, 4
# After so many seconds, the least runs do; where one takes more, there are none.
_SECONDS, _TOO_MANY_SECONDS = 0.02, 0.2

# What moves by more than a thousandth of the largest element jumps.
_SMOOTH = 1e-3 / float(_MOVE)
# Where arguments are moved, each operation behind them rounds as well: so many times, as the steps of loops do.
_OF_ARGUMENTS = 10

# Their results are exact where their operands have few digits: then nothing is moved, and ties stay ties.
_ARITHMETIC = frozenset(f"tfl.{name}" for name in ("add", "sub", "mul", "div", "squared_difference", "square", "add_n"))
_SUMS = frozenset(
    f"tfl.{name}"
    for name in (
        *("sum", "mean", "reduce_prod", "cumsum", "segment_sum", "unsorted_segment_sum", "average_pool_2d"),
        *("fully_connected", "batch_matmul", "conv_2d", "depthwise_conv_2d", "conv_3d", "transpose_conv"),
        *("resize_bilinear", "l2_normalization", "local_response_normalization"),
    )
)
_ROUNDED = frozenset(
    f"tfl.{name}"
    for name in (
        *("exp", "log", "sqrt", "rsqrt", "tanh", "logistic", "sin", "cos", "atan2", "pow", "softmax", "log_softmax"),
        *("elu", "gelu", "hard_swish", "custom", "l2_normalization", "local_response_normalization", "complex_abs"),
        *("lstm", "unidirectional_sequence_lstm"),
        *("unidirectional_sequence_rnn",),
    )
) | {"vhlo.composite_v1"}
# Differences are inside of them, of numbers as large as the operand.
_DIFFERENCES = frozenset({"tfl.gelu", "tfl.elu", "tfl.log_softmax"})
# They write into their states, which have to be variables: another tensor has no room for what is written.
_WITH_STATES = frozenset({"tfl.lstm", "tfl.unidirectional_sequence_lstm", "tfl.unidirectional_sequence_rnn"})
_CONSTANTS = frozenset({"tfl.pseudo_const", "arith.constant", "tfl.external_const", "tfl.no_value"})


class _Move(CustomOp):
    """Moves numbers by a few steps of float32, but those that have few digits, if what they are computed of has too."""

    op_name = "LitefuseMove"
    random = Random(0)
    all = False
    """Whether to move numbers of few digits, too."""

    def prepare(self, x: TensorSpec, *_: TensorSpec, **_options: Any) -> TensorSpec:
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Outputs, *, difference: int = 0) -> None:
        x, *others = inputs
        share = _share(x.shape, self.random)
        if difference:
            with np.errstate(invalid="ignore"):
                outputs[0] = x + _MOVE * share * (np.abs(x) + np.abs(others[0]))
            return
        exact = np.full(x.shape, bool(others)) & _few_digits(x)
        for other in others:
            few: npt.NDArray[np.bool_] = _few_digits(other)
            exact &= few if _broadcasts(other.shape, x.shape) else few.all()
        share[exact & (not self.all)] = 0
        outputs[0] = x * (1 + _MOVE * share)


def _few_digits(x: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        small = (np.abs(x) < 2**14) & (np.mod(x, np.float32(2**-4)) == 0)
        return small | ((np.abs(x) <= 2**24) & (np.mod(x, np.float32(1)) == 0))  # such as ranks


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    sizes = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(size in {1, wanted} for size, wanted in sizes)


class Rounding:
    """Runs a function with moved operations.

    Args:
        model: The function as a model.
        run: Runs it as it is.
    """

    def __init__(self, model: StandaloneModel, run: Run) -> None:
        self._run = run
        self._runner = _moved_runner(model)
        self._too_many = sys.maxsize

    def spread(self, arguments: Arguments, expected: Arguments | None = None) -> Arguments | None:
        """Returns how far each element of each float result moves, in units of its operations' relative movement.

        Infinite where an element comes and goes. Of other results, infinite where they change, else 0. Where operations
        cannot be moved, or that takes too long, as in loops of many steps, the arguments are, and elements move as far
        as the largest at least.

        Args:
            arguments: The arguments.
            expected: The results without moves; None for what keeps state, and differs for that.
        """
        spread: Arguments = {}
        size = sum(value.size for value in arguments.values())
        begin = time.perf_counter()
        for run in range(_RUNS):
            seconds = time.perf_counter() - begin
            if run == 1 and seconds > _TOO_MANY_SECONDS:
                self._too_many = size
            if self._runner is None or size >= self._too_many or _is_short(expected or {}):
                return self._spread_of_arguments(arguments, expected)
            if run >= _LEAST_RUNS and seconds > _SECONDS:
                break
            try:
                moved: Arguments = {name: np.array(value) for name, value in self._runner(**arguments).items()}
            except Exception:  # noqa: BLE001  whatever a kernel raises
                return self._spread_of_arguments(arguments, expected)
            if expected is None:
                expected = moved
            for name, value in moved.items():
                spread[name] = np.maximum(spread.get(name, 0.0), _movement(value, expected[name]))
        return self._with_differences(spread, arguments, expected or {})

    def _with_differences(self, spread: Arguments, arguments: Arguments, expected: Arguments) -> Arguments:
        """Adds how far elements move where numbers of few digits move as well.

        The difference of two that are equal is 0, but not where they are multiplied before. What jumps is a tie.
        """
        _Move.all = True
        with contextlib.suppress(Exception):  # as above
            for _ in range(_LEAST_RUNS):
                for name, value in self._runner(**arguments).items():
                    movement = _movement(np.array(value), expected[name])
                    movement[movement > _SMOOTH * _largest(expected[name])] = 0
                    spread[name] = np.maximum(spread[name], movement)
        _Move.all = False
        return spread

    def _spread_of_arguments(self, arguments: Arguments, expected: Arguments | None) -> Arguments | None:
        if expected is None:
            return None
        spread = {name: _largest(value) for name, value in expected.items()}
        random = Random(0)
        with contextlib.suppress(Exception):  # whatever a kernel raises
            for _ in range(_LEAST_RUNS):
                moved = {name: _moved(value, random) for name, value in arguments.items()}
                for name, value in self._run(**moved).items():
                    movement = _OF_ARGUMENTS * _movement(np.array(value), expected[name])
                    spread[name] = np.maximum(spread[name], movement)
        return spread


def _is_short(results: Arguments) -> bool:
    """Whether some results have fewer digits than float32, whose operations are not moved."""
    return any(value.dtype.kind in "fV" and value.dtype.itemsize < 4 for value in results.values())


def _largest(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    real = value.dtype.kind in "fcV"
    largest = np.abs(value[np.isfinite(value)]).max(initial=1).astype(np.float64) if real else 0.0
    return np.full(value.shape, largest)


def _moved(x: npt.NDArray[Any], random: Random) -> npt.NDArray[Any]:
    return np.asarray(x * (1 + _MOVE * _share(x.shape, random)), np.float32) if x.dtype == np.float32 else x


def _share(shape: tuple[int, ...], random: Random) -> npt.NDArray[Any]:
    """Returns numbers between 1 and 2, or -1 and -2."""
    return np.asarray((uniform(shape, random) + 1) * (whole(0, 1, shape, random) - 0.5), np.float32)


def _movement(moved: npt.NDArray[Any], value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if moved.shape != value.shape:
        return np.full(value.shape, np.inf)
    if value.dtype.kind not in "fc":
        return np.where(moved == value, 0.0, np.inf)
    with np.errstate(all="ignore"):
        away = np.abs(moved.astype(np.complex128) - value) / float(_MOVE)
    undefined = np.where(np.isnan(moved) & np.isnan(value), 0.0, np.inf)
    return np.where(moved == value, 0.0, np.where(np.isnan(away), undefined, away))


def _moved_runner(model: StandaloneModel) -> Any:
    from litefuse.runtime.interpreter import Interpreter

    try:
        for op in all_operations(model.lowered):
            _insert_moves(op)
        content = flatbuffer(model.lowered)
        return Interpreter(model_content=content, custom_ops=[_Move]).get_signature_runner()
    except Exception:  # noqa: BLE001  of the bindings, the runtime or a kernel: then there is no such run
        return None


def _insert_moves(op: ir.OpView) -> None:
    if op.name not in _SUMS | _ROUNDED | _ARITHMETIC:
        return
    operands = [operand for operand in op.operands if _is_real(operand)]
    if op.name not in _ARITHMETIC | _WITH_STATES:
        with ir.InsertionPoint(op):
            for index, operand in enumerate(op.operands):
                if operand in operands and not _is_constant(operand) and not _is_move(operand):
                    op.operands[index] = _move(operand, operands, op.location).result
    with ir.InsertionPoint.after(op):
        for result in op.results:
            if _is_real(result):
                difference = op.name in _DIFFERENCES
                computed_of = operands if difference or op.name not in _ROUNDED else []
                moving = _move(result, computed_of, op.location, difference=difference)
                result.replace_all_uses_except(moving.result, moving)


def _is_real(value: ir.Value) -> bool:
    return isinstance(value.type, ir.ShapedType) and tensor_type_of(value).dtype == "float32"


def _is_constant(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name in _CONSTANTS


def _is_move(value: ir.Value) -> bool:
    owner = value.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.name == "tfl.custom"
        and ir.StringAttr(owner.attributes["custom_code"]).value == _Move.op_name
    )


def _move(
    value: ir.Value, computed_of: Sequence[ir.Value], location: ir.Location, *, difference: bool = False
) -> ir.Operation:
    options = encode_options({"difference": 1}) if difference else b""
    attributes = custom_op_attributes(_Move.op_name, options)
    return ir.Operation.create("tfl.custom", [value.type], [value, *computed_of], attributes, loc=location)
