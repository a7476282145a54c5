"""Pruned and clustered weights: what LiteRT's sparse forms take in bytes and time, beside dense ones.

Run it as ``python benchmarks/sparse_weights.py``; it needs the extra ``test``. A FULLY_CONNECTED of 768 inputs and as
many outputs, and a network that XNNPACK could compute with sparse weights (a convolution of 3x3 with stride 2, four of
1x1 with 128 channels, and a mean) have random weights of which a share is zero: alone, or in rows of 4 or 16. Each form
runs on one thread in a process of its own, with XNNPACK and without; the shortest time counts. ``gzip`` is the size as
it is downloaded. Outputs that differ from those with dense weights are ``wrong``;
some forms crash.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from document import table

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.litert.runtime.models import Graph, model

from litefuse.litert.runtime.schema_objects import made

_SIZE, _CHANNELS, _EDGE, _LAYERS = 768, 128, 28, 4
_SHARES = (0.5, 0.8, 0.95)
_CLUSTERS = 16
_CALLS, _SECONDS = 200, 1.0
# Sums of the same products in another order, and dynamic quantization, which is a step of int8.
_CLOSE = 0.02
_DENSE, _SPARSE, _UINT16, _INT32 = 0, 1, 2, 1


class Form(NamedTuple):
    """A way to store weights.

    Attributes:
        block: How many zeros are in a row.
        stored: Whether only the others are stored.
        densified: Whether DENSIFY makes dense weights of them.
        int8: Whether they are int8.
    """

    block: int = 1
    stored: bool = False
    densified: bool = False
    int8: bool = False


_PRODUCTS: Mapping[str, Form] = {
    "float32, dense": Form(),
    "float32, sparse": Form(1, True),
    "float32, dense, zeros in blocks of 4": Form(4),
    "float32, sparse blocks of 4": Form(4, True),
    "float32, sparse, DENSIFY": Form(1, True, True),
    "int8, dense": Form(int8=True),
    "int8, dense, zeros in blocks of 16": Form(16, int8=True),
    "int8, sparse blocks of 16": Form(16, True, int8=True),
    "int8, sparse, DENSIFY": Form(1, True, True, int8=True),
}
_CONVOLUTIONS: Mapping[str, Form] = {
    "float32, dense": Form(),
    "float32, sparse, DENSIFY": Form(1, True, True),
}


def weights_of(share: float, rows: int, columns: int, block: int, seed: int = 0) -> npt.NDArray[np.float32]:
    """Returns random weights, of whose blocks a share is zero."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=(rows, columns)).astype(np.float32)
    zero = random.random((rows, columns // block)) < share
    return np.where(np.repeat(zero, block, 1), np.float32(0), weights)


def _sparse(tensor: Any, weights: npt.NDArray[Any], block: int) -> bytes:
    """Stores blocks of rows that are not zero (CSR); returns their bytes."""
    blocks = weights.reshape(len(weights), -1, block)
    present = np.any(blocks != 0, 2)
    segments = np.concatenate([[0], np.cumsum(present.sum(1))])
    rows = made("DimensionMetadata", format=_DENSE, denseSize=len(weights))
    columns = made("DimensionMetadata", format=_SPARSE)
    columns.arraySegmentsType, columns.arraySegments = _INT32, made("Int32Vector", values=segments.tolist())
    indices = np.nonzero(present)[1]
    columns.arrayIndicesType, columns.arrayIndices = _UINT16, made("Uint16Vector", values=indices.tolist())
    dimensions = [rows, columns, made("DimensionMetadata", format=_DENSE, denseSize=block)]
    tensor.sparsity = made("SparsityParameters", traversalOrder=[0, 1, 2], blockMap=[1], dimMetadata=dimensions)
    if block == 1:
        tensor.sparsity = made("SparsityParameters", traversalOrder=[0, 1], blockMap=[], dimMetadata=dimensions[:2])
    return blocks[present].tobytes()


def _operand(graph: Graph, name: str, form: Form, weights: npt.NDArray[np.float32], shape: tuple[int, ...]) -> int:
    """Adds weights in a form; returns the operand of the op."""
    scale = float(np.abs(weights).max()) / 127
    values = np.rint(weights / scale).astype(np.int8) if form.int8 else weights
    stored = graph.tensor(name, shape, values.dtype, value=values.reshape(shape))
    if form.int8:
        graph.tensors[stored][0].quantization = made("QuantizationParameters", scale=[scale], zeroPoint=[0])
    if not form.stored:
        return stored
    tensor = graph.tensors[stored][0]
    data = _sparse(tensor, values, form.block)
    if len(shape) > 2:  # rows, two axes of size 1, and columns
        rows, columns = tensor.sparsity.dimMetadata
        ones = [made("DimensionMetadata", format=_DENSE, denseSize=1) for _ in range(2)]
        tensor.sparsity.traversalOrder, tensor.sparsity.dimMetadata = [0, 1, 2, 3], [rows, *ones, columns]
    graph.tensors[stored] = (tensor, data)
    if not form.densified:
        return stored
    dense = graph.tensor(f"{name}_dense", shape, values.dtype)
    graph.tensors[dense][0].quantization = tensor.quantization
    graph.builtin("DENSIFY", [stored], [dense])
    return dense


def product(form: Form, share: float) -> bytes:
    """Returns a FULLY_CONNECTED; int8 weights are multiplied with what is quantized in the call."""
    graph = Graph()
    weights = weights_of(share, _SIZE, _SIZE, form.block)
    x, operand = graph.input("x", [1, _SIZE]), _operand(graph, "w", form, weights, (_SIZE, _SIZE))
    graph.builtin("FULLY_CONNECTED", [x, operand, -1], [graph.output("y", [1, _SIZE])])
    return model(graph)


def convolutions(form: Form, share: float) -> bytes:
    """Returns a network whose convolutions of 1x1 have these weights."""
    graph = Graph()
    x, y = graph.input("x", [1, 2 * _EDGE, 2 * _EDGE, 3]), graph.tensor("y", [1, _EDGE, _EDGE, _CHANNELS])
    first = np.random.default_rng(5).normal(size=(_CHANNELS, 3, 3, 3)).astype(np.float32)
    bias = graph.tensor("b", [_CHANNELS], value=np.zeros(_CHANNELS, np.float32))
    graph.builtin("CONV_2D", [x, graph.tensor("w", first.shape, value=first), bias], [y], strideW=2, strideH=2)
    for layer in range(_LAYERS):
        weights = weights_of(share, _CHANNELS, _CHANNELS, form.block, layer) / _CHANNELS**0.5
        operand = _operand(graph, f"w{layer}", form, weights, (_CHANNELS, 1, 1, _CHANNELS))
        x, y = y, graph.tensor(f"y{layer}", [1, _EDGE, _EDGE, _CHANNELS])
        graph.builtin("CONV_2D", [x, operand, bias], [y], strideW=1, strideH=1, fusedActivationFunction=1)
    axes = graph.tensor("axes", [2], np.int32, value=[1, 2])
    graph.builtin("MEAN", [y, axes], [graph.output("mean", [1, 1, 1, _CHANNELS])], keepDims=True)
    return model(graph)


_KINDS: Mapping[str, tuple[Any, Mapping[str, Form]]] = {
    "FULLY_CONNECTED": (product, _PRODUCTS),
    "CONV_2D of 1x1": (convolutions, _CONVOLUTIONS),
}


def run(path: Path, *, delegated: bool) -> None:
    """Prints the time of the first call and of later ones, and the output, with XNNPACK or without."""
    begun = time.perf_counter()
    resolver = OpResolverType.AUTO if delegated else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter: Any = Interpreter(str(path), num_threads=1, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    details = interpreter.get_input_details()[0]
    interpreter.set_tensor(details["index"], np.random.default_rng(1).normal(size=details["shape"]).astype("f"))
    interpreter.invoke()
    first, times = time.perf_counter() - begun, list[float]()
    output = interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).ravel().tolist()
    while len(times) < _CALLS and sum(times) < _SECONDS:
        begun = time.perf_counter()
        interpreter.invoke()
        times.append(time.perf_counter() - begun)
    print(json.dumps((first, min(times), output)))


def measure(build: Any, forms: Mapping[str, Form], share: float, folder: Path) -> Iterator[list[str]]:
    """Yields a row for each form."""
    expected: dict[Form, list[float]] = {}
    for name, form in forms.items():
        path, content, dense = folder / "model.tflite", build(form, share), form._replace(stored=False, densified=False)
        path.write_bytes(content)
        if form == dense:
            expected[dense] = _result(path, delegated=False)[2]
        times = [_times(_result(path, delegated=delegated), expected[dense]) for delegated in (True, False)]
        size = f"{len(content):,}", f"{len(gzip.compress(content, mtime=0)):,}"
        yield [name, f"{share:.0%}", *size, *times[0], times[1][1]]


def _times(result: Any, expected: list[float]) -> tuple[str, str]:
    if result is None:
        return "", "crashes"
    first, later, output = result
    error = np.abs(np.subtract(output, expected)).max() / np.abs(expected).max()
    return f"{first * 1e3:.1f}", f"{later * 1e6:,.0f}" if error < _CLOSE else "wrong"


def _result(path: Path, *, delegated: bool) -> Any:
    command = [sys.executable, __file__, str(path), *(["delegated"] if delegated else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def clustered() -> Iterator[list[str]]:
    """Yields the sizes of weights of sixteen values, which no op of LiteRT looks up."""
    random = np.random.default_rng(0)
    weights = random.normal(size=_CLUSTERS).astype(np.float32)[random.integers(0, _CLUSTERS, (_SIZE, _SIZE))]
    for name, dtype in (("float32", np.float32), ("float16", np.float16), ("int8", np.int8)):
        values = np.rint(weights / np.abs(weights).max() * 127) if dtype is np.int8 else weights
        data = values.astype(dtype).tobytes()
        yield [name, f"{len(data):,}", f"{len(gzip.compress(data, mtime=0)):,}"]


def main() -> None:
    """Measures and prints."""
    if len(sys.argv) > 1:
        run(Path(sys.argv[1]), delegated=len(sys.argv) > 2)
        return
    heads = ("weights", "zeros", "bytes", "gzip", "first call, ms", "XNNPACK, us", "without, us")
    with TemporaryDirectory() as folder:
        for title, (build, forms) in _KINDS.items():
            rows = [row for share in _SHARES for row in measure(build, forms, share, Path(folder))]
            print(title, "", *table(heads, rows, text=1), "", sep="\n", flush=True)
    print("Sixteen values", "", *table(("weights", "bytes", "gzip"), [*clustered()], text=1), sep="\n")


if __name__ == "__main__":
    main()
