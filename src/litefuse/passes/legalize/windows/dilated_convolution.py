"""Dilated convolutions, which TensorFlow represents as convolutions between blocks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from litefuse.ir.constants import stored
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_like
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import TensorType, ranked_tensor_type, tensor_type_of
from litefuse.passes.legalize.decomposition import Decomposition, before_engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.ir.builder import Builder

_CONVOLUTIONS = ("tf.Conv2D", "tf.DepthwiseConv2dNative")
# Ops whose effect on the phases is undone, and ops that squeeze: a sum over a dimension of size 1 does so too.
_DROPPED = ("tf.Identity", "tf.Pad")
_SQUEEZES = ("tf.Squeeze", "tf.Sum")
_BETWEEN = ("tf.BiasAdd", *_DROPPED, *_SQUEEZES)


class _Phases(NamedTuple):
    """A convolution between ``SpaceToBatchND`` and ``BatchToSpaceND``: of each spatial phase separately.

    Attributes:
        blocks: The ``SpaceToBatchND``.
        convolution: The convolution.
        behind: The ops that use its result, in order.
        expanded: The dimension of size 1 that is inserted into the convolution's operand; None if there is none.
    """

    blocks: ir.Operation | ir.OpView
    convolution: ir.Operation | ir.OpView
    behind: Sequence[ir.Operation | ir.OpView]
    expanded: int | None


class _Dilation(NamedTuple):
    """The attributes of a dilated convolution that replaces those of each phase; negative pads crop."""

    rates: Sequence[int]
    pads: Sequence[tuple[int, int]]
    padding: str | None


# Faults `paddings-of-a-dilated-convolution` and `strides-of-a-dilated-convolution`.
@before_engine("BatchToSpaceND", order=-1)
class DilatedConvolution(Decomposition):
    """Replaces the convolution of each phase with one dilated convolution::

        batch_to_space(conv(space_to_batch(x, block, pads)), block, crops)  -->  dilated_conv(pad(x, pads - crops))

    Both convolutions are padded with zeros, and the cropped parts do not influence the rest. The phases must not have
    strides. For dynamic dimensions, pads and crops are computed, and often their difference is known: both serve to
    make the space a multiple of the blocks.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        phases = phases_of(op)
        return phases is not None and _dilation(op, phases) is not None

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        phases = phases_of(op)
        dilation = None if phases is None else _dilation(op, phases)
        if phases is None or dilation is None:
            raise NotDecomposed("it is not part of a dilated convolution")
        value = Tensor(phases.blocks.operands[0])
        if phases.expanded is not None:
            value = b.expand(value, phases.expanded)
        if dilation.padding is None:
            value = _padded(b, value, dilation.pads)
        value = _convolved(value, phases.convolution, dilation)
        for each in phases.behind:
            if each.name in _DROPPED:
                continue
            shape = list(value.shape)
            if each.name in _SQUEEZES and phases.expanded is not None:
                del shape[phases.expanded]
            value = _with_operand(each, value, shape)
        return value


def phases_of(op: TensorFlowOp) -> _Phases | None:
    """Returns the convolution whose phases ``BatchToSpaceND`` merges; None if it merges something else."""
    value = op.operands[0]
    behind: list[ir.Operation | ir.OpView] = []
    while (each := producer(value, *_BETWEEN)) is not None:
        behind.insert(0, each)
        value = each.operands[0]
    convolution = producer(value, *_CONVOLUTIONS)
    if convolution is None:
        return None
    source = convolution.operands[0]
    expansion = producer(source, "tf.ExpandDims")
    expanded = None
    if expansion is not None:
        axis = stored(expansion.operands[1])
        if axis is None:
            return None
        expanded = int(np.array(axis).reshape(-1)[0]) % 4
        source = expansion.operands[0]
    blocks = producer(source, "tf.SpaceToBatchND")
    return None if blocks is None else _Phases(blocks, convolution, behind, expanded)


def _dilation(op: TensorFlowOp, phases: _Phases) -> _Dilation | None:
    """Returns the dilation that is equivalent to phases; None if there is none, or it is unknown."""
    convolution = phases.convolution
    shape = tensor_type_of(phases.blocks.operands[0]).shape
    window = tensor_type_of(convolution.operands[1]).shape
    block = stored(phases.blocks.operands[1])
    if shape is None or window is None or block is None or op.constants[1] is None:
        return None
    given = [int(number) for number in np.array(block).reshape(-1)]
    if given != [int(number) for number in op.constants[1].reshape(-1)] or not _is_plain(phases):
        return None
    found = _differences(phases.blocks.operands[2], op.operands[2], len(given))
    if found is None:
        return None
    # For each dimension of the convolution's operand: the block, and the padding before and after.
    rest = len(shape) - 1 - len(given)
    blocks = [1, *given, *[1] * rest]
    pads = [(0, 0), *found, *[(0, 0)] * rest]
    rank = len(shape)
    behind = _added_behind(phases, rank)
    if behind is None:
        return None
    for axis, (before, after) in enumerate(behind):
        crops = _constants(op.operands[2], axis, len(given))
        more = (before * blocks[axis], after * blocks[axis])
        # Padding of the convolution's result must be cropped again.
        if any(more) and (crops is None or crops[0] < more[0] or crops[1] < more[1]):
            return None
        pads[axis] = (pads[axis][0] + more[0], pads[axis][1] + more[1])
    if phases.expanded is not None:
        blocks.insert(phases.expanded, 1)
        pads.insert(phases.expanded, (0, 0))
    return _of_window(convolution, window, blocks, pads)


def _is_plain(phases: _Phases) -> bool:
    """Whether the phases have no strides, and the values between the ops have no other uses."""
    used_once = [*phases.behind, phases.convolution]
    if any(len(list(each.results[0].uses)) != 1 for each in used_once):
        return False
    squeezed = [_squeezed(each) for each in phases.behind if each.name in _SQUEEZES]
    if squeezed != ([] if phases.expanded is None else [[phases.expanded]]):
        return False
    if any(
        each.name == "tf.BiasAdd" and ir.StringAttr(each.attributes["data_format"]).value != "NHWC"
        for each in phases.behind
    ):
        return False
    return all(number == 1 for number in _integers(phases.convolution, "strides"))


def _squeezed(op: ir.Operation | ir.OpView) -> list[int] | None:
    """Returns the dimensions that the op squeezes; None if unknown."""
    if op.name == "tf.Squeeze":
        return [axis % 4 for axis in _integers(op, "squeeze_dims")]
    axes = stored(op.operands[1])
    if axes is None or ir.BoolAttr(op.attributes["keep_dims"]).value:
        return None
    return [int(axis) % 4 for axis in np.array(axes).reshape(-1)]


def _added_behind(phases: _Phases, rank: int) -> list[tuple[int, int]] | None:
    """Returns the padding that ``Pad`` adds to the convolution's result, without the expanded dimension, if known."""
    added = [(0, 0)] * rank
    expanded = phases.expanded
    for each in phases.behind:
        if each.name in _SQUEEZES:
            expanded = None
        if each.name != "tf.Pad":
            continue
        amounts = stored(each.operands[1])
        if amounts is None:
            return None
        pairs = [(int(before), int(after)) for before, after in np.array(amounts).reshape(-1, 2)]
        if expanded is not None and pairs.pop(expanded) != (0, 0):
            return None
        added = [(a + c, b + d) for (a, b), (c, d) in zip(added, pairs, strict=True)]
    return added


def _of_window(
    convolution: ir.Operation | ir.OpView,
    window: Sequence[int | None],
    blocks: Sequence[int],
    pads: Sequence[tuple[int, int]],
) -> _Dilation | None:
    layout = ir.StringAttr(convolution.attributes["data_format"]).value
    padding = ir.StringAttr(convolution.attributes["padding"]).value
    if layout not in {"NCHW", "NHWC"} or padding not in {"EXPLICIT", "SAME", "VALID"}:
        return None
    spatial = (1, 2) if layout == "NHWC" else (2, 3)
    if any(blocks[axis] != 1 or pads[axis] != (0, 0) for axis in range(4) if axis not in spatial):
        return None
    own = _integers(convolution, "dilations") or [1] * 4
    explicit = _integers(convolution, "explicit_paddings")
    rates, every = list(own), list(pads)
    same: list[tuple[int, int]] = [(0, 0)] * 4
    for axis, size in zip(spatial, window[:2], strict=True):
        if size is None:
            return None
        block = blocks[axis]
        phase = (0, 0)
        if padding == "SAME":
            phase = _halves((size - 1) * own[axis])
        elif padding == "EXPLICIT":
            phase = (explicit[2 * axis], explicit[2 * axis + 1])
        every[axis] = (pads[axis][0] + phase[0] * block, pads[axis][1] + phase[1] * block)
        rates[axis] = own[axis] * block
        same[axis] = _halves((size - 1) * rates[axis])
    name = "SAME" if every == same else "VALID" if every == [(0, 0)] * 4 else None
    return _Dilation(rates, every, name)


def _halves(total: int) -> tuple[int, int]:
    return total // 2, total - total // 2


def _integers(op: ir.Operation | ir.OpView, name: str) -> list[int]:
    if name not in op.attributes:
        return []
    return [ir.IntegerAttr(each).value for each in ir.ArrayAttr(op.attributes[name])]


def _padded(b: Builder, value: Tensor, pads: Sequence[tuple[int, int]]) -> Tensor:
    """Pads a value, or crops it where a number is negative."""
    cut = {
        axis: (max(-before, 0), b.size(value, axis) + min(after, 0) if after < 0 else None, 1)
        for axis, (before, after) in enumerate(pads)
        if before < 0 or after < 0
    }
    if cut:
        value = b.slices(value, dict(cut))
    more = [(max(before, 0), max(after, 0)) for before, after in pads]
    if not any(map(any, more)):
        return value
    shape = [None if size is None else size + sum(pair) for size, pair in zip(value.shape, more, strict=True)]
    return b.op("Pad", [value, b.constant(np.array(more), "int32")], shape, value.dtype)


def _convolved(value: Tensor, convolution: ir.Operation | ir.OpView, dilation: _Dilation) -> Tensor:
    new = {"dilations": list(dilation.rates), "padding": dilation.padding or "VALID", "explicit_paddings": []}
    window = tensor_type_of(convolution.operands[1]).shape or ()
    shape = list(tensor_type_of(convolution.results[0]).shape or (None,) * 4)
    first = 1 if ir.StringAttr(convolution.attributes["data_format"]).value == "NHWC" else 2
    shape[0] = value.shape[0]
    for axis, size in zip((first, first + 1), window[:2], strict=True):
        extent = value.shape[axis]
        less = 0 if dilation.padding == "SAME" else ((size or 1) - 1) * dilation.rates[axis]
        shape[axis] = None if extent is None else extent - less
    return _with_operand(convolution, value, shape, **new)


def _with_operand(op: ir.Operation | ir.OpView, value: Tensor, shape: Sequence[int | None], **new: Any) -> Tensor:
    """Emits a copy of an op with another first operand, result shape, and possibly other attributes."""
    kind = ranked_tensor_type(TensorType(tensor_type_of(op.results[0]).dtype, tuple(shape)))
    return Tensor(create_like(op, [value, *list(op.operands)[1:]], [kind], new).result)


# An element of a tensor as a sum: the coefficients of unknown elements, and a constant.
_Sum = Counter[Any]
_CONSTANT = None


def _differences(pads: ir.Value, crops: ir.Value, count: int) -> list[tuple[int, int]] | None:
    """Returns the difference of pads and crops for each of some dimensions; None if unknown."""
    result: list[tuple[int, int]] = []
    for axis in range(count):
        pair: list[int] = []
        for side in (0, 1):
            difference = _number(pads, (axis, side))
            difference.subtract(_number(crops, (axis, side)))
            if any(number for part, number in difference.items() if part is not _CONSTANT):
                return None
            pair.append(difference[_CONSTANT])
        result.append((pair[0], pair[1]))
    return result


def _constants(crops: ir.Value, axis: int, count: int) -> tuple[int, int] | None:
    """Returns the crops before and after a dimension; None if unknown."""
    if not 1 <= axis <= count:
        return 0, 0
    numbers = [_number(crops, (axis - 1, side)) for side in (0, 1)]
    if any(part is not _CONSTANT for number in numbers for part in number):
        return None
    return numbers[0][_CONSTANT], numbers[1][_CONSTANT]


def _number(value: ir.Value, place: tuple[int, ...]) -> _Sum:
    """Returns one element of an integer tensor as a sum of unknown elements and a constant."""
    elements = stored(value)
    if elements is not None:
        return Counter({_CONSTANT: int(np.array(elements).reshape(elements.type.shape)[place])})
    op = producer(value, "tf.Add", "tf.AddV2", "tf.Identity", "tf.Pack", "tf.StridedSlice", "tf.Sub")
    if op is not None:
        match op.name:
            case "tf.Identity":
                return _number(op.operands[0], place)
            case "tf.Pack" if ir.IntegerAttr(op.attributes["axis"]).value == 0:
                return _number(op.operands[place[0]], place[1:])
            case "tf.StridedSlice" if not place and (at := _taken(op)) is not None:
                return _number(op.operands[0], (at,))
            case "tf.Add" | "tf.AddV2" | "tf.Sub" if (
                len({tensor_type_of(operand).shape for operand in op.operands}) == 1
            ):
                first, second = (_number(operand, place) for operand in op.operands)
                (first.subtract if op.name == "tf.Sub" else first.update)(second)
                return first
            case _:
                pass
    return Counter({(value, place): 1})


def _taken(op: ir.Operation | ir.OpView) -> int | None:
    """Returns the index of the vector element that a slice takes; None if it takes something else."""
    begin = stored(op.operands[1])
    masks = {name: ir.IntegerAttr(op.attributes[f"{name}_mask"]).value for name in ("begin", "shrink_axis", "new_axis")}
    shape = tensor_type_of(op.operands[0]).shape
    if begin is None or shape is None or len(shape) != 1 or masks != {"begin": 0, "shrink_axis": 1, "new_axis": 0}:
        return None
    at = int(np.array(begin).reshape(-1)[0])
    return at if at >= 0 else None
