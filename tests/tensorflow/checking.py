"""Converted models against TensorFlow: the same calls, in the same order, must give the same numbers."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import litefuse
from tests.tensorflow.auditing import findings, operators

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from litefuse.ir.ops.dims import Shape
    from tests.tensorflow.process import Arrays, Call, TensorFlow


def check(
    tensorflow: TensorFlow,
    path: Path,
    inputs: Arrays | Sequence[Arrays],
    *,
    signature: str = "serving_default",
    repeat: int = 2,
    rtol: float = 1e-5,
    atol: float = 0.0,
    custom_ops: Sequence[Any] = (),
    kernel_pack: bool = False,
    **convert_options: Any,
) -> litefuse.ConversionResult:
    """Convert a SavedModel, run it and the original, compare every output of every call.

    Args:
        tensorflow: The process that runs the original.
        path: The SavedModel's folder.
        inputs: One set of inputs, or several (other batch sizes), given to one interpreter in turn.
        signature: The signature to call.
        repeat: How many times in a row each set is given.
        rtol: Largest error of a floating point output, relative to the largest absolute value in it (at least 1).
        atol: Largest error allowed on top of that.
        custom_ops: Kernels of the custom ops in the converted model.
        kernel_pack: Whether litefuse's own kernels may run; without them and ``custom_ops``, the interpreter is stock.
        **convert_options: Arguments of :func:`litefuse.convert`.
    """
    sets = [inputs] if isinstance(inputs, Mapping) else inputs
    calls = [(signature, each) for each in sets for _ in range(repeat)]
    return check_calls(
        tensorflow, path, calls, rtol=rtol, atol=atol, custom_ops=custom_ops, kernel_pack=kernel_pack, **convert_options
    )


def check_calls(
    tensorflow: TensorFlow,
    path: Path,
    calls: Sequence[Call],
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    custom_ops: Sequence[Any] = (),
    kernel_pack: bool = False,
    **convert_options: Any,
) -> litefuse.ConversionResult:
    """As :func:`check`, for any sequence of calls of any signatures; state is kept between them."""
    result = litefuse.convert(path, **convert_options)
    problems = findings(result.model_bytes)
    assert not problems, "; ".join(problems)
    expected = tensorflow.run_calls(path, calls)
    actual = run_calls(result.model_bytes, calls, custom_ops=custom_ops, kernel_pack=kernel_pack)
    for number, ((signature, inputs), ours, theirs) in enumerate(zip(calls, actual, expected, strict=True), start=1):
        problems = [
            f"output {name!r}: {problem}"
            for name in sorted(ours.keys() | theirs.keys())
            if (problem := _output_difference(name, ours, theirs, rtol=rtol, atol=atol))
        ]
        shapes = ", ".join(f"{name} {value.shape}" for name, value in inputs.items())
        assert not problems, f"call {number} of {len(calls)}, {signature}({shapes}): " + "; ".join(problems)
    return result


def run_calls(
    model: bytes, calls: Sequence[Call], *, custom_ops: Sequence[Any] = (), kernel_pack: bool = False
) -> list[dict[str, npt.NDArray[Any]]]:
    """The outputs of each call of a LiteRT model, in turn, on one interpreter."""
    engine = interpreter(model, custom_ops=custom_ops, kernel_pack=kernel_pack)
    # Each result is copied before the next call: it must not change afterwards.
    return [
        {name: np.array(value) for name, value in engine.get_signature_runner(signature)(**inputs).items()}
        for signature, inputs in calls
    ]


def interpreter(model: bytes, *, custom_ops: Sequence[Any] = (), kernel_pack: bool = False) -> Any:
    """The stock interpreter, or litefuse's when there are custom ops to run.

    The stock one as well gets sound models only: what litefuse's would refuse is an error of the model or the check.
    """
    if custom_ops or kernel_pack:
        from litefuse.litert.runtime.interpreter import Interpreter

        return Interpreter(model_content=model, custom_ops=custom_ops or None)
    from litefuse.litert.runtime.soundness import check_soundness

    check_soundness(model, "the converted model")
    stock: Any = importlib.import_module("ai_edge_litert.interpreter")
    return stock.Interpreter(model_content=model)


def difference(actual: npt.NDArray[Any], expected: npt.NDArray[Any], *, rtol: float, atol: float = 0.0) -> str:
    """How two arrays differ, in words; empty if they do not.

    Floating point values may differ by ``rtol * max(1, largest absolute expected value) + atol``; not a number and
    infinities must stand at the same places. All other values must be equal.
    """
    text = actual.dtype.kind in "OSU" and expected.dtype.kind in "OSU"
    if actual.dtype != expected.dtype and not text:
        return f"dtype is {actual.dtype}, not {expected.dtype}"
    if actual.shape != expected.shape:
        return f"shape is {actual.shape}, not {expected.shape}"
    if not np.issubdtype(expected.dtype, np.inexact):
        same = actual.tolist() == expected.tolist()
        return "" if same else f"is {actual.tolist()!r:.200}, not {expected.tolist()!r:.200}"
    if np.issubdtype(expected.dtype, np.floating):
        actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(expected)
    if not np.array_equal(actual[~finite], expected[~finite], equal_nan=True):
        return "not a number and infinities stand at other places"
    error = float(np.abs(actual[finite] - expected[finite]).max(initial=0.0))
    limit = rtol * max(1.0, float(np.abs(expected[finite]).max(initial=0.0))) + atol
    return "" if error <= limit else f"error {error:.3g} is above {limit:.3g}"  # a NaN error is not below it either


def normal(
    shapes: Mapping[str, Shape], *, batches: Sequence[int] = (1, 3, 1), seed: int = 7
) -> list[dict[str, npt.NDArray[Any]]]:
    """Normally distributed float32 inputs, one set for each batch size, which stands in for ``None``."""
    random = np.random.default_rng(seed)
    return [
        {
            name: random.standard_normal([batch if size is None else size for size in shape]).astype(np.float32)
            for name, shape in shapes.items()
        }
        for batch in batches
    ]


def op_histogram(model: bytes) -> Counter[tuple[str, str]]:
    """How often each op stands in each subgraph: ``(subgraph's name, op's name)``, custom ops by their own name."""
    return Counter((graph.name.decode(), name) for _, graph, name, _ in operators(model))


def op_counts(model: bytes) -> Counter[str]:
    """How often each op stands in the model, in all its subgraphs together."""
    return Counter(name for _, _, name, _ in operators(model))


def partition_count(model: bytes, inputs: Arrays, *, signature: str = "serving_default") -> int:
    """How many parts of the main subgraph XNNPACK runs, given these inputs: what it does not take separates them."""
    engine = interpreter(model)
    engine.get_signature_runner(signature)(**inputs)
    names = [op["op_name"] for op in engine._get_ops_details()]  # noqa: SLF001  there is no other way to see them
    assert "DELEGATE" in names, "XNNPACK runs nothing"
    return names.count("DELEGATE")


def custom_options(model: bytes) -> dict[str, list[dict[str, Any]]]:
    """The custom options (a flexbuffer map) of each custom op that has any, by the op's name."""
    flexbuffers: Any = importlib.import_module("flatbuffers.flexbuffers")
    options: dict[str, list[dict[str, Any]]] = {}
    for _, _, name, op in operators(model):
        if op.customOptions is not None and len(op.customOptions):
            options.setdefault(name, []).append(flexbuffers.Loads(bytes(bytearray(op.customOptions))))
    return options


def _output_difference(name: str, actual: Arrays, expected: Arrays, *, rtol: float, atol: float) -> str:
    if name not in actual:
        return "is missing"
    if name not in expected:
        return "is not an output of the original"
    return difference(actual[name], expected[name], rtol=rtol, atol=atol)
