"""Latency of the kernel pack: native and numpy forms against TensorFlow's kernels and a copy of the output.

All run in one process, in turn, with one
thread each; the table gives medians. TensorFlow runs a traced function with one op inside. The copy is numpy's, of an
array of the output's size: what any kernel costs that writes its output once.
"""

from __future__ import annotations

import importlib
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import flatbuffers
import numpy as np
import numpy.typing as npt
from ai_edge_litert import schema_py_generated as schema
from document import milliseconds, paragraph, table
from flatbuffers import flexbuffers

from litefuse.kernels import PACK
from litefuse.litert.runtime.interpreter import Interpreter


@dataclass(frozen=True)
class Case:
    """One op with its inputs.

    Attributes:
        op: The op's name, in LiteRT and among ``tf.raw_ops``.
        title: What the table calls it.
        inputs: The inputs by TensorFlow's names, in order.
        options: The op's attributes.
        outputs: The dtypes of its outputs.
    """

    op: str
    title: str
    inputs: Mapping[str, npt.NDArray[Any]]
    options: Mapping[str, Any]
    outputs: tuple[npt.DTypeLike, ...] = (np.float32,)


def cases() -> list[Case]:
    """The cases, with random inputs."""
    random = np.random.default_rng(0)

    def normal(*shape: int) -> npt.NDArray[Any]:
        return random.standard_normal(shape).astype(np.float32)

    def patches(ksize: int, stride: int, shape: tuple[int, ...]) -> Case:
        options = {
            "ksizes": [1, ksize, ksize, 1],
            "strides": [1, stride, stride, 1],
            "rates": [1, 1, 1, 1],
            "padding": "SAME",
        }
        title = f"{ksize}x{ksize}, stride {stride}, {'x'.join(map(str, shape))}"
        return Case("ExtractImagePatches", title, {"images": normal(*shape)}, options)

    matrices: Any = normal(32, 64, 64) + 8 * np.eye(64, dtype=np.float32)
    positive = matrices @ matrices.transpose(0, 2, 1)
    pooling = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
    boxes = np.sort(random.uniform(0, 1, (64, 2, 2)), axis=1).reshape(64, 4).astype(np.float32)
    crop = {
        "image": normal(2, 128, 128, 32),
        "boxes": boxes,
        "box_ind": random.integers(0, 2, 64).astype(np.int32),
        "crop_size": np.array([14, 14], np.int32),
    }
    spectrum = (normal(64, 257) + 1j * normal(64, 257)).astype(np.complex64)
    return [
        patches(3, 1, (1, 64, 64, 64)),
        patches(3, 1, (1, 224, 224, 3)),
        patches(16, 16, (1, 224, 224, 3)),
        Case(
            "MaxPoolWithArgmax",
            "2x2, 1x112x112x64",
            {"input": normal(1, 112, 112, 64)},
            {**pooling, "Targmax": 4, "include_batch_in_index": False},
            (np.float32, np.int64),
        ),
        Case(
            "CropAndResize",
            "64 boxes of 14x14, 2x128x128x32",
            crop,
            {"method": "bilinear", "extrapolation_value": 0.0},
        ),
        Case("MatrixInverse", "32 of 64x64", {"input": matrices}, {"adjoint": False}),
        Case("MatrixDeterminant", "32 of 64x64", {"input": matrices}, {}),
        Case("Cholesky", "32 of 64x64", {"input": positive}, {}),
        Case(
            "MatrixTriangularSolve",
            "32 of 64x64",
            {"matrix": matrices, "rhs": normal(32, 64, 64)},
            {"lower": True, "adjoint": False},
        ),
        Case("IRFFT", "64 of 512", {"input": spectrum, "fft_length": np.array([512], np.int32)}, {}),
    ]


def measure_kernels(repeats: int) -> list[dict[str, Any]]:
    """All cases."""
    os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "2"}
    tf: Any = importlib.import_module("tensorflow")
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    return [measure(tf, case, repeats) for case in cases()]


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results in Markdown."""
    cells: list[list[str]] = []
    for row in rows:
        native, numpy, stock, copy = (row[name] for name in ("native", "numpy", "tensorflow", "copy"))
        times = [milliseconds(each) for each in (native, numpy, stock, copy)]
        cells.append([row["op"], row["case"], *times, f"{stock / native:.2f}", f"{native / copy:.2f}"])
    heads = ["Op", "Case", "native", "numpy", "TensorFlow", "copy", "TensorFlow / native", "native / copy"]
    return [*paragraph(_ABOUT), *table(heads, cells, text=2)]


_ABOUT = """
The kernel pack's native and numpy forms against TensorFlow's kernels, and against a plain copy of the output's size:
the cost of any kernel that writes its output once. One thread each, all in one process, called alternately; medians.
`python benchmarks/overhead.py` measures the additional cost of calling a Python kernel.
"""


def measure(tf: Any, case: Case, repeats: int) -> dict[str, Any]:
    """Seconds of one call in each way, medians; the ways take turns."""
    native = invoker(case, None)
    numpy = invoker(case, [PACK[case.op]])
    outputs = native()
    copies = [(np.empty_like(output), output) for output in outputs]

    def copy() -> None:
        for target, source in copies:
            np.copyto(target, source)

    ways: dict[str, Callable[[], Any]] = {
        "native": native.invoke,
        "numpy": numpy.invoke,
        "tensorflow": in_tensorflow(tf, case),
        "copy": copy,
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats + 2):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - begin)
    medians = {name: statistics.median(each[2:]) for name, each in seconds.items()}
    return {"op": case.op, "case": case.title, **medians}


class invoker:  # noqa: N801  a function with a part that is called alone
    """Runs the op in LiteRT; calling it gives the outputs."""

    def __init__(self, case: Case, custom_ops: list[Any] | None) -> None:
        self._interpreter = Interpreter(one_op_model(case), custom_ops=custom_ops, num_threads=1)
        self._interpreter.allocate_tensors()
        details = self._interpreter.get_input_details()
        for detail, value in zip(details, case.inputs.values(), strict=True):
            self._interpreter.set_tensor(detail["index"], value)
        self.invoke = self._interpreter.invoke

    def __call__(self) -> list[npt.NDArray[Any]]:
        self.invoke()
        return [self._interpreter.get_tensor(each["index"]) for each in self._interpreter.get_output_details()]


def in_tensorflow(tf: Any, case: Case) -> Callable[[], Any]:
    """The op in a traced function."""
    attributes = {name: value for name, value in case.options.items() if name != "Targmax"}
    if "Targmax" in case.options:
        attributes["Targmax"] = tf.int64
    op = getattr(tf.raw_ops, case.op)
    names = list(case.inputs)

    def call(*values: Any) -> Any:
        return op(**dict(zip(names, values, strict=True)), **attributes)

    function = tf.function(call)
    inputs = [tf.constant(value) for value in case.inputs.values()]
    return lambda: function(*inputs)


_TYPES: dict[np.dtype[Any], int] = {
    np.dtype(np.float32): schema.TensorType.FLOAT32,
    np.dtype(np.int32): schema.TensorType.INT32,
    np.dtype(np.int64): schema.TensorType.INT64,
    np.dtype(np.complex64): schema.TensorType.COMPLEX64,
}


def one_op_model(case: Case) -> bytes:
    """A LiteRT model of the op."""

    def tensor(name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
        made = schema.TensorT()
        made.name, made.shape, made.type = name, list(shape), _TYPES[np.dtype(dtype)]
        return made

    graph = schema.SubGraphT()
    graph.tensors = [tensor(name, value.shape, value.dtype) for name, value in case.inputs.items()]
    graph.tensors += [tensor(f"output_{place}", (), dtype) for place, dtype in enumerate(case.outputs)]
    graph.inputs = list(range(len(case.inputs)))
    graph.outputs = list(range(len(case.inputs), len(graph.tensors)))
    operator = schema.OperatorT()
    operator.inputs, operator.outputs = graph.inputs, graph.outputs
    operator.customOptions = list(flexbuffers.Dumps(dict(case.options)))
    graph.operators = [operator]
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
    code.customCode = case.op
    model = schema.ModelT()
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [code], [graph], [schema.BufferT()]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())
