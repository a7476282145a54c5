"""LiteRT's ``CompiledModel`` with kernels written in Python and C++."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from ctypes import c_bool, c_char_p, c_int, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError
from litefuse.litert.runtime import litert_library as litert
from litefuse.litert.runtime.custom_op import CustomOp
from litefuse.litert.runtime.input_specs import InputSpec, signature_section
from litefuse.litert.runtime.kernel_delegates import kernel_delegates, missing_kernels
from litefuse.litert.runtime.model_content import check, chosen_signature, path_and_content
from litefuse.litert.runtime.tensors import NUMBERS, STRING

if TYPE_CHECKING:
    from typing_extensions import Self

# LiteRtEnvOptionTag
_AUTO_REGISTER, _MIN_SEVERITY = 24, 25
_INTEGER, _ERROR = 2, 3
# LiteRtTensorBufferLockMode
_READ, _WRITE = 0, 1
_HINT = "litefuse.Interpreter runs such models."
_OK, _UNKNOWN = 0, 9
_NAME = b"litefuse"


@litert.GET_NAME
def _name(_accelerator: int | None, name: Any) -> int:
    name[0] = _NAME
    return _OK


@litert.GET_VERSION
def _version(_accelerator: int | None, version: Any) -> int:
    version[0][:] = (0, 1, 0)
    return _OK


@litert.GET_HARDWARE
def _hardware(_accelerator: int | None, hardware: Any) -> int:
    hardware[0] = litert.ACCELERATORS["cpu"]
    return _OK


@litert.DELETE_DELEGATE
def _keep(_delegate: int | None) -> None:
    """Deletes nothing: the delegate belongs to the accelerator's owner."""


class Accelerator:
    """Has an environment offer a delegate the nodes of each model that it compiles, after XNNPACK.

    A delegate sees all that a kernel can need: dtypes, constants, options, composites. The interface that LiteRT calls
    custom op kernels shows neither dtypes nor constants when it asks for shapes, and knows no composites.

    Args:
        environment: The environment, ``LiteRtEnvironment``.
        delegate: What has the runtime's protocol of delegates, such as ``Delegate`` or ``NativeKernels``.

    The object must live as long as the environment.

    Raises:
        InterpreterError: LiteRT refuses it.
    """

    def __init__(self, environment: c_void_p, delegate: Any) -> None:
        self._delegate = delegate  # lives as long as what points to it
        self._pointer = c_void_p(delegate._get_native_delegate_pointer())  # noqa: SLF001  the runtime's protocol
        self._create = litert.CREATE_DELEGATE(self._wrap)
        accelerator = litert.create("LiteRtCreateAccelerator")
        litert.call("LiteRtSetAcceleratorGetName", accelerator, _name)
        litert.call("LiteRtSetAcceleratorGetVersion", accelerator, _version)
        litert.call("LiteRtSetAcceleratorGetHardwareSupport", accelerator, _hardware)
        litert.call("LiteRtSetDelegateFunction", accelerator, self._create)
        litert.call("LiteRtRegisterAccelerator", environment, accelerator, None, None)

    def _wrap(
        self, _runtime: int | None, _environment: int | None, _accelerator: int | None, _options: int | None, made: Any
    ) -> int:
        wrapper = c_void_p()
        try:
            litert.call("LiteRtWrapDelegate", self._pointer, _keep, ctypes.byref(wrapper))
        except litert.LiteRtError as error:
            return error.status
        except Exception:  # noqa: BLE001  nothing may be raised into C
            return _UNKNOWN
        made[0] = wrapper.value
        return _OK


class TensorDetails(NamedTuple):
    """An input or output of a signature.

    Attributes:
        name: Its name in the signature.
        shape: Its sizes in the model's file; -1 for a dynamic dimension.
        dtype: Its numpy dtype; ``object`` for strings.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class ModelSignature(NamedTuple):
    """A signature of a model: its name, its inputs and its outputs in the order of the model."""

    key: str
    inputs: tuple[TensorDetails, ...]
    outputs: tuple[TensorDetails, ...]


class CompiledModel:
    """``ai_edge_litert.compiled_model.CompiledModel`` that also runs custom ops and composites with kernels.

        with litefuse.CompiledModel("model.tflite", custom_ops=[ExtractImagePatches]) as model:
            outputs = model.run({"images": images})

    Kernels are found as ``litefuse.Interpreter`` finds them, and see all that they see there: LiteRT is given them as
    an accelerator, which is a delegate. It is LiteRT that runs everything else, by XNNPACK on the CPU.

    It calls the functions that LiteRT's shared library exports, since ``ai_edge_litert``'s class takes no kernels.

    Args:
        model: The ``.tflite`` file, or its content.
        custom_ops: Kernels to use before all others: ``CustomOp`` classes, or paths of shared libraries. An empty list
            turns the pack off.
        accelerators: What LiteRT may use: ``cpu``, ``gpu``, ``npu``.

    Attributes:
        signatures: The signatures of the model by their keys.

    Raises:
        InterpreterError: The file is missing or damaged, or LiteRT does not compile it; it loads no file with variable
            tensors.
        KernelError: A kernel does not support the node's inputs and options.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | bytes,
        *,
        custom_ops: Iterable[type[CustomOp] | str | os.PathLike[str]] | None = None,
        accelerators: Sequence[str] = ("cpu",),
    ) -> None:
        self._compiled, self._options, self._model, self._environment = (c_void_p() for _ in range(4))
        unknown = sorted(set(accelerators) - set(litert.ACCELERATORS))
        if unknown or not accelerators:
            raise InterpreterError(
                f"no accelerator {unknown[0]!r}" if unknown else "no accelerator is named",
                hint=f"Choose from {', '.join(litert.ACCELERATORS)}.",
            )
        hardware = sum(litert.ACCELERATORS[name] for name in dict.fromkeys(accelerators))
        path, self._content = path_and_content(model)
        self._where = path or "model content"
        kernels = kernel_delegates(custom_ops, installed=check(path, self._content, self._where))
        self._kernels = kernels.python
        try:
            signatures = self._kernels.run(lambda: self._compile(path, hardware, kernels.delegates), self._explain)
        except BaseException:
            self.close()
            raise
        self.signatures: Mapping[str, ModelSignature] = {signature.key: signature for signature in signatures}

    def _compile(self, path: str | None, hardware: int, delegates: Sequence[Any]) -> list[ModelSignature]:
        """Creates what LiteRT needs, and returns the signatures of the model."""
        cpu = litert.ACCELERATORS["cpu"]
        options = (litert.EnvironmentOption * 2)(
            (_AUTO_REGISTER, 0, _INTEGER, 0, hardware | cpu), (_MIN_SEVERITY, 0, _INTEGER, 0, _ERROR)
        )
        self._environment = litert.create("LiteRtCreateEnvironment", c_int(2), options)
        self._accelerators = [Accelerator(self._environment, delegate) for delegate in delegates]
        self._model = self._load(path)
        self._options = litert.create("LiteRtCreateOptions")
        litert.call("LiteRtSetOptionsHardwareAccelerators", self._options, c_int(hardware))
        self._compiled = litert.create("LiteRtCreateCompiledModel", self._environment, self._model, self._options)
        return [self._signature(index) for index in range(_count("LiteRtGetNumModelSignatures", self._model))]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def _repr_html_(self) -> str:
        from litefuse.support.report.html import sections_html
        from litefuse.support.report.sections import Section

        sections = [Section(self._where, note="" if self._compiled else "It is closed.")]
        for signature in self.signatures.values():
            inputs, outputs = ([(tensor.name, _spec(tensor)) for tensor in side] for side in signature[1:])
            sections.append(signature_section(f"Signature {signature.key}", inputs, outputs))
        return sections_html(sections)

    def close(self) -> None:
        """Frees what LiteRT holds; the object cannot be used afterwards."""
        litert.release("LiteRtDestroyCompiledModel", self._compiled)
        litert.release("LiteRtDestroyOptions", self._options)
        litert.release("LiteRtDestroyModel", self._model)
        litert.release("LiteRtDestroyEnvironment", self._environment)

    def run(self, inputs: Mapping[str, npt.ArrayLike], signature: str | None = None) -> dict[str, npt.NDArray[Any]]:
        """Runs a signature once.

        Args:
            inputs: An array for each input by its name, of exactly its dtype. Dynamic dimensions take its sizes.
            signature: Its key; may be omitted if there is exactly one.

        Returns:
            The outputs by name.

        Raises:
            InterpreterError: No such signature, or the inputs do not fit it; it has strings, or an output
                whose shape depends on values, which the interface does not pass.
            MissingKernelError: The model has custom ops without a kernel.
            KernelError: A native kernel failed. What a kernel in Python raises is raised as it is.
        """
        if not self._compiled:
            raise InterpreterError("the model is closed", where=self._where)
        keys = list(self.signatures)
        key = chosen_signature(signature, keys, self._where)
        chosen = self.signatures[key]
        arrays = [_array(input_, inputs, self._where) for input_ in chosen.inputs]
        if extra := sorted(set(inputs) - {input_.name for input_ in chosen.inputs}):
            names = ", ".join(input_.name for input_ in chosen.inputs)
            raise InterpreterError(f"unknown input {extra[0]!r}", where=self._where, hint=f"The inputs are {names}.")
        for tensor in (*chosen.inputs, *chosen.outputs):
            if tensor.dtype == STRING:
                raise InterpreterError(f"{tensor.name!r} has strings, which CompiledModel does not pass", hint=_HINT)
        return self._kernels.run(lambda: self._run(c_size_t(keys.index(key)), chosen, arrays), self._explain)

    def _run(
        self, signature: c_size_t, chosen: ModelSignature, arrays: Sequence[npt.NDArray[Any]]
    ) -> dict[str, npt.NDArray[Any]]:
        self._resize(signature, arrays)
        shapes = self._output_shapes(signature, len(chosen.outputs))
        with ExitStack() as stack:
            given = [
                stack.enter_context(self._buffer("Input", signature, position, array.dtype, array.shape))
                for position, array in enumerate(arrays)
            ]
            taken = [
                stack.enter_context(self._buffer("Output", signature, position, output.dtype, shape))
                for position, (output, shape) in enumerate(zip(chosen.outputs, shapes, strict=True))
            ]
            for buffer, array in zip(given, arrays, strict=True):
                _copy(buffer, array, _WRITE)
            handles = [(c_void_p * len(part))(*part) for part in (given, taken)]
            sizes = [c_size_t(len(part)) for part in (given, taken)]
            litert.call("LiteRtRunCompiledModel", self._compiled, signature, sizes[0], handles[0], sizes[1], handles[1])
            outputs = {
                output.name: np.empty(shape, output.dtype) for output, shape in zip(chosen.outputs, shapes, strict=True)
            }
            for buffer, array in zip(taken, outputs.values(), strict=True):
                _copy(buffer, array, _READ)
        return outputs

    def _resize(self, signature: c_size_t, arrays: Sequence[npt.NDArray[Any]]) -> None:
        """Gives the inputs the arrays' shapes."""
        for position, array in enumerate(arrays):
            place, current = c_size_t(position), litert.Layout()
            litert.call(
                "LiteRtGetCompiledModelInputTensorLayout", self._compiled, signature, place, ctypes.byref(current)
            )
            if current.shape != array.shape:
                sizes = (c_int * array.ndim)(*array.shape)
                function = "LiteRtCompiledModelResizeInputTensor"
                litert.call(function, self._compiled, signature, place, sizes, c_size_t(array.ndim))

    def _output_shapes(self, signature: c_size_t, count: int) -> list[tuple[int, ...]]:
        """Returns the shapes that the outputs have for the shapes of the inputs."""
        layouts = (litert.Layout * count)()
        function = "LiteRtGetCompiledModelOutputTensorLayouts"
        litert.call(function, self._compiled, signature, c_size_t(count), layouts, c_bool(True))
        return [layout.shape for layout in layouts]

    @contextmanager
    def _buffer(
        self, side: str, signature: c_size_t, position: int, dtype: np.dtype[Any], shape: Sequence[int]
    ) -> Generator[c_void_p]:
        """Makes a buffer of the kind that the accelerators ask for."""
        kind = litert.TensorType(NUMBERS[dtype], litert.new_layout(shape))
        function = f"LiteRtGetCompiledModel{side}BufferRequirements"
        needs = litert.create(function, self._compiled, signature, c_size_t(position))
        function = "LiteRtCreateManagedTensorBufferFromRequirements"
        buffer = litert.create(function, self._environment, ctypes.byref(kind), needs)
        try:
            yield buffer
        finally:
            litert.release("LiteRtDestroyTensorBuffer", buffer)

    def _explain(self, error: Exception) -> Exception:
        if not isinstance(error, litert.LiteRtError):
            return error
        # The accelerators come first: what they leave, LiteRT itself would have to know.
        if unclaimed := list(self._kernels.unclaimed):
            return missing_kernels(unclaimed, self._where)
        return InterpreterError(str(error), where=self._where, hint="LiteRT and native kernels print why.")

    def _load(self, path: str | None) -> c_void_p:
        if path is not None:
            return litert.create("LiteRtCreateModelFromFile", self._environment, c_char_p(path.encode()))
        content = self._content or b""
        return litert.create("LiteRtCreateModelFromBuffer", self._environment, content, c_size_t(len(content)))

    def _signature(self, index: int) -> ModelSignature:
        signature = litert.create("LiteRtGetModelSignature", self._model, c_size_t(index))
        return ModelSignature(
            _text("LiteRtGetSignatureKey", signature), _details("Input", signature), _details("Output", signature)
        )


def _spec(tensor: TensorDetails) -> InputSpec:
    return InputSpec(tensor.name, tensor.dtype, tuple(None if size < 0 else size for size in tensor.shape))


def _details(side: str, signature: c_void_p) -> tuple[TensorDetails, ...]:
    details: list[TensorDetails] = []
    for position in range(_count(f"LiteRtGetNumSignature{side}s", signature)):
        place, kind = c_size_t(position), litert.TensorType()
        name = _text(f"LiteRtGetSignature{side}Name", signature, place)
        tensor = litert.create(f"LiteRtGetSignature{side}TensorByIndex", signature, place)
        litert.call("LiteRtGetRankedTensorType", tensor, ctypes.byref(kind))
        details.append(TensorDetails(name, kind.layout.shape, _dtype(name, kind.element_type)))
    return tuple(details)


def _dtype(name: str, number: int) -> np.dtype[Any]:
    for dtype, known in NUMBERS.items():
        if known == number:
            return dtype
    raise InterpreterError(f"tensor {name!r} is of a type that numpy lacks, number {number} of LiteRtElementType")


def _count(function: str, *arguments: Any) -> int:
    count = c_size_t()
    litert.call(function, *arguments, ctypes.byref(count))
    return count.value


def _text(function: str, *arguments: Any) -> str:
    text = c_char_p()
    litert.call(function, *arguments, ctypes.byref(text))
    return (text.value or b"").decode("utf-8", "replace")


def _array(details: TensorDetails, inputs: Mapping[str, npt.ArrayLike], where: str) -> npt.NDArray[Any]:
    """Returns the array for an input, dense and of a shape that fits."""
    if details.name not in inputs:
        raise InterpreterError(f"input {details.name!r} is missing", where=where)
    array: npt.NDArray[Any] = np.asarray(inputs[details.name])
    if array.dtype != details.dtype and details.dtype != STRING:
        raise InterpreterError(f"input {details.name!r} is of {array.dtype}, not of {details.dtype}", where=where)
    fits = len(details.shape) == array.ndim and all(
        size in (-1, given) for size, given in zip(details.shape, array.shape, strict=True)
    )
    if not fits:
        raise InterpreterError(
            f"input {details.name!r} is of the shape {list(array.shape)}, not {list(details.shape)}", where=where
        )
    if 0 in array.shape:
        raise InterpreterError(f"input {details.name!r} is empty, which CompiledModel does not take", hint=_HINT)
    return np.ascontiguousarray(array).reshape(array.shape)


def _copy(buffer: c_void_p, array: npt.NDArray[Any], mode: int) -> None:
    if array.nbytes == 0:
        return
    memory = c_void_p()
    litert.call("LiteRtLockTensorBuffer", buffer, ctypes.byref(memory), c_int(mode))
    try:
        of_array = c_void_p(array.ctypes.data)
        ctypes.memmove(*((of_array, memory) if mode == _READ else (memory, of_array)), array.nbytes)
    finally:
        litert.call("LiteRtUnlockTensorBuffer", buffer)
