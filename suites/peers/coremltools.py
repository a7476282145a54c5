"""The tests of coremltools: ``run_compare_tf2`` and its kin get a concrete function or a Keras model, and inputs."""

from __future__ import annotations

import importlib
import os
import sys
import unittest.mock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from suites.peers.exporting import Exporter

SELECTION = ""
"""Which tests, as an expression for pytest's -k."""

CASES = 1350
"""How many tests to run: their parameters make tens of thousands."""

_FRONTEND = "coremltools/converters/mil/frontend"
_MODULES = (
    "tensorflow/test/test_ops",
    "tensorflow/test/test_composite_ops",
    "tensorflow/test/test_custom_ops",
    "tensorflow2/test/test_v2_ops",
    "tensorflow2/test/test_v2_ops_tf_keras",
)


def prepare(peer: Path) -> list[str]:
    """Makes the peer importable, before TensorFlow is, and gives the files of its tests."""
    os.environ.update(TF_USE_LEGACY_KERAS="1", PYMIL_TEST_TARGETS="mlprogram")
    sys.path.insert(0, str(peer))
    return [str(peer / _FRONTEND / f"{name}.py") for name in _MODULES]


def replace(tf: Any, exporter: Exporter) -> None:
    """Replaces the comparison of all tests by an export."""
    package = _FRONTEND.replace("/", ".")
    first = importlib.import_module(f"{package}.tensorflow.test.testing_utils")
    second = importlib.import_module(f"{package}.tensorflow2.test.testing_utils")

    def compare_functions(
        model: Sequence[Any], input_dict: Mapping[str, Any], output_names: Any = None, **options: Any
    ) -> Any:
        del output_names
        (function,) = model
        specs = [tf.TensorSpec(each.shape, each.dtype) for each in function.inputs if each.dtype != tf.resource]
        exporter.export(function, specs, [list(input_dict.values())], tracked=function, **_tolerances(options))
        return [unittest.mock.MagicMock() for _ in range(6)]

    def compare_models(model: Any, input_values: Any, **options: Any) -> Any:
        specs = [tf.TensorSpec(each.shape, each.dtype) for each in model.inputs]
        values: list[Any] = [*input_values] if isinstance(input_values, list | tuple) else [input_values]

        def call(*tensors: Any) -> Any:
            operands = list(tensors)
            return model(operands if len(operands) > 1 else operands[0], training=False)

        exporter.export(call, specs, [values], tracked=model, **_tolerances(options))
        return [unittest.mock.MagicMock() for _ in range(6)]

    for module in (first, second):
        for name, comparison in (("run_compare_tf2", compare_functions), ("run_compare_tf_keras", compare_models)):
            setattr(module, name, comparison)
    for kind in (first.TensorFlowBaseTest, second.TensorFlow2BaseTest):
        kind.run_compare_tf = kind.run_compare_tf2 = staticmethod(compare_functions)
        kind.run_compare_tf_keras = staticmethod(compare_models)


def _tolerances(options: Mapping[str, Any]) -> dict[str, float]:
    # Core ML computes in float16, and the tests are loose where that is.
    return {"rtol": min(options.get("rtol", 1e-5), 1e-4), "atol": min(options.get("atol", 1e-4), 1e-4)}
