"""``litefuse.quantization_aware`` on Keras's backend TensorFlow."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import LitefuseError
from litefuse.frontends.source_of import source_of
from tests.frontends.trained_for_integers import LOOPS, MODELS, check, check_loop, data, make, network
from tests.in_part import in_part
from tests.tensorflow.checking import run_calls
from tests.tensorflow.spoiled_models import spoiled

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def trained(_: Any, name: str, folder: str) -> None:
    make(importlib.import_module("keras"), name, Path(folder))


@pytest.mark.parametrize("name", in_part(MODELS, 1))
def test_files_have_the_outputs_of_the_trained_model(tensorflow: TensorFlow, tmp_path: Path, name: str) -> None:
    tensorflow.call(trained, name, str(tmp_path))
    check(tmp_path, name)


@pytest.mark.parametrize("name", in_part(LOOPS, 1))
def test_loops_compute_in_integers(tensorflow: TensorFlow, tmp_path: Path, name: str) -> None:
    tensorflow.call(trained, name, str(tmp_path))
    check_loop(tmp_path, name)


def streaming(_: Any, folder: str) -> Any:
    """A model of batch 1 with states in variables of its layers, what it gives in 200 calls, and the last range."""
    keras: Any = importlib.import_module("keras")
    layers, ops = keras.layers, keras.ops
    keras.utils.set_random_seed(1)

    class Window(layers.Layer):
        """Convolves with what the last calls gave, and adds what was two calls ago, and the mean of all."""

        def build(self, shape: Any) -> None:
            channels = shape[-1]
            self.conv = layers.Conv1D(6, 4, activation="relu")
            self.conv.build((1, None, channels))
            sizes = {"past": (1, 3, channels), "first": (1, 2, channels), "second": (1, 2, channels), "mean": (1, 6)}
            for name, size in sizes.items():
                setattr(self, name, self.add_weight(shape=size, initializer="zeros", trainable=False, name=name))

        def call(self, x: Any) -> Any:
            joined = ops.concatenate([self.past, x], axis=1)
            self.past.assign(joined[:, -3:])
            y = self.conv(joined)
            z = ops.reshape(self.second, (1, -1))
            self.second.assign(self.first)
            self.first.assign(x)
            self.mean.assign(self.mean.value * 0.9 + 0.1 * ops.mean(y, axis=1))
            return ops.concatenate([ops.reshape(y, (1, -1)), z, self.mean], axis=-1)

    x = keras.Input((2, 4), batch_size=1, name="x")
    y = layers.Concatenate()([Window()(x), layers.GRU(6, stateful=True)(x)])
    aware: Any = litefuse.quantization_aware(keras.Model(x, layers.Dense(3)(y)))
    calls = np.random.default_rng(0).normal(size=(200, 1, 2, 4)).astype(np.float32)
    aware.compile("adam", "mse", jit_compile=False)
    aware.fit(calls[:, 0], 2 * calls[:, 0, 0, :3], batch_size=1, shuffle=False, verbose=0)
    for variable in aware.non_trainable_variables:
        if not variable.path.endswith(("/low", "/high")):
            variable.assign(np.zeros(variable.shape))
    source = source_of(aware)
    assert source.write is not None
    source.write(Path(folder))
    outputs = np.concatenate([aware.predict_on_batch(call) for call in calls])
    *_, last = aware.layers[-1].ranges
    return calls, outputs, float(last.high - last.low) / 255


def test_states_in_variables_are_integers(tensorflow: TensorFlow, tmp_path: Path) -> None:
    calls, expected, step = tensorflow.call(streaming, str(tmp_path / "model"))
    result = litefuse.convert(tmp_path / "model", quantize="qat")
    assert result.report.quantization is not None
    assert result.report.quantization.floats == ()
    outputs = run_calls(result.model_bytes, [("serving_default", {"x": call}) for call in calls])
    errors = np.abs(np.concatenate([next(iter(output.values())) for output in outputs]) - expected)
    assert errors.max() < 5.01 * step
    assert errors[100:].mean() < 0.6 * step, "it does not grow"
    assert np.ptp(expected) > 40 * step


def wrong_range(_: Any, folder: str) -> Any:
    """A model whose last range is an eighth of what its outputs reach."""
    keras: Any = importlib.import_module("keras")
    keras.utils.set_random_seed(1)
    aware: Any = litefuse.quantization_aware(network(keras))
    x, labels = data((12, 12, 1), 100, seed=1)
    aware.compile("adam", "sparse_categorical_crossentropy", jit_compile=False)
    aware.fit(x, labels, batch_size=50, verbose=0)
    reference = aware.predict(x, verbose=0)
    *_, last = aware.layers[-1].ranges
    step = (last.high - last.low) / 255
    for end in (last.low, last.high):
        end.assign(end / 8)
    source = source_of(aware)
    assert source.write is not None
    source.write(Path(folder))
    return x, reference, float(step)


def test_the_comparison_says_no_to_a_wrong_range(tensorflow: TensorFlow, tmp_path: Path) -> None:
    x, reference, step = tensorflow.call(wrong_range, str(tmp_path / "model"))
    model = litefuse.convert(tmp_path / "model", quantize="qat").model_bytes
    (outputs,) = run_calls(model, [("serving_default", {"x": x})])
    assert np.abs(next(iter(outputs.values())) - reference).max() > 10 * step


def saved_with_a_narrow_range(_: Any, path: str, wide: str) -> Any:
    """Saves a model whose hidden layer gives four times what its range has, and with a wide range."""
    keras: Any = importlib.import_module("keras")
    keras.utils.set_random_seed(2)
    layers = [keras.Input((64,), name="x"), keras.layers.Dense(256, activation="relu"), keras.layers.Dense(4)]
    aware: Any = litefuse.quantization_aware(keras.Sequential(layers))
    x = np.random.default_rng(0).normal(size=(100, 64)).astype(np.float32)
    aware.compile("sgd", "mse", jit_compile=False)
    aware.fit(x, x[:, :4], batch_size=50, verbose=0)
    aware.save(wide)
    hidden = aware.layers[-1].ranges[1]
    hidden.high.assign(hidden.high / 4)
    aware.save(path)
    return x


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_its_files_are_read_and_what_it_clips_is_no_fault(tensorflow: TensorFlow, tmp_path: Path, suffix: str) -> None:
    """Without its code as a plug-in. A file with other weights, or a range that the original does not have, differs."""
    path, wide = tmp_path / f"narrow{suffix}", tmp_path / f"wide{suffix}"
    x = tensorflow.call(saved_with_a_narrow_range, str(path), str(wide))
    content, samples = litefuse.convert(path, quantize="qat").model_bytes, [*x[:20, None]]
    verification = litefuse.verify_model(content, path, layers=True, samples=samples)
    assert verification.verdict == "equal", str(verification)
    wrong, _ = spoiled(content, "channel", -1.0, 0.4)
    assert litefuse.verify_model(wrong, path, samples=samples).verdict == "differs"
    assert litefuse.verify_model(content, wide, samples=samples).verdict == "differs"


def options(_: Any, folder: str) -> list[str]:
    """Messages about models and options; writes a model that is not trained, and one with a layer in floats."""
    keras: Any = importlib.import_module("keras")
    layers = keras.layers
    model = network(keras)
    lines: list[str] = []

    class Reading(keras.Model):
        def call(self, x: Any) -> Any:
            return x * float(self.scale)

    def refused(model: Any, **options: Any) -> None:
        try:
            litefuse.quantization_aware(model, **options)
        except LitefuseError as error:
            lines.append(error.message.partition(": A KerasTensor")[0])

    reading = Reading()
    reading.scale = reading.add_weight(shape=())
    reading.build((None, 4))
    half = keras.Sequential([keras.Input((4,)), layers.Dense(2, dtype="mixed_bfloat16")])
    for value in (reading, half, layers.Dense(2), keras.Sequential([layers.Dense(2)])):
        refused(value)
    refused(model, keep_float=["nothing"])
    refused(model, keep_float=["("])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        litefuse.quantization_aware(
            keras.Sequential(
                [keras.Input((6, 4)), layers.GRU(3, recurrent_dropout=0.5, name="memory"), layers.Dense(2)]
            )
        )
    lines += [str(warning.message) for warning in caught if "floats" in str(warning.message)]
    x, labels = data((12, 12, 1), 64, seed=1)
    before = model.predict(x, verbose=0)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=False)
    aware: Any = litefuse.quantization_aware(model, keep_float=["^second/"])
    lines.append(f"untrained: {np.abs(aware.predict(x, verbose=0) - before).max() < 0.05 * np.abs(before).max()}")
    source_of(aware).write(Path(folder, "untrained"))  # pyright: ignore[reportOptionalCall]
    aware.compile("adam", "sparse_categorical_crossentropy", jit_compile=False)
    lines.append(f"a loss: {aware.fit(x, labels, verbose=0).history['loss'][0] > 0}")
    lines.append(
        f"shared: {aware.layers[-1].model is model and np.abs(model.predict(x, verbose=0) - before).max() > 0}"
    )
    source_of(aware).write(Path(folder, "kept"))  # pyright: ignore[reportOptionalCall]
    return lines


def test_options_and_refusals(tensorflow: TensorFlow, tmp_path: Path) -> None:
    assert tensorflow.call(options, str(tmp_path)) == [
        "the model's call() cannot be traced",
        "the model computes in bfloat16, not in float32",
        "a Dense is not a model of Keras 3",
        "the model has not been built: the shapes of its inputs are not known",
        "keep_float matches no call: nothing",
        "'(' is not a regular expression: missing ), unterminated subpattern at position 0",
        "computed in floats, without quantization: memory/GRU",
        "untrained: True",
        "a loss: True",
        "shared: True",
    ]
    result = litefuse.convert(tmp_path / "kept", quantize="qat")
    assert result.report.quantization is not None
    assert [op.op for op in result.report.quantization.floats] == ["CONV_2D"]
    result = litefuse.convert(tmp_path / "untrained", quantize="qat")
    assert result.report.quantization is not None
    assert len(result.report.quantization.floats) > 4, "no range has been observed"
