"""Copies a model with ops that move its numbers by some steps of float32, so that its rounding shows."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.custom_options import encode_options
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.model_reader import Graph, Model, Op
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.schema_objects import custom_code, flatbuffer_of, made, objects_of, tensor_like

# By how much at most: by 16 steps of float32, so that moves of different ops do not cancel out, and few scores or
# maxima change places that rounding would leave.
_MOVE = np.float32(2**-19)
# In the place of what vanishes, or overflows.
_LEAST, _MOST = np.float32(2**-120), np.float32(2**127)
# An element that moves by more of itself, and by more of the median, jumps, as to another row of a table. It may be
# any other of the result. Where more of a result's elements do, all may.
_JUMP, _SMOOTH, _MANY_JUMPS = 2.0**-6, 2.0**-8, 0.25
# A move takes as long as so many numbers.
_A_MOVE = 1 << 9

#: Their results are exact where their operands have few digits: then nothing is moved, and ties stay ties.
ARITHMETIC = frozenset({"ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "SQUARE", "ADD_N"})
# They round inside, numbers as large as their operands.
_SUMS = frozenset(
    {
        *("SUM", "MEAN", "REDUCE_PROD", "CUMSUM", "SEGMENT_SUM", "UNSORTED_SEGMENT_SUM", "AVERAGE_POOL_2D"),
        *("FULLY_CONNECTED", "BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D", "CONV_3D", "TRANSPOSE_CONV"),
        *("RESIZE_BILINEAR", "L2_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION"),
    }
)
_DIFFERENCES = frozenset({"GELU", "LOG_SOFTMAX"})
# What they give for 0 is exact.
_OF_ZERO = frozenset({"EXP", "SQRT", "TANH", "LOGISTIC", "SIN", "COS"})
_ROUNDED = (
    _DIFFERENCES
    | _OF_ZERO
    | {"LOG", "RSQRT", "ATAN2", "POW", "SOFTMAX", "ELU", "HARD_SWISH", "CUSTOM", "COMPLEX_ABS", "STABLEHLO_COMPOSITE"}
    | {"L2_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION"}
    | {"LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN"}
)
#: The ops whose results are moved, and their operands, but for arithmetic, which rounds nothing inside.
MOVED = ARITHMETIC | _SUMS | _ROUNDED
_ELEMENTWISE = (
    ARITHMETIC
    | _DIFFERENCES
    | _OF_ZERO
    | {"LOG", "RSQRT", "ATAN2", "POW", "SOFTMAX", "ELU", "HARD_SWISH", "COMPLEX_ABS"}  # softmax in a row
)


def kind_of_move(op: str, *, operand: bool) -> dict[str, Any]:
    """Returns the options of the move of an operand or a result of an op, see :class:`Move`."""
    kind = "digits"
    if not operand and op in _ROUNDED:
        kind = "difference" if op in _DIFFERENCES else "exponential" if op == "ELU" else ""
        kind = "zeros" if op in _OF_ZERO else "positive" if op == "SOFTMAX" else kind
    return {"kind": kind, "elementwise": op in _ELEMENTWISE}


class Move(CustomOp):
    """Moves numbers by a few steps of float32; others that they are computed of follow them.

    ``kind`` says what is exact: ``digits`` numbers of few digits that are computed of such numbers, ``zeros`` what is
    computed of 0; there, and in ``positive`` numbers, what vanishes is not a tie. A ``difference`` moves by as much as
    its operand would, an ``exponential`` as e to its power. What ``elementwise`` ops compute of equal numbers stays
    equal where ``alike`` is set; otherwise, exact numbers move, too.
    """

    op_name = "LitefuseMove"
    random = Random(0)
    sign = 1.0
    alike = True
    #: How many numbers may be moved yet; a move counts as some.
    left = sys.maxsize

    def prepare(self, x: TensorSpec, *_: TensorSpec, **_options: Any) -> TensorSpec:
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Outputs, *, kind: str, elementwise: bool) -> None:
        x, *others = inputs
        Move.left -= x.size + _A_MOVE
        if Move.left < 0:
            raise RuntimeError("the model takes too many moves")
        if elementwise and self.alike and all(_broadcasts(other.shape, x.shape) for other in others):
            share = _hashed(others, x.shape, self.random.getrandbits(32))
        else:
            share = _share(x.shape, self.random)
        share *= np.float32(self.sign)
        if kind in {"difference", "exponential"}:
            with np.errstate(invalid="ignore"):
                outputs[0] = x + _MOVE * share * (np.abs(x) + np.abs(others[0]) + (kind == "exponential"))
            return
        if kind in {"zeros", "positive"}:  # what vanishes or overflows is not a tie
            x = _defined(x, others[0], positive=kind == "positive")
        if kind in {"zeros", "digits"} and self.alike:
            exact = _few_digits(x)
            for other in others:
                few: npt.NDArray[np.bool_] = _few_digits(other) if kind == "digits" else other == 0
                exact &= few if _broadcasts(other.shape, x.shape) else few.all()
            share[exact] = 0
        with np.errstate(all="ignore"):
            outputs[0] = x * (1 + _MOVE * share)


def _defined(x: npt.NDArray[Any], operand: npt.NDArray[Any], *, positive: bool) -> npt.NDArray[Any]:
    """Returns numbers with small ones for those that vanish, and large ones for those that overflow."""
    vanished = (x == 0) if positive else (x == 0) & (operand != 0)
    overflowed = np.isposinf(x) & np.isfinite(operand)
    return np.where(vanished, _LEAST, np.where(overflowed, _MOST, x))


def moved_numbers(x: npt.NDArray[Any], random: Random) -> npt.NDArray[Any]:
    """Returns an argument with moved numbers, if it is of float32."""
    return np.asarray(x * (1 + _MOVE * _share(x.shape, random)), np.float32) if x.dtype == np.float32 else x


def movement_of(moved: npt.NDArray[Any], value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns how far each element moved, in units of a move; infinite where it came, went or is not a real number.

    Args:
        moved: The result of moved ops, of which equal numbers were moved alike.
        value: The result.
    """
    if moved.shape != value.shape:
        return np.full(value.shape, np.inf)
    if value.dtype.kind not in "fc":
        jumped = moved != value
        return np.where(jumped | _are_many(jumped), np.inf, 0.0)
    with np.errstate(all="ignore"):
        away = _distance(moved, value)
        sizes = np.maximum(np.abs(moved), np.abs(value))
        sizes = np.where(np.isfinite(sizes), sizes, 0)
        jumped = (away > _JUMP * sizes) & (away > _SMOOTH * np.median(sizes) if sizes.size else False)
    jumped |= _are_many(jumped)  # another order of equal numbers would move all
    return np.where(jumped, np.maximum(away, sizes.max(initial=0)), away) / float(_MOVE)


def smooth_movement_of(moved: npt.NDArray[Any], less: npt.NDArray[Any], value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns how far each element moved, as :func:`movement_of`, where equal numbers were not moved alike.

    What does not move less where they do is a tie of these, and does not count. Nothing does where many of the elements
    that jump are such, as where ranks are computed of moved numbers. Only real numbers count.

    Args:
        moved: The result of moved ops.
        less: The result of the same moves by an eighth.
        value: The result.
    """
    if value.dtype.kind not in "fc" or not moved.shape == less.shape == value.shape:
        return np.zeros(value.shape)
    away = _distance(moved, value)
    smooth = np.isfinite(away) & (_distance(less, value) <= away / 2)
    jumped = ~(away <= _JUMP * np.abs(value))
    if jumped.any() and _are_many(~smooth[jumped]):
        return np.zeros(value.shape)
    return np.where(smooth, away, 0.0) / float(_MOVE)


def _distance(moved: npt.NDArray[Any], value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    with np.errstate(all="ignore"):
        away = np.abs(moved.astype(np.complex128) - value)
    same = (moved == value) | (np.isnan(moved) & np.isnan(value))
    return np.where(same, 0.0, np.where(np.isnan(away), np.inf, away))


def _are_many(jumped: npt.NDArray[np.bool_]) -> bool:
    return bool(jumped.size and jumped.mean() > _MANY_JUMPS)


def largest_of(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns the largest real number of an output, at least 1, for each element; 0 for others."""
    real = value.dtype.kind in "fcV"
    largest = np.abs(value[np.isfinite(value)]).max(initial=1).astype(np.float64) if real else 0.0
    return np.full(value.shape, largest)


def _share(shape: tuple[int, ...], random: Random) -> npt.NDArray[Any]:
    """Returns numbers from -1 to -1/2 and from 1/2 to 1."""
    return _shares(np.frombuffer(random.randbytes(4 * math.prod(shape)), np.uint32).reshape(shape))


def _hashed(numbers: Sequence[npt.NDArray[Any]], shape: tuple[int, ...], seed: int) -> npt.NDArray[np.float32]:
    """Returns numbers as ``_share`` does that depend on the elements at their places alone."""
    mixed = np.full(shape, seed, np.uint32)
    for number in numbers:
        mixed ^= np.asarray(number, np.float32).view(np.uint32)
        mixed *= np.uint32(0x9E3779B1)
        mixed ^= mixed >> np.uint32(15)
        mixed *= np.uint32(0x85EBCA77)
        mixed ^= mixed >> np.uint32(13)
    return _shares(mixed)


def _shares(bits: npt.NDArray[np.uint32]) -> npt.NDArray[np.float32]:
    """Returns a number for each word: a sign, and the bits of a number from 1/2 to 1."""
    return np.asarray((bits & np.uint32(0x807FFFFF)) | np.uint32(0x3F000000)).view(np.float32)


def _few_digits(x: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        small = (np.abs(x) < 2**14) & _are_whole(x * np.float32(2**4))
        return small | ((np.abs(x) <= 2**24) & _are_whole(x))  # such as ranks


def _are_whole(x: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return np.rint(x) == x


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    sizes = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(size in {1, wanted} for size, wanted in sizes)


def moved_copy(content: Any) -> bytes:
    """Returns a copy of a model with moved ops; float32 alone is moved.

    Args:
        content: The content of a valid ``.tflite`` file.
    """
    model, facts = objects_of(content), Model(content)
    model.operatorCodes.append(custom_code(Move.op_name))
    for graph, known in zip(model.subgraphs, facts.graphs, strict=True):
        moving = _Moving(graph, known, len(model.operatorCodes) - 1)
        for op, own in zip(graph.operators or (), known.ops, strict=True):
            moving.add(op, own)
        graph.operators = moving.operators
    return bytes(flatbuffer_of(model))


class _Moving:
    """Moves the ops of a subgraph; collects those of the copy."""

    def __init__(self, graph: Any, known: Graph, code: int) -> None:
        self.operators: list[Any] = []
        self._graph, self._known, self._code = graph, known, code

    def add(self, op: Any, own: Op) -> None:
        """Adds an op, with moves before and behind it."""
        name = "CUSTOM" if own.custom else "STABLEHLO_COMPOSITE" if own.composite else own.name
        operands = [index for index in own.inputs if self._is_real(index)]
        op.inputs, op.outputs = list(own.inputs), list(own.outputs)
        if name in MOVED - ARITHMETIC:
            for place, index in enumerate(own.inputs):
                if index in operands and not self._known.is_constant(index):
                    op.inputs[place] = self._like(index)
                    self._move(index, op.inputs[place], operands, kind_of_move(name, operand=True))
        self.operators.append(op)
        if name in MOVED:
            for place, index in enumerate(own.outputs):
                if self._is_real(index):
                    op.outputs[place] = self._like(index)
                    self._move(op.outputs[place], index, operands, kind_of_move(name, operand=False))

    def _is_real(self, index: int) -> bool:
        tensor = self._known.tensor(index) if index >= 0 else None
        return tensor is not None and tensor.dtype == np.float32 and not tensor.is_variable

    def _like(self, index: int) -> int:
        like: Any = self._graph.tensors[index]
        self._graph.tensors.append(tensor_like(like))
        return len(self._graph.tensors) - 1

    def _move(self, source: int, target: int, others: Sequence[int], options: dict[str, Any]) -> None:
        op = made("Operator", opcodeIndex=self._code, inputs=[source, *others], outputs=[target])
        op.customOptions = np.frombuffer(encode_options(options), np.uint8)
        self.operators.append(op)
