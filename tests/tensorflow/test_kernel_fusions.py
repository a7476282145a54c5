# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""One class has formula, conversion code and kernel: its composites are found, fused, compared, and run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import FusionError, KernelError, NotFusedError
from litefuse.fusions.fusion import called_formulas, called_fusions, take_formulas, take_fusions
from litefuse.fusions.recognizers.pattern import Pattern, op, sqrt, square
from litefuse.litert.runtime.custom_op import registered_kernels, replace_registered
from tests.tensorflow.checking import check, normal, op_counts
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from litefuse.fusions.builder import Builder
    from litefuse.ir.tensors import Tensor
    from tests.tensorflow.process import TensorFlow

INPUTS = normal({"x": (None, 4)})


def standardized(x: Pattern, *, epsilon: Pattern) -> Pattern:
    centered = x - op("Mean", x, -1, keep_dims=True)
    return centered / (sqrt(op("Mean", square(centered), -1, keep_dims=True)) + epsilon)


class RowStandardize(litefuse.CustomOp):
    """Each row minus its mean, divided by its standard deviation."""

    factor = 1.0

    def prepare(self, x: litefuse.TensorSpec, *, epsilon: float) -> litefuse.TensorSpec:
        del epsilon
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any, *, epsilon: float) -> None:
        (x,) = inputs
        outputs[0][...] = (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + epsilon) * self.factor


class WrongStandardize(RowStandardize):
    factor = 1.01


class PositiveStandardize(RowStandardize, litefuse.Fusion):
    """What a fusion knows beside its kernel."""

    def verify(self, composite: Any) -> str | None:
        return None if composite.arg_types[0].rank == 2 else "it is not a matrix"

    def check_inputs(self, composite: Any, size: int, random: np.random.Generator) -> Any:
        del composite
        return [random.uniform(1, 2, (size, 4))]


def scaled_formula(x: Pattern) -> Pattern:
    return 3.0 * square(x) + x


def scaled(b: Builder, x: Tensor) -> Tensor:
    return b.mul(x, 3.0 * x + 1.0)


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    """Registers what is above, and forgets it: other tests convert models in which it would be found."""
    before = called_fusions(), called_formulas(), registered_kernels()
    litefuse.fusion("row_standardize", pattern=standardized)(RowStandardize)
    litefuse.fusion("wrong_standardize")(WrongStandardize)
    litefuse.fusion("positive_standardize", tolerance=1e-4)(PositiveStandardize)
    litefuse.fusion("scaled", pattern=scaled_formula)(scaled)
    yield
    take_fusions(before[0])
    take_formulas(before[1])
    replace_registered(before[2])


def _rows(tf: Any, annotation: str | None) -> Any:
    def formula(x: Any) -> Any:
        centered = x - tf.reduce_mean(x, -1, keepdims=True)
        return centered / (tf.sqrt(tf.reduce_mean(tf.square(centered), -1, keepdims=True)) + 1e-3)

    rows = formula
    if annotation is not None:
        rows = tf.function(formula, experimental_implements=annotation, autograph=False)
    return serving(tf, lambda x: {"y": rows(x) * 2.0, "z": 3.0 * x * x + x}, ("x", [None, 4], "float32"))


@pytest.fixture(scope="module")
def unmarked(tensorflow: TensorFlow) -> Path:
    return tensorflow.save(_rows, None)


@pytest.fixture
def stock() -> Any:
    """The stock interpreter with kernels as a delegate."""
    from ai_edge_litert.interpreter import Interpreter

    def opened(model: bytes, *kernels: type[litefuse.CustomOp]) -> Any:
        return Interpreter(model_content=model, experimental_delegates=[litefuse.delegate(*kernels)])

    return opened


def test_what_nobody_marked_runs_with_the_kernel(tensorflow: TensorFlow, unmarked: Path, stock: Any) -> None:
    result = check(tensorflow, unmarked, INPUTS, custom_ops=[RowStandardize], require_fused=["checked", "*s*"])
    became = {one.name: (one.fused_into, one.unchecked) for one in result.report.composites}
    assert became == {"row_standardize": ("row_standardize", None), "scaled": ("MUL, ADD", None)}
    assert op_counts(result.model_bytes) == {"row_standardize": 1, "MUL": 3, "ADD": 1}
    runner = stock(result.model_bytes, RowStandardize).get_signature_runner()
    for inputs in (*INPUTS, *INPUTS):
        (expected,) = tensorflow.run_calls(unmarked, [("serving_default", inputs)])
        np.testing.assert_allclose(runner(**inputs)["y"], expected["y"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["row_standardize", "positive_standardize"])
def test_marked_composites_become_the_kernels_op(tensorflow: TensorFlow, name: str) -> None:
    path = tensorflow.save(_rows, litefuse.annotation(name, epsilon=1e-3))
    kernels = [RowStandardize, PositiveStandardize]
    result = check(tensorflow, path, INPUTS, custom_ops=kernels, require_fused=["checked", name])
    assert op_counts(result.model_bytes)[name] == 1


def test_a_kernel_that_computes_something_else_is_refused(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(_rows, litefuse.annotation("wrong_standardize", epsilon=1e-3))
    with pytest.raises(NotFusedError, match="with the kernel for it here, it computes something else"):
        litefuse.convert(path, require_fused=["wrong_*"])


def _nearly(tf: Any) -> Any:
    return serving(tf, lambda x: {"y": 3.0 * x * x + 2.0 * x}, ("x", [None, 4], "float32"))


@pytest.mark.parametrize("required", [True, ["sc*d"]])
def test_an_error_says_what_came_closest(tensorflow: TensorFlow, required: Any) -> None:
    nothing = "'s.*': no function .*is annotated so, and its recognizer found nothing; closest: node "
    with pytest.raises(NotFusedError, match=nothing):
        litefuse.convert(tensorflow.save(_nearly), require_fused=required)


def test_registrations_that_are_refused() -> None:
    with pytest.raises(FusionError, match="a kernel is for one custom op, not for a and b"):
        litefuse.fusion("a", "b")(RowStandardize)
    with pytest.raises(FusionError, match="is registered for 'row_standardize' already"):
        litefuse.fusion("row_standardize")(scaled)
    with pytest.raises(KernelError, match="custom op 'row_standardize' already has the kernel"):
        litefuse.fusion("row_standardize")(type("Other", (RowStandardize,), {}))
    with pytest.raises(KernelError, match="does not define prepare and invoke"):
        litefuse.fusion("nothing_at_all")(type("Nothing", (litefuse.CustomOp,), {}))
