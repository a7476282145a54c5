"""Compares the structs of ``abi`` with the installed runtime, once per process, before they are used.

A delegate that only inspects is given a small model of which everything is known. It reads the runtime's memory by a
call of the system, to which a wrong address is an error and not a crash, and calls nothing until all data is in its
expected place.
"""

from __future__ import annotations

import ctypes
import math
import sys
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from litefuse.errors import InterpreterError
from litefuse.litert.runtime import abi
from litefuse.litert.runtime.abi import guarded
from litefuse.litert.runtime.process_memory import library_of, read_memory

CUSTOM_NAME = "litefuse.layout_probe"
COMPOSITE_NAME = "litefuse.layout_probe_composite"
OPTIONS: bytes = bytes(flexbuffers.Dumps({"probe": 41}))
CONSTANT = np.array([7, 8, 9], np.int32)
# Of the constant, which has one for each element.
SCALES = np.array([0.5, 0.25, 3.0], np.float32)
ZERO_POINTS = (0, 4, 5)


@dataclass(frozen=True)
class _Tensor:
    name: str
    dtype: type[np.generic]
    flatbuffer_type: str
    runtime_type: abi.TfLiteType
    shape: tuple[int, ...]
    constant: bool = False
    signature: tuple[int, ...] = ()


TENSORS = (
    _Tensor("probe_input", np.float32, "FLOAT32", abi.TfLiteType.FLOAT32, (2, 3), signature=(-1, 3)),
    _Tensor("probe_constant", np.int32, "INT32", abi.TfLiteType.INT32, (3,), constant=True),
    _Tensor("probe_output", np.int64, "INT64", abi.TfLiteType.INT64, (5, 1, 2)),
    _Tensor("probe_composite_output", np.float32, "FLOAT32", abi.TfLiteType.FLOAT32, (2, 3)),
)


@dataclass(frozen=True)
class Layout:
    """The result of the check.

    Attributes:
        unresolved_invoke: The address of the function that represents every custom op without a kernel in the runtime.
    """

    unresolved_invoke: int


class _MismatchError(Exception):
    """Something is not where the structs say it is."""


_lock = threading.Lock()
_layout: Layout | None = None


def check_layout() -> Layout:
    """Checks the structs against the installed runtime; the first call does it, the others return its result.

    Raises:
        InterpreterError: The runtime has another layout.
    """
    global _layout
    with _lock:
        if _layout is None:
            _layout = _check()
        return _layout


def _check() -> Layout:
    from ai_edge_litert.interpreter import Interpreter

    layouts: list[Layout] = []
    problems: list[BaseException] = []

    def look(context: int) -> int:
        # The delegate is offered every subgraph, and the composite's body is one.
        if not layouts and not problems:
            layouts.append(_examine(context))
        return abi.Status.OK

    def note(error: BaseException) -> int:
        problems.append(error)
        return abi.Status.OK

    prepare = abi.CALLBACK(guarded(look, note))
    delegate = _Probe(
        abi.TfLiteDelegate(Prepare=abi.address_of(prepare), flags=abi.DelegateFlags.ALLOW_DYNAMIC_TENSORS)
    )
    interpreter = Interpreter(model_content=probe_model(), experimental_delegates=[delegate], num_threads=1)
    del interpreter
    if problems and not isinstance(problems[0], _MismatchError):
        raise problems[0]
    if problems or not layouts:
        import importlib.metadata

        reason = str(problems[0]) if problems else "it does not call a delegate's Prepare"
        raise InterpreterError(
            f"Python kernels cannot run in ai-edge-litert {importlib.metadata.version('ai-edge-litert')}: "
            f"its delegate interface is not the one that litefuse knows ({reason})",
            hint="Install a version of ai-edge-litert that litefuse was tested with, such as 2.3.0.",
        )
    return layouts[0]


class _Probe:
    def __init__(self, struct: abi.TfLiteDelegate) -> None:
        self._struct = struct

    def _get_native_delegate_pointer(self) -> int:
        return ctypes.addressof(self._struct)


def _examine(context: int) -> Layout:
    _expect(_field(context, abi.TfLiteContext, "tensors_size"), len(TENSORS), "TfLiteContext.tensors_size")
    tensors = _field(context, abi.TfLiteContext, "tensors")
    for index, tensor in enumerate(TENSORS):
        _examine_tensor(tensors + index * ctypes.sizeof(abi.TfLiteTensor), tensor)

    functions = (
        "GetExecutionPlan",
        "ReportError",
        "GetNodeAndRegistration",
        "ReplaceNodeSubsetsWithDelegateKernels",
        "ResizeTensor",
        "AddTensors",
        "GetExternalContext",
        "SetExternalContext",
        "PreviewDelegatePartitioning",
        "GetModelMetadata",
        "AcquireSubgraphContext",
        # The last field: it shows that none was inserted before it.
        "ReleaseSubgraphContext",
    )
    library = _library_of(_field(context, abi.TfLiteContext, "GetExecutionPlan"))
    for name in functions:
        _expect(_library_of(_field(context, abi.TfLiteContext, name)), library, f"TfLiteContext.{name}")

    for name in ("GetTensor", "GetEvalTensor"):  # those of TensorFlow Lite Micro
        _expect(_field(context, abi.TfLiteContext, name), 0, f"TfLiteContext.{name}")
    _expect(_field(context, abi.TfLiteContext, "recommended_num_threads"), 1, "TfLiteContext.recommended_num_threads")

    known = abi.TfLiteContext.from_address(context)
    plan = ctypes.c_void_p()
    abi.GET_EXECUTION_PLAN(known.GetExecutionPlan)(context, ctypes.addressof(plan))
    _expect(_int_array(plan.value or 0), (0, 1), "the execution plan")
    _, registration = _node(known, context, 0, abi.BuiltinOperator.CUSTOM)
    _expect_string(_field(registration, abi.TfLiteRegistration, "custom_name"), CUSTOM_NAME, "custom_name")
    unresolved = _field(registration, abi.TfLiteRegistration, "invoke")
    _expect(_library_of(unresolved), library, "TfLiteRegistration.invoke")
    _examine_nodes(known, context)
    return Layout(unresolved_invoke=unresolved)


def _examine_tensor(address: int, tensor: _Tensor) -> None:
    def expect(field: str, value: int) -> None:
        _expect(_field(address, abi.TfLiteTensor, field), value, f"TfLiteTensor.{field} of {tensor.name}")

    expect("type", tensor.runtime_type)
    expect("bytes", math.prod(tensor.shape) * np.dtype(tensor.dtype).itemsize)
    expect("allocation_type", abi.AllocationType.MMAP_RO if tensor.constant else abi.AllocationType.ARENA_RW)
    expect("buffer_handle", 2**32 - 1)  # -1, none
    _expect(_int_array(_field(address, abi.TfLiteTensor, "dims")), tensor.shape, "TfLiteTensor.dims")
    _expect_string(_field(address, abi.TfLiteTensor, "name"), tensor.name, "TfLiteTensor.name")
    signature = _field(address, abi.TfLiteTensor, "dims_signature")
    _expect(_int_array(signature) if signature else (), tensor.signature, "TfLiteTensor.dims_signature")
    if tensor.constant:
        data = _peek(_field(address, abi.TfLiteTensor, "data"), CONSTANT.nbytes)
        _expect(data, CONSTANT.tobytes(), "TfLiteTensor.data")
        expect("quantization_type", abi.AFFINE_QUANTIZATION)
        _examine_quantization(_field(address, abi.TfLiteTensor, "quantization_params"))


def _examine_quantization(address: int) -> None:
    scales = _field(address, abi.TfLiteAffineQuantization, "scale")
    _expect(_peek(scales, 4), len(SCALES).to_bytes(4, sys.byteorder), "the number of scales")
    _expect(_peek(scales + 4, SCALES.nbytes), SCALES.tobytes(), "TfLiteAffineQuantization.scale")
    zeros = _int_array(_field(address, abi.TfLiteAffineQuantization, "zero_point"))
    _expect(zeros, ZERO_POINTS, "TfLiteAffineQuantization.zero_point")
    axis = _field(address, abi.TfLiteAffineQuantization, "quantized_dimension")
    _expect(axis, 0, "TfLiteAffineQuantization.quantized_dimension")


def _examine_nodes(known: abi.TfLiteContext, context: int) -> None:
    node, _ = _node(known, context, 0, abi.BuiltinOperator.CUSTOM)
    _expect(_int_array(_field(node, abi.TfLiteNode, "inputs")), (0, 1, -1), "TfLiteNode.inputs")
    _expect(_int_array(_field(node, abi.TfLiteNode, "outputs")), (2,), "TfLiteNode.outputs")
    _expect(_int_array(_field(node, abi.TfLiteNode, "intermediates")), (), "TfLiteNode.intermediates")
    _expect(_int_array(_field(node, abi.TfLiteNode, "temporaries")), (), "TfLiteNode.temporaries")
    _expect(_field(node, abi.TfLiteNode, "custom_initial_data_size"), len(OPTIONS), "custom_initial_data_size")
    options = _peek(_field(node, abi.TfLiteNode, "custom_initial_data"), len(OPTIONS))
    _expect(options, OPTIONS, "TfLiteNode.custom_initial_data")

    node, _ = _node(known, context, 1, abi.BuiltinOperator.STABLEHLO_COMPOSITE)
    params = _field(node, abi.TfLiteNode, "builtin_data")
    _expect_string(_field(params, abi.StablehloCompositeParams, "name"), COMPOSITE_NAME, "the composite's name")
    _expect(_field(params, abi.StablehloCompositeParams, "subgraph_index"), 1, "the composite's subgraph_index")
    _expect(_field(params, abi.StablehloCompositeParams, "attributes_size"), len(OPTIONS), "attributes_size")
    attributes = _peek(_field(params, abi.StablehloCompositeParams, "attributes"), len(OPTIONS))
    _expect(attributes, OPTIONS, "the composite's attributes")


def _node(known: abi.TfLiteContext, context: int, index: int, code: int) -> tuple[int, int]:
    node, registration = ctypes.c_void_p(), ctypes.c_void_p()
    abi.GET_NODE_AND_REGISTRATION(known.GetNodeAndRegistration)(
        context, index, ctypes.addressof(node), ctypes.addressof(registration)
    )
    actual = _field(registration.value or 0, abi.TfLiteRegistration, "builtin_code")
    _expect(actual, code, f"TfLiteRegistration.builtin_code of node {index}")
    return node.value or 0, registration.value or 0


def _peek(address: int, size: int) -> bytes:
    data = read_memory(address, size)
    if data is None:
        raise _MismatchError(f"nothing at address {address:#x}")
    return data


def _field(address: int, struct: type[ctypes.Structure], name: str) -> int:
    field = getattr(struct, name)
    return int.from_bytes(_peek(address + field.offset, field.size), sys.byteorder)


def _int_array(address: int) -> tuple[int, ...]:
    count = int.from_bytes(_peek(address, 4), sys.byteorder)
    if count > len(TENSORS):
        raise _MismatchError(f"no TfLiteIntArray at {address:#x}")
    return tuple(np.frombuffer(_peek(address + 4, 4 * count), np.int32).tolist()) if count else ()


def _library_of(function: int) -> int:
    """Returns the base address of the shared library that holds the function."""
    library = library_of(function)
    if library is None:
        raise _MismatchError(f"no function at {function:#x}")
    return library


def _expect(actual: object, expected: object, what: str) -> None:
    if actual != expected:
        raise _MismatchError(f"{what} is {actual!r}, not {expected!r}")


def _expect_string(address: int, expected: str, what: str) -> None:
    data = expected.encode() + b"\0"
    _expect(_peek(address, len(data)), data, what)


def probe_model() -> bytes:
    """Builds the model to inspect: an unresolved custom op with an absent input, and a composite."""
    from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS, OP_NUMBERS
    from litefuse.litert.runtime.schema_objects import custom_code, flatbuffer_of, made, set_options

    def tensor(spec: _Tensor) -> Any:
        new = made("Tensor", name=spec.name, shape=list(spec.shape), shapeSignature=list(spec.signature) or None)
        new.type, new.buffer = DTYPE_NUMBERS[spec.flatbuffer_type.lower()], 1 if spec.constant else 0
        if spec.constant:
            new.quantization = made("QuantizationParameters", scale=SCALES.tolist(), zeroPoint=list(ZERO_POINTS))
        return new

    def code(kind: str) -> Any:
        number, largest = OP_NUMBERS[kind], OP_NUMBERS["PLACEHOLDER_FOR_GREATER_OP_CODES"]
        return made("OperatorCode", builtinCode=number, deprecatedBuiltinCode=min(number, largest), version=1)

    def operator(opcode: int, inputs: list[int], outputs: list[int]) -> Any:
        return made("Operator", opcodeIndex=opcode, inputs=inputs, outputs=outputs)

    def subgraph(tensors: list[Any], inputs: list[int], outputs: list[int], operators: list[Any]) -> Any:
        return made("SubGraph", tensors=tensors, inputs=inputs, outputs=outputs, operators=operators)

    custom = operator(0, [0, 1, -1], [2])
    custom.customOptions = list(OPTIONS)
    composite = operator(1, [0], [3])
    options = made("StableHLOCompositeOptions", name=COMPOSITE_NAME, decompositionSubgraphIndex=1)
    options.compositeAttributes = list(OPTIONS)
    set_options(composite, options)

    model = made("Model", version=3, buffers=[made("Buffer"), made("Buffer", data=list(CONSTANT.tobytes()))])
    model.operatorCodes = [custom_code(CUSTOM_NAME), code("STABLEHLO_COMPOSITE"), code("ABS")]
    model.subgraphs = [
        subgraph([tensor(spec) for spec in TENSORS], [0], [2, 3], [custom, composite]),
        subgraph([tensor(TENSORS[0]), tensor(TENSORS[3])], [0], [1], [operator(2, [0], [1])]),
    ]
    return bytes(flatbuffer_of(model))
