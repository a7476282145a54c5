"""``ConcatV2``, ``Pack``, ``Select``, ``SelectV2``, ``Pad`` and ``PadV2`` of strings.

LiteRT has these ops for numbers only, and no other op that combines strings of two tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import OfStringsOnly, check_count, check_dtype, check_scalar, check_strings
from litefuse.kernels.pack.supported import INDICES
from litefuse.litert.runtime.custom_op import TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["ConcatV2", "Pack", "Pad", "PadV2", "Select", "SelectV2"]


@pack_kernel("ConcatV2", limited=True)
class ConcatV2(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.concat``), of strings.

    Inputs: strings, whose shapes may differ in one dimension only; ``axis``, int32 or int64: this dimension.

    Output: the inputs, concatenated along it.
    """

    def prepare(self, *inputs: TensorSpec) -> TensorSpec:
        """Returns the output's shape, if the axis is a constant.

        Raises:
            KernelError: An input is not of strings, or its shape does not match.
        """
        *texts, axis = inputs
        shapes = [check_strings(f"input {place}", text) for place, text in enumerate(texts)]
        check_dtype("axis", axis, *INDICES)
        check_scalar("axis", axis)
        if axis.value is None:
            return TensorSpec(None, STRING)
        try:
            joined = np.concatenate([np.empty(shape, np.bool_) for shape in shapes], int(axis.value.item()))
        except ValueError:
            raise KernelError(f"inputs {shapes} cannot be joined along axis {axis.value.item()}") from None
        return TensorSpec(joined.shape, STRING)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Concatenates the inputs."""
        *texts, axis = inputs
        outputs[0] = np.concatenate(texts, int(axis.item()))


@pack_kernel("Pack", limited=True)
class Pack(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.stack``), of strings.

    Inputs: strings of one shape. Output: the inputs, stacked along a new dimension.

    Options: ``axis``, the new dimension, 0 if missing.
    """

    def prepare(self, *inputs: TensorSpec, axis: int = 0) -> TensorSpec:
        """Returns the output's shape.

        Raises:
            KernelError: An input is not of strings, the shapes differ, or the axis is out of range.
        """
        shapes = {check_strings(f"input {place}", text) for place, text in enumerate(inputs)}
        if len(shapes) != 1:
            raise KernelError(f"inputs must be of one shape, not {' and '.join(map(str, sorted(shapes)))}")
        (shape,) = shapes
        if not -len(shape) - 1 <= axis <= len(shape):
            raise KernelError(f"axis must be from {-len(shape) - 1} to {len(shape)}, not {axis}")
        place = axis % (len(shape) + 1)
        return TensorSpec([*shape[:place], len(inputs), *shape[place:]], STRING)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, axis: int = 0) -> None:
        """Stacks the inputs."""
        outputs[0] = np.stack(inputs, axis)


@pack_kernel("SelectV2", limited=True)
class SelectV2(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.where`` with three arguments), of strings.

    Inputs: ``condition``, bool; ``t`` and ``e``, strings; their shapes broadcast.

    Output: ``t`` where the condition is true, otherwise ``e``.
    """

    def prepare(self, condition: TensorSpec, t: TensorSpec, e: TensorSpec) -> TensorSpec:
        """Returns the shape that the inputs broadcast to.

        Raises:
            KernelError: An input has a wrong dtype, or the shapes do not broadcast.
        """
        shapes = [check_dtype("condition", condition, "bool"), check_strings("t", t), check_strings("e", e)]
        try:
            return TensorSpec(np.broadcast_shapes(*shapes), STRING)
        except ValueError:
            raise KernelError(f"the shapes {', '.join(map(str, shapes))} do not broadcast to one") from None

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Selects the strings."""
        outputs[0] = np.where(*inputs)


@pack_kernel("Select", limited=True)
class Select(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.compat.v1.where``), of strings.

    Inputs: ``condition``, bool; ``t`` and ``e``, strings of one shape. The condition has this shape, or is a scalar,
    or a vector that selects whole rows.

    Output: ``t`` where the condition is true, otherwise ``e``.
    """

    def prepare(self, condition: TensorSpec, t: TensorSpec, e: TensorSpec) -> TensorSpec:
        """Returns the shape of the strings.

        Raises:
            KernelError: An input has a wrong dtype or shape.
        """
        chosen, shape = check_dtype("condition", condition, "bool"), check_strings("t", t)
        if check_strings("e", e) != shape:
            raise KernelError(f"t and e must be of one shape, not {shape} and {e.shape}")
        if chosen not in {(), shape, shape[:1]}:
            raise KernelError(f"condition {chosen} must be of the shape of t {shape}, a scalar, or one for each row")
        return TensorSpec(shape, STRING)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Selects the strings."""
        condition, t, e = inputs
        if condition.ndim < t.ndim:
            condition = condition.reshape(condition.shape + (1,) * (t.ndim - condition.ndim))
        outputs[0] = np.where(condition, t, e)


@pack_kernel("Pad", limited=True)
class Pad(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.pad``), of strings.

    Inputs: ``input``, strings; ``paddings``, ``[rank, 2]`` of int32 or int64: how many are added before and after in
    each dimension.

    Output: the strings, padded with empty ones.
    """

    def prepare(self, text: TensorSpec, paddings: TensorSpec) -> TensorSpec:
        """Returns the output's shape, if the paddings are constants.

        Raises:
            KernelError: An input has a wrong dtype or shape.
        """
        return _padded_shape(text, paddings)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Pads the strings.

        Raises:
            KernelError: A padding is negative.
        """
        text, paddings = inputs
        outputs[0] = _padded(text, paddings, b"")


@pack_kernel("PadV2", limited=True)
class PadV2(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.pad`` with a value), of strings.

    Inputs: those of ``Pad``, and ``constant_values``, a string.

    Output: the strings, padded with this one.
    """

    def prepare(self, text: TensorSpec, paddings: TensorSpec, value: TensorSpec) -> TensorSpec:
        """Returns the output's shape, if the paddings are constants.

        Raises:
            KernelError: An input has a wrong dtype or shape.
        """
        check_strings("constant_values", value)
        check_scalar("constant_values", value)
        return _padded_shape(text, paddings)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Pads the strings.

        Raises:
            KernelError: A padding is negative.
        """
        text, paddings, value = inputs
        outputs[0] = _padded(text, paddings, value.item())


def _padded_shape(text: TensorSpec, paddings: TensorSpec) -> TensorSpec:
    shape = check_strings("input", text)
    if check_dtype("paddings", paddings, *INDICES) != (len(shape), 2):
        raise KernelError(f"paddings must be of shape {(len(shape), 2)}, not {paddings.shape}")
    if paddings.value is None:
        return TensorSpec(None, STRING)
    return TensorSpec([size + int(sum(pair)) for size, pair in zip(shape, paddings.value, strict=True)], STRING)


def _padded(text: npt.NDArray[Any], paddings: npt.NDArray[Any], value: bytes) -> npt.NDArray[Any]:
    if np.any(paddings < 0):
        raise KernelError(f"paddings must not be negative, as in {paddings.tolist()}")
    check_count([size + sum(pair) for size, pair in zip(text.shape, paddings.tolist(), strict=True)])
    return np.pad(text, paddings, constant_values=value) if text.ndim else text
