"""The outputs of a kernel's ``invoke``."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.litert.runtime.abi import (
    RESIZE_TENSOR,
    AllocationType,
    Status,
    TfLiteContext,
    TfLiteTensor,
    TfLiteType,
    free,
    owned_int_array,
)
from litefuse.litert.runtime.tensors import STRING, array_view, encode_strings, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Output:
    """One output tensor of a node.

    Attributes:
        tensor: The runtime's tensor.
        dtype: Its dtype.
        shape: Its shape, as returned by ``prepare``; None if ``invoke`` determines it.
        array: The array for the kernel to fill: a view of the tensor if ``in_place``, else an array that is copied into
            it after the kernel ran, or None until the kernel assigns one.
    """

    tensor: TfLiteTensor
    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None
    array: npt.NDArray[Any] | None = None

    @property
    def in_place(self) -> bool:
        """Whether the kernel writes into the runtime's own memory."""
        return self.shape is not None and self.dtype != STRING


class Outputs:
    """The outputs that a kernel writes: read an array to fill it, ``outputs[0][...] = 1``, or assign one.

    Assigning copies an array of the right dtype and shape into the tensor; nothing is cast or broadcast. It is the only
    way for an output without a shape from ``prepare``; the array's shape becomes the tensor's.
    """

    def __init__(self, where: str, outputs: list[Output]) -> None:
        self._where = where
        self._outputs = outputs
        for output in outputs:
            if output.shape is not None and output.in_place:
                if output.tensor.data:
                    output.array = array_view(output.tensor.data, output.shape, output.dtype, writable=True)
                else:  # fault `unread-output`
                    output.array = np.empty(output.shape, output.dtype)
        self._copied = [output for output in outputs if not output.in_place]

    def __len__(self) -> int:
        return len(self._outputs)

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> npt.NDArray[Any]:
        array = self._outputs[index].array
        if array is None:
            raise KernelError(
                f"output {index} has no shape yet", where=self._where, hint=f"Assign it: outputs[{index}] = array."
            )
        return array

    def __setitem__(self, index: int, value: npt.ArrayLike) -> None:
        output = self._outputs[index]
        # Strings are stored as objects: numpy's own string dtypes would cut off trailing zero bytes.
        array = np.asarray(value, STRING if output.dtype == STRING else None)
        shape = array.shape if output.shape is None else output.shape
        if array.dtype != output.dtype or array.shape != shape:
            raise KernelError(
                f"output {index} ({name_of(output.tensor)!r}) is {output.dtype}{list(shape)}, "
                f"but invoke assigned {array.dtype}{list(array.shape)}",
                where=self._where,
            )
        if output.in_place:
            np.copyto(self[index], array)
        else:
            output.array = array

    def begin(self) -> None:
        """Forgets the assignments of the last call."""
        for output in self._copied:
            output.array = None if output.shape is None else np.full(output.shape, b"", STRING)

    def commit(self, context: int) -> None:
        """Copies assigned arrays into the runtime's tensors, which get their shapes."""
        for output in self._copied:
            if output.array is None:
                index = self._outputs.index(output)
                raise KernelError(
                    f"invoke did not assign output {index} ({name_of(output.tensor)!r}), "
                    f"and prepare returned no shape for it",
                    where=self._where,
                    hint=f"Assign it: outputs[{index}] = array.",
                )
            if output.dtype == STRING:
                _write_strings(context, output.tensor, output.array, where=self._where)
            elif output.array.size == 0:
                _make_empty(context, output.tensor, output.array.shape, where=self._where)
            else:
                resize(context, output.tensor, output.array.shape, where=self._where)
                view = array_view(output.tensor.data, output.array.shape, output.dtype, writable=True)
                np.copyto(view, output.array)
            output.array = None


def make_dynamic(tensor: TfLiteTensor) -> None:
    """Removes the tensor from the memory plan: it gets its own memory when it is resized."""
    if tensor.allocation_type != AllocationType.DYNAMIC:
        tensor.allocation_type = AllocationType.DYNAMIC
        tensor.data = None


def resize(context: int, tensor: TfLiteTensor, shape: tuple[int, ...], *, where: str) -> None:
    """Sets the sizes of a tensor; a dynamic one gets memory for them at once.

    Raises:
        KernelError: The runtime refuses, because the tensor is a constant or too large.
    """
    function = RESIZE_TENSOR(TfLiteContext.from_address(context).ResizeTensor)
    if function(context, ctypes.addressof(tensor), owned_int_array(*shape)) != Status.OK:
        raise KernelError(f"the runtime cannot give tensor {name_of(tensor)!r} the shape {list(shape)}", where=where)


def _write_strings(context: int, tensor: TfLiteTensor, array: npt.NDArray[Any], *, where: str) -> None:
    try:
        data = encode_strings(array)
    except (TypeError, OverflowError) as error:
        raise KernelError(f"output {name_of(tensor)!r}: {error}", where=where) from error
    make_dynamic(tensor)
    # The runtime resizes strings without giving them memory, since their sizes do not determine how much, and later
    # frees that memory itself. As a tensor of bytes it gets memory that the runtime owns.
    _resize_as(TfLiteType.UINT8, context, tensor, (len(data),), where=where)
    assert tensor.data is not None
    ctypes.memmove(tensor.data, data, len(data))
    resize(context, tensor, array.shape, where=where)


def _make_empty(context: int, tensor: TfLiteTensor, shape: tuple[int, ...], *, where: str) -> None:
    # Resizing gives even an empty dynamic tensor some memory, and ``get_tensor`` rejects an empty tensor that has
    # memory.
    if tensor.data:
        free(tensor.data)
    tensor.data, tensor.bytes = None, 0
    _resize_as(TfLiteType.STRING, context, tensor, shape, where=where)


def _resize_as(type_: TfLiteType, context: int, tensor: TfLiteTensor, shape: tuple[int, ...], *, where: str) -> None:
    """Resizes as if the tensor were of another type: as STRING it gets its sizes only, as UINT8 one byte for each."""
    own = tensor.type
    tensor.type = type_
    try:
        resize(context, tensor, shape, where=where)
    finally:
        tensor.type = own
