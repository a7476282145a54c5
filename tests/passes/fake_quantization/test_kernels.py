"""What is known of the kernels for integers, beside what they compute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.passes.fake_quantization.grid import Uniform
from litefuse.passes.fake_quantization.kernels import FIXED
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph

OF_INPUT = Uniform((0.05,), (3,))
#: LiteRT's specification of 8-bit quantization: the scale and the zero point; and what the op computes.
SPECIFIED: dict[str, tuple[float, int, Callable[[Any], Any]]] = {
    "l2_normalization": (1 / 128, 0, lambda x: x / np.sqrt(np.sum(x * x, -1, keepdims=True))),
    "log_softmax": (16 / 256, 127, lambda x: x - np.log(np.sum(np.exp(x), -1, keepdims=True))),
    "logistic": (1 / 256, -128, lambda x: 1 / (1 + np.exp(-x))),
    "softmax": (1 / 256, -128, lambda x: np.exp(x) / np.sum(np.exp(x), -1, keepdims=True)),
    "tanh": (1 / 128, 0, np.tanh),
}


def test_fixed_scales_are_those_of_the_kernels(tmp_path: Path) -> None:
    """Some kernels refuse others, or go on as if they were these."""
    specified = {f"tfl.{name}": Uniform((scale,), (zero,)) for name, (scale, zero, _) in SPECIFIED.items()}
    assert specified == FIXED
    given = np.linspace(-100, 120, 64).astype(np.int8).reshape(1, 8, 8)
    for name, uniform in FIXED.items():
        graph = Graph()
        graph.builtin(name[4:].upper(), [graph.input("x", [1, 8, 8], np.int8)], [graph.output("y", [1, 8, 8], np.int8)])
        for number, of_tensor in enumerate((OF_INPUT, uniform)):
            parameters: Any = schema.QuantizationParametersT()
            parameters.scale, parameters.zeroPoint = of_tensor.scales, of_tensor.zero_points
            graph.tensors[number][0].quantization = parameters
            if name == "tfl.softmax":
                graph.operators[-1][0].builtinOptions.beta = 1.0
        integers = Interpreter(saved(tmp_path / f"{name}.tflite", graph)).get_signature_runner()(x=given)["y"]
        expected = SPECIFIED[name[4:]][2]((given - OF_INPUT.zero_points[0]) * OF_INPUT.scales[0])
        numbers = (integers.astype(np.int64) - uniform.zero_points[0]) * uniform.scales[0]
        np.testing.assert_allclose(
            numbers, np.clip(expected, uniform.low, uniform.high), atol=1.01 * uniform.scales[0], err_msg=name
        )
