"""Biases of convolutions are float16 where their weights are: LiteRT 1.2 and 1.3 compute NaN otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Model
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(1, 6, 6, 8)).astype(np.float32)


def convolved(kind: str, bias: npt.ArrayLike, *, added: bool = False) -> Graph:
    """A convolution of 8 into 8 channels, to whose result the bias may be added once more."""
    graph = Graph()
    x = graph.input("x", X.shape)
    shape = (1, 3, 3, 8) if kind == "DEPTHWISE_CONV_2D" else (8, 3, 3, 8)
    w = graph.tensor("weights", shape, value=RANDOM.normal(size=shape))
    b = graph.tensor("bias", (8,), value=bias)
    sizes = [graph.tensor("sizes", (4,), np.int32, value=X.shape)] if kind == "TRANSPOSE_CONV" else []
    dilation = {} if sizes else {"dilationWFactor": 1, "dilationHFactor": 1}
    more = {"depthMultiplier": 1} if kind == "DEPTHWISE_CONV_2D" else {}
    operands = [*sizes, w, x, b] if sizes else [x, w, b]
    result = graph.tensor("hidden", X.shape) if added else graph.output("y", X.shape)
    graph.builtin(kind, operands, [result], strideW=1, strideH=1, **dilation, **more)
    if added:
        graph.builtin("ADD", [result, b], [graph.output("y", X.shape)])
    return graph


def quantized(path: Path, graph: Graph) -> tuple[list[Any], npt.NDArray[np.float32]]:
    """The dtypes of what the quantized file dequantizes, and how far its outputs are off, in two calls."""
    before, after = saved(path / "before.tflite", graph), path / "after.tflite"
    quantize_model(before, after, "float16")
    (found,) = Model(after.read_bytes()).graphs
    halves = [found.tensor(op.inputs[0]).shape for op in found.ops if op.name == "DEQUANTIZE"]
    runners = [Interpreter(each).get_signature_runner("serve") for each in (before, after)]
    expected, given = (np.stack([each(x=X)["y"] for _ in range(2)]) for each in runners)
    return halves, np.abs(given - expected) / np.abs(expected).max()


@pytest.mark.parametrize("kind", ["CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"])
def test_biases_of_convolutions(tmp_path: Path, kind: str) -> None:
    halves, error = quantized(tmp_path, convolved(kind, RANDOM.normal(size=8)))
    assert (8,) in halves
    assert len(halves) == 2
    assert 0 < error.max() < 1e-3


@pytest.mark.parametrize("added", [False, True])
def test_biases_that_stay(tmp_path: Path, added: bool) -> None:
    """One is beyond the numbers of float16; another is read by an op that is no convolution."""
    halves, error = quantized(
        tmp_path, convolved("CONV_2D", RANDOM.normal(size=8) if added else [7e4] * 8, added=added)
    )
    assert halves == [(8, 3, 3, 8)]
    assert error.max() < 1e-3
