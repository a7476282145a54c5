"""``Landmarks2TransformMatrix`` and ``TransformLandmarks``: landmarks, and where they lie in a cropped image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from litefuse.errors import KernelError
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs

_DIMENSIONS = 3


@pack_kernel("Landmarks2TransformMatrix", native=True)
class Landmarks2TransformMatrix(CustomOp):
    """The matrix from the pixels of an upright crop around landmarks to those of the image; MediaPipe's op.

    Input: the landmarks, float32 [1, 1, 1, 3 * landmarks] (version 1) or [1, landmarks, 3] (version 2), each x, y and
    z, which does not matter.

    Output: float32 [1, 4, 4], whose first two rows give x and y of the image for (x, y, 0, 1) of the crop.

    Options of version 2: ``subset_idxs``, the landmarks that the crop holds; ``left_rotation_idx`` and
    ``right_rotation_idx``, those whose line is turned to the angle ``target_rotation_radians``; ``output_width`` and
    ``output_height`` of the crop; ``scale_x`` and ``scale_y``, the crop's size over that of the landmarks' box.

    Options of version 1: ``subset``, ``left_rotation_idx`` and ``right_rotation_idx`` likewise, whose line is turned to
    be level; ``input_hw`` and ``output_hw``, the sizes of the image and the crop; ``landmarks_range``, the size that
    the landmarks' coordinates are relative to; ``bbox_size_multiplier``; ``dimensions``, 3.

    Source: MediaPipe, ``mediapipe/util/tflite/operations/landmarks_to_transform_matrix.cc``. It computes in float32,
    this kernel in float64.
    """

    dtypes = ("float32",)

    def prepare(self, landmarks: TensorSpec, **options: Any) -> TensorSpec:
        """Checks the options, which tell the version."""
        assert landmarks.shape is not None
        is_second = "subset_idxs" in options
        rank = 3 if is_second else 4
        count = landmarks.shape[-1] // _DIMENSIONS if not is_second and landmarks.shape else 0
        if is_second and len(landmarks.shape) == rank:
            count = landmarks.shape[1]
        expected = (1, count, _DIMENSIONS) if is_second else (1, 1, 1, count * _DIMENSIONS)
        if landmarks.shape != expected or landmarks.dtype != np.float32:
            form = "[1, landmarks, 3]" if is_second else "[1, 1, 1, 3 * landmarks]"
            raise KernelError(f"the landmarks must be float32 {form}, not {landmarks.dtype} {list(landmarks.shape)}")
        self._matrix = _Second(options, count) if is_second else _First(options, count)
        return TensorSpec((1, 4, 4), np.float32)

    def invoke(self, inputs: Any, outputs: Outputs) -> None:
        places = inputs[0].reshape(-1, _DIMENSIONS)[:, :2].astype(np.float64)
        with np.errstate(all="ignore"):
            outputs[0][0] = self._matrix(places)


class _First:
    """The matrix of version 1."""

    def __init__(self, options: Mapping[str, Any], count: int) -> None:
        self._subset = _indices(options, "subset", count)
        self._eyes = _index(options, "left_rotation_idx", count), _index(options, "right_rotation_idx", count)
        self._image, self._crop = (_pair(options, name) for name in ("input_hw", "output_hw"))
        self._range = _number(options, "landmarks_range")
        self._multiplier = _number(options, "bbox_size_multiplier")
        if options.get("dimensions") != _DIMENSIONS:
            raise KernelError(f"dimensions must be {_DIMENSIONS}, not {options.get('dimensions')!r}")
        if self._range <= 0 or self._multiplier == 0:
            raise KernelError("landmarks_range must be positive, and bbox_size_multiplier not 0")

    def __call__(self, places: Any) -> Any:
        left, right = (places[index] for index in self._eyes)
        angle = -np.arctan((right[1] - left[1]) / (right[0] - left[0]))
        turned = places[self._subset] @ _rotation(angle)[:2, :2].T
        size = (turned.max(0) - turned.min(0)) * self._multiplier / self._range
        middle = _rotation(-angle)[:2, :2] @ ((turned.max(0) + turned.min(0)) / 2) / self._range * 2 - 1
        rotation = _rotation(-angle)
        rotation[:2, 2] = middle
        image = np.array(self._image[::-1]) - 1
        crop = np.array(self._crop[::-1]) - 1
        to_relative = np.array([[2 / crop[0], 0, -1], [0, 2 / crop[1], -1], [0, 0, 1]])
        to_absolute = np.array([[image[0] / 2, 0, image[0] / 2], [0, image[1] / 2, image[1] / 2], [0, 0, 1]])
        product = to_absolute @ rotation @ np.diag([*size, 1]) @ to_relative
        matrix = np.zeros((4, 4))
        matrix[:3, :2], matrix[:2, 3], matrix[2, 2], matrix[3, 3] = product[:, :2], product[:2, 2], product[2, 2], 1
        return matrix


class _Second:
    """The matrix of version 2."""

    def __init__(self, options: Mapping[str, Any], count: int) -> None:
        self._subset = _indices(options, "subset_idxs", count)
        self._eyes = _index(options, "left_rotation_idx", count), _index(options, "right_rotation_idx", count)
        self._target = _number(options, "target_rotation_radians")
        self._size = np.array([_number(options, f"output_{dimension}") for dimension in ("width", "height")])
        self._scale = np.array([_number(options, f"scale_{axis}") for axis in "xy"])
        if min(*self._size, *self._scale) <= 0:
            raise KernelError("output_width, output_height, scale_x and scale_y must be positive")

    def __call__(self, places: Any) -> Any:
        left, right = (places[index] for index in self._eyes)
        angle = self._target - np.arctan2(right[1] - left[1], right[0] - left[0])
        turned = places[self._subset] @ _rotation(angle)[:2, :2].T
        middle = _rotation(-angle)[:2, :2] @ ((turned.max(0) + turned.min(0)) / 2)
        scale = self._scale * (turned.max(0) - turned.min(0)) / self._size
        matrix = np.eye(4)
        matrix[:2, :2] = _rotation(-angle)[:2, :2] * scale
        matrix[:2, 3] = middle - matrix[:2, :2] @ (self._size / 2)
        return matrix


@pack_kernel("TransformLandmarks", native=True)
class TransformLandmarks(CustomOp):
    """Landmarks in the image of landmarks in a crop: the first two rows of a matrix applied to (x, y, 0, 1).

    Inputs, float32: the landmarks, [batch, rows, cols, landmarks * dimensions] (version 1) or
    [batch, landmarks, dimensions] (version 2); a matrix of 16 numbers, such as that of ``Landmarks2TransformMatrix``,
    or one for each of the batch.

    Output: the landmarks, of the same shape; z stays as it is.

    Options of version 1: ``dimensions``, 2 or 3, and ``scale`` of the matrix's last column, 1 if missing. Version 2 has
    none.

    Source: MediaPipe, ``mediapipe/util/tflite/operations/transform_landmarks.cc``, which takes a batch of 1.
    """

    dtypes = ("float32",)

    def prepare(
        self, landmarks: TensorSpec, matrix: TensorSpec, *, dimensions: int | None = None, scale: float = 1.0
    ) -> TensorSpec:
        assert landmarks.shape is not None
        if landmarks.dtype != np.float32 or len(landmarks.shape) != (3 if dimensions is None else 4):
            form = "[batch, landmarks, 2 or 3]" if dimensions is None else "[batch, rows, cols, landmarks * dimensions]"
            raise KernelError(f"the landmarks must be float32 {form}, not {landmarks.dtype} {list(landmarks.shape)}")
        self._dimensions = landmarks.shape[2] if dimensions is None else int(dimensions)
        if self._dimensions not in {2, 3} or landmarks.shape[-1] % self._dimensions or scale == 0:
            raise KernelError(
                f"landmarks have 2 or 3 dimensions, of which {landmarks.shape[-1]} are a multiple, and a scale that is "
                f"not 0; not {self._dimensions} and {scale:g}"
            )
        check_matrices(matrix, landmarks.shape[0])
        self._scale = np.float32(scale)
        return TensorSpec(landmarks.shape, np.float32)

    def invoke(self, inputs: Any, outputs: Outputs) -> None:
        """Applies the matrix of each of the batch to its landmarks."""
        shape = (inputs[0].shape[0], -1, self._dimensions) if inputs[0].size else (0, 0, self._dimensions)
        places = inputs[0].reshape(shape)
        # Row, batch, landmark.
        rows = inputs[1].reshape(-1, 4, 4)[:, :2].transpose(1, 0, 2)[..., np.newaxis]
        moved = np.array(places)
        for axis in range(2):
            a, b, _, last = (rows[axis][:, position] for position in range(4))
            moved[..., axis] = (a * places[..., 0] + b * places[..., 1]) + last * self._scale
        outputs[0][...] = moved.reshape(inputs[0].shape)


def check_matrices(matrix: TensorSpec, batch: int) -> None:
    """Checks that an input is one 4 x 4 matrix of float32, or one for each of a batch.

    Raises:
        KernelError: It is not.
    """
    assert matrix.shape is not None
    size = int(np.prod(matrix.shape, dtype=np.int64))
    if matrix.dtype != np.float32 or size not in {16, 16 * batch}:
        raise KernelError(
            f"the matrix must be of 16 numbers of float32, or so many for each of {batch}; it is {matrix.dtype} "
            f"{list(matrix.shape)}"
        )


def _rotation(angle: Any) -> Any:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])


def _option(options: Mapping[str, Any], name: str) -> Any:
    if name not in options:
        raise KernelError(f"the model does not give the option {name!r}")
    return options[name]


def _number(options: Mapping[str, Any], name: str) -> float:
    value = _option(options, name)
    if not isinstance(value, (int, float)):
        raise KernelError(f"{name} must be a number, not {value!r}")
    return float(value)


def _index(options: Mapping[str, Any], name: str, count: int) -> int:
    value = _option(options, name)
    if not isinstance(value, int) or not 0 <= value < count:
        raise KernelError(f"{name} must be the index of one of {count} landmarks, not {value!r}")
    return value


def _indices(options: Mapping[str, Any], name: str, count: int) -> list[int]:
    value: Any = _option(options, name)
    if not isinstance(value, list) or not value or not all(isinstance(n, int) and 0 <= n < count for n in value):  # pyright: ignore[reportUnknownVariableType]
        raise KernelError(f"{name} must be indices of {count} landmarks, not {value!r}")
    return value  # pyright: ignore[reportUnknownVariableType]


def _pair(options: Mapping[str, Any], name: str) -> Sequence[int]:
    value: Any = _option(options, name)
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(n, int) and n > 0 for n in value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        raise KernelError(f"{name} must be [rows, cols] with positive numbers, not {value!r}")
    return value  # pyright: ignore[reportUnknownVariableType]
