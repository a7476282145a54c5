# pyright: reportUnknownLambdaType=false
"""Generated kernels in models of integers, and in signatures that train."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, load_delegate

import litefuse
from litefuse.kernels.generator import generate, project
from litefuse.kernels.generator.trial import Trial
from litefuse.support.options.forms import QuantizationForm
from tests.every import every
from tests.kernels.generator.builds import build_quickly
from tests.tensorflow.checking import check_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import Call, TensorFlow

WAVE = 'name: "Wave" attr { key: "tfl_fusable_op" value { b: true } }'


@pytest.fixture(autouse=True)
def untimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has each kernel that computes the same count as twice as fast, and is compiled quickly."""
    in_worker = generate.run_in_worker

    def trial(target: str, job: Any, announce: Any) -> Trial:
        made = in_worker(target, job._replace(is_timed=False), announce)
        return made._replace(kernel_seconds=1e-3, body_seconds=2e-3)

    monkeypatch.setattr(generate, "run_in_worker", trial)
    monkeypatch.setattr(project, "build_library", build_quickly)


def waves(tf: Any) -> Any:
    """A composite between products, twice with other ranges, the second also in floating point."""
    random = np.random.default_rng(0)
    module = tf.Module()
    module.weights = [tf.Variable(random.normal(0, 0.4, shape).astype(np.float32)) for shape in ((16, 32), (32, 24))]

    @tf.function(experimental_implements=WAVE)
    def wave(x: Any, scale: Any) -> Any:
        return x + tf.square(tf.sin(scale * x)) / scale

    @tf.function(input_signature=[tf.TensorSpec([None, 16], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        first, second = module.weights
        hidden = wave(tf.matmul(x, first), tf.constant(2.0))
        last = wave(tf.matmul(hidden, second), tf.constant(2.0))
        return {"y": last, "loudest": tf.reduce_max(tf.abs(last), -1)}

    module.serve = serve
    return module, serve


@pytest.mark.parametrize(("form", "dtype"), [("int8", schema.TensorType.INT8), ("int16", schema.TensorType.INT16)])
def test_kernels_of_integer_models_take_integers(tensorflow: TensorFlow, form: QuantizationForm, dtype: int) -> None:
    path = tensorflow.save(waves)
    random = np.random.default_rng(1)
    samples = [{"x": random.normal(size=(4, 16)).astype(np.float32)} for _ in range(8)]
    options: dict[str, Any] = {"quantize": litefuse.Quantization(form, samples=samples)}
    result = litefuse.convert(path, composites="generate", **options)
    assert every(each.kernel is not None for each in result.report.composites)
    assert result.kernels is not None
    graph: Any = schema.ModelT.InitFromPackedBuf(bytearray(result.model_bytes), 0)
    main = graph.subgraphs[0]
    calls = [op for op in main.operators if op.builtinOptions2Type == schema.BuiltinOptions2.StableHLOCompositeOptions]
    assert [main.tensors[op.inputs[0]].type for op in calls] == [dtype, dtype]
    assert main.tensors[calls[0].outputs[0]].type == dtype
    # Each has scales of its own, and so a body.
    assert len({op.builtinOptions2.decompositionSubgraphIndex for op in calls}) == 2
    kept = litefuse.convert(path, composites="keep", **options).model_bytes
    library = next(result.kernels.glob("*.so"))
    for rows in (3, 3, 7):
        x = random.normal(size=(rows, 16)).astype(np.float32)
        expected, body, kernel = (
            _called(content, x, delegate)
            for content, delegate in ((kept, None), (result.model_bytes, None), (result.model_bytes, library))
        )
        for name, value in expected.items():
            np.testing.assert_array_equal(body[name], value)
            # A number in the middle of two integers may be rounded to the other: less than a step of the operand.
            np.testing.assert_allclose(kernel[name], value, rtol=0, atol=0.1)


def _called(content: bytes, x: Any, library: Path | None) -> dict[str, Any]:
    delegates = None if library is None else [load_delegate(str(library))]
    interpreter: Any = Interpreter(model_content=content, experimental_delegates=delegates)
    return {name: value.copy() for name, value in interpreter.get_signature_runner("serving_default")(x=x).items()}


def trainable(tf: Any) -> Any:
    """A composite in a signature that trains, and one whose gradient is a composite as well."""
    module = tf.Module()
    module.weight = tf.Variable(np.random.default_rng(0).normal(0, 0.3, (6, 5)).astype(np.float32))
    backward_mark = WAVE.replace("Wave", "Curve__backward")

    @tf.function(experimental_implements=WAVE)
    def wave(x: Any) -> Any:
        return x + tf.square(tf.sin(x))

    @tf.function(experimental_implements=WAVE.replace("Wave", "Curve"))
    def curve(x: Any) -> Any:
        return tf.tanh(x) * x

    @tf.function(experimental_implements=backward_mark)
    def curve_backward(x: Any, gradient: Any) -> Any:
        t = tf.tanh(x)
        return gradient * (t + x * (1.0 - tf.square(t)))

    @tf.custom_gradient
    def curved(x: Any) -> Any:
        return curve(x), lambda gradient: curve_backward(x, gradient)

    @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.float32, name="x")])
    def train(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(curved(wave(tf.matmul(x, module.weight))) - 1.0))
        module.weight.assign_sub(0.1 * tape.gradient(loss, module.weight))
        return {"loss": loss}

    @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.float32, name="x")])
    def infer(x: Any) -> Any:
        return {"y": wave(tf.matmul(x, module.weight))}

    module.train, module.infer = train, infer
    return module, {"train": train, "infer": infer}


def test_signatures_that_train_compute_forward_and_backward(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=(4, 6)).astype(np.float32)
    calls: list[Call] = [("infer", {"x": x[:2]}), *[("train", {"x": x})] * 3, ("infer", {"x": x})]
    path = tensorflow.save(trainable)
    result = check_calls(tensorflow, path, calls, composites="generate")
    kernels = {each.name for each in result.report.composites if each.kernel is not None}
    # Under a gradient, TensorFlow calls a copy of `wave` that is not marked; a gradient of the user's is marked itself.
    assert kernels == {"Wave", "Curve", "Curve__backward"}
    assert result.kernels is not None
    delegate = load_delegate(str(next(result.kernels.glob("*.so"))))
    interpreter: Any = Interpreter(model_content=result.model_bytes, experimental_delegates=[delegate])
    for (name, inputs), expected in zip(calls, tensorflow.run_calls(path, calls), strict=True):
        for key, value in interpreter.get_signature_runner(name)(**inputs).items():
            np.testing.assert_allclose(value, expected[key], rtol=1e-5, atol=1e-5)
