"""One node of a model that a Python kernel runs."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.runtime.abi import AllocationType, Status, TfLiteContext, TfLiteTensor
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.options import Parameters
from litefuse.litert.runtime.outputs import Output, Outputs, make_dynamic, resize
from litefuse.litert.runtime.scales import is_same_scale
from litefuse.litert.runtime.tensors import (
    MOST_STRINGS,
    STRING,
    array_view,
    dtype_of,
    name_of,
    quantization_of,
    read_strings,
    shape_of,
    signature_of,
)
from litefuse.support.plug_ins.entry_points import place_of

if TYPE_CHECKING:
    import numpy.typing as npt

_CONSTANT = (AllocationType.MMAP_RO, AllocationType.PERSISTENT_RO)


class Node:
    """A node, its kernel, and the arrays that its kernel sees.

    Attributes:
        context: The address of the ``TfLiteContext`` of the last call.
        op: The op's name in the model.
        where: The node's name in error messages.
        place: Where its kernel begins.
    """

    def __init__(
        self,
        kernel: type[CustomOp],
        *,
        op: str,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: bytes,
    ) -> None:
        self.context = 0
        self.op = op
        self.where = node_text(op, name)
        self.place = place_of(kernel)
        self._indices = (tuple(inputs), tuple(outputs))
        if -1 in outputs:
            raise KernelError("the node leaves out an output, which Python kernels cannot", where=self.where)
        decoded = kernel.decode_options(options)
        self._kernel = kernel()
        self._is_of_pack = kernel.__module__.startswith("litefuse.kernels.")
        self._prepare_options = _accepted(kernel.prepare, len(inputs), decoded, self.where)
        least, most = Parameters.of(kernel.invoke).positional
        if least > 2 or (most is not None and most < 2):
            raise KernelError(
                "its invoke does not take the inputs and the outputs",
                where=self.where,
                hint="Write invoke(self, inputs, outputs, *, option).",
            )
        self._invoke_options = Parameters.of(kernel.invoke).select(decoded, where=self.where)
        self._specs: tuple[TensorSpec, ...] = ()
        # Valid as long as the runtime does not move its tensors or their data.
        self._tensors = 0
        self._data: tuple[tuple[TfLiteTensor, int | None], ...] = ()
        self._inputs: tuple[npt.NDArray[Any] | None, ...] = ()
        self._outputs = Outputs(self.where, [])
        self._copying = False

    def prepare(self, context: int) -> int:
        """Asks the kernel for its outputs' shapes and passes them to the runtime."""
        self.context = context
        outputs = self._ask(context)
        for tensor, spec in zip(outputs, self._specs, strict=True):
            if spec.shape is None:
                make_dynamic(tensor)
            else:
                resize(context, tensor, spec.shape, where=self.where)
        self._tensors = 0
        return Status.OK

    def check(self, context: int) -> None:
        """Asks the kernel whether it takes the node, with the shapes that the model declares; changes nothing.

        Raises:
            KernelError: It does not, or its outputs have other shapes than the model declares.
        """
        for tensor, spec in zip(self._ask(context), self._specs, strict=True):
            declared, signature = shape_of(tensor), signature_of(tensor)
            sizes = signature if len(signature) == len(declared) else declared
            if spec.shape is None or not declared:
                continue
            if len(sizes) != len(spec.shape) or any(
                size not in {-1, known} for size, known in zip(sizes, spec.shape, strict=True)
            ):
                raise KernelError(
                    f"the output {name_of(tensor)!r} is {list(spec.shape)}, and {list(sizes)} in the model",
                    where=self.where,
                )

    def _ask(self, context: int) -> list[TfLiteTensor]:
        """Asks the kernel for its outputs' shapes; returns the outputs."""
        inputs, outputs = self._find_tensors(TfLiteContext.from_address(context).tensors)
        specs = [self._spec(tensor) for tensor in inputs]
        self._kernel.output_specs = tuple(
            TensorSpec(None, dtype_of(output, where=self.where), name_of(output), quantization=quantization_of(output))
            for output in outputs
        )
        self._check_scales(specs)
        try:
            answer: object = self._kernel.prepare(*specs, **self._prepare_options)  # pyright: ignore[reportArgumentType]
        except Exception as error:
            self._refuse(error, "inputs of these types and shapes, or these options")
            raise
        self._specs = self._checked(answer, outputs)
        return outputs

    def invoke(self, context: int) -> int:
        """Runs the kernel."""
        self.context = context
        tensors = TfLiteContext.from_address(context).tensors
        if tensors != self._tensors:
            self._bind(tensors)
        else:
            for tensor, address in self._data:
                if tensor.data != address:
                    self._bind(tensors)
                    break
        inputs, outputs = self._inputs, self._outputs
        if self._copying:
            inputs = self._with_strings(inputs)
            outputs.begin()
        try:
            result: object = self._kernel.invoke(inputs, outputs, **self._invoke_options)  # pyright: ignore[reportArgumentType]
        except Exception as error:
            self._refuse(error, "inputs of these values, or these options")
            raise
        if result is not None:
            raise KernelError(
                f"invoke returned {type(result).__name__}, but it returns nothing",
                where=self.where,
                hint="Write to outputs[0][...] or assign outputs[0] = array.",
            )
        if self._copying:
            outputs.commit(context)
        return Status.OK

    def _check_scales(self, inputs: Sequence[TensorSpec | None]) -> None:
        """Checks that outputs have the scales of the inputs that they have numbers of."""
        for output, position in self._kernel.same_scales.items():
            if output >= len(self._kernel.output_specs) or position >= len(inputs):
                raise KernelError(
                    f"the node has no output {output} with the scale of input {position}", where=self.where
                )
            given = inputs[position]
            if given is None or not is_same_scale(given.quantization, self._kernel.output_specs[output].quantization):
                raise KernelError(
                    f"output {output} must have the scale and the zero point of input {position}, one for the whole "
                    "tensor",
                    where=self.where,
                )

    def _refuse(self, error: Exception, what: str) -> None:
        """Raises a KernelError for errors of the pack's kernels, which do not check for models that no converter wrote.

        Exceptions of other kernels are left to propagate.
        """
        if self._is_of_pack and not isinstance(error, LitefuseError):
            message = f"litefuse's kernel does not take {what}: {type(error).__name__}: {error}"
            raise KernelError(message, where=self.where) from error

    def _find_tensors(self, tensors: int) -> tuple[list[TfLiteTensor | None], list[TfLiteTensor]]:
        size = ctypes.sizeof(TfLiteTensor)
        inputs, outputs = self._indices
        return (
            [None if index < 0 else TfLiteTensor.from_address(tensors + index * size) for index in inputs],
            [TfLiteTensor.from_address(tensors + index * size) for index in outputs],
        )

    def _bind(self, tensors: int) -> None:
        """Creates the arrays over the tensors' memory."""
        inputs, outputs = self._find_tensors(tensors)
        self._inputs = tuple(tensor and self._view(tensor) for tensor in inputs)
        bound = [Output(tensor, spec.dtype, spec.shape) for tensor, spec in zip(outputs, self._specs, strict=True)]
        self._outputs = Outputs(self.where, bound)
        self._copying = not all(output.in_place for output in bound) or any(
            array is not None and array.dtype == STRING for array in self._inputs
        )
        watched = [*filter(None, inputs), *(output.tensor for output in bound if output.in_place)]
        self._data = tuple((tensor, tensor.data) for tensor in watched)
        self._tensors = tensors

    def _view(self, tensor: TfLiteTensor) -> npt.NDArray[Any]:
        dtype = dtype_of(tensor, where=self.where)
        if dtype == STRING:
            return read_strings(tensor)
        return array_view(tensor.data, shape_of(tensor), dtype, writable=False)

    def _with_strings(self, inputs: tuple[npt.NDArray[Any] | None, ...]) -> tuple[npt.NDArray[Any] | None, ...]:
        """Returns the inputs with strings read again: the array is a copy, and the memory may change without moving."""
        if not any(array is not None and array.dtype == STRING for array in inputs):
            return inputs
        tensors, _ = self._find_tensors(self._tensors)
        return tuple(
            read_strings(tensor) if tensor is not None and array is not None and array.dtype == STRING else array
            for tensor, array in zip(tensors, inputs, strict=True)
        )

    def _spec(self, tensor: TfLiteTensor | None) -> TensorSpec | None:
        if tensor is None:
            return None
        constant = tensor.allocation_type in _CONSTANT and tensor.data is not None
        return TensorSpec(
            shape_of(tensor),
            dtype_of(tensor, where=self.where),
            name_of(tensor),
            self._view(tensor) if constant else None,
            quantization_of(tensor),
        )

    def _checked(self, answer: object, outputs: Sequence[TfLiteTensor]) -> tuple[TensorSpec, ...]:
        """Returns the result of ``prepare``, if it fits the node's outputs."""
        given = [answer] if isinstance(answer, TensorSpec) else answer
        if not isinstance(given, Sequence) or not all(
            isinstance(spec, TensorSpec) for spec in cast("Sequence[object]", given)
        ):
            raise KernelError(
                f"prepare returned {answer!r}, not a TensorSpec or a sequence of them",
                where=self.where,
                hint="Return TensorSpec(shape, dtype).",
            )
        specs = tuple(cast("Sequence[TensorSpec]", given))
        if len(specs) != len(outputs):
            raise KernelError(
                f"the node has {len(outputs)} outputs, but prepare returned {len(specs)}", where=self.where
            )
        for index, (tensor, spec) in enumerate(zip(outputs, specs, strict=True)):
            dtype = dtype_of(tensor, where=self.where)
            if spec.dtype != dtype:
                raise KernelError(
                    f"output {index} ({name_of(tensor)!r}) is {dtype} in the model, but prepare returned {spec.dtype}",
                    where=self.where,
                )
            if spec.shape is not None and (
                not all(0 <= size < 2**31 for size in spec.shape)
                or (spec.dtype == STRING and math.prod(spec.shape) > MOST_STRINGS)
            ):
                raise KernelError(
                    f"output {index} ({name_of(tensor)!r}) cannot have the shape {list(spec.shape)}, "
                    f"which prepare returned",
                    where=self.where,
                )
        return specs


def node_text(op: str, name: str) -> str:
    """Returns a node's name for messages: nodes have no names, so it is the op's and the first output's (``name``)."""
    return f"custom op {op}, node {name!r}"


def _accepted(method: Any, inputs: int, options: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Returns the options for ``prepare``, once it is known to take that many inputs."""
    parameters = Parameters.of(method)
    least, most = parameters.positional
    if inputs < least or (most is not None and inputs > most):
        takes = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
        raise KernelError(f"the node has {inputs} inputs, but the kernel's prepare takes {takes}", where=where)
    return parameters.select(options, where=where)
