"""Converts live models in the TensorFlow process, where the engine never is, and compares what they compute."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import litefuse
from litefuse.errors import LitefuseError
from tests.tensorflow.checking import difference, interpreter, run_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from tests.tensorflow.process import Arrays, Call, TensorFlow


@dataclass(frozen=True)
class Converted:
    """What the TensorFlow process answers."""

    model: bytes
    report: litefuse.Report
    expected: Sequence[Arrays]
    printed: str
    left: Sequence[str]
    changed: Sequence[str]
    exported: Mapping[str, Any] = field(default_factory=dict[str, Any])


def convert_there(
    tf: Any, builder: Callable[..., Any], args: Sequence[Any], calls: Sequence[Call], options: Mapping[str, Any]
) -> Converted:
    """Convert what ``builder(tf, *args)`` returns: a model, and what its signatures compute, by key."""
    np.random.seed(0)
    tf.random.set_seed(0)
    model, references = builder(tf, *args)
    before = snapshot(tf, model)
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        try:
            with written(Path(folder, "written")) as printed:
                result = litefuse.convert(model, **options)
            data, report = result.model_bytes, result.report
            del result
            left = left_by_litefuse(folder)
        finally:
            tempfile.tempdir = None
    after = snapshot(tf, model)
    changed = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    expected = [
        {
            name: np.asarray(value)
            for name, value in references[signature](
                **{name: tf.constant(array) for name, array in inputs.items()}
            ).items()
        }
        for signature, inputs in calls
    ]
    return Converted(data, report, expected, printed(), left, changed, exported(tf, model))


def error_there(tf: Any, builder: Callable[..., Any], args: Sequence[Any]) -> tuple[str, list[str]]:
    """The text of the error that a model ends in, and what is left in the temporary folder."""
    model = builder(tf, *args)
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        try:
            litefuse.convert(model)
        except LitefuseError as error:
            return str(error), left_by_litefuse(folder)
        finally:
            tempfile.tempdir = None
    raise AssertionError("it was converted")


def left_by_litefuse(folder: str) -> list[str]:
    return [each.name for each in Path(folder).iterdir() if each.name.startswith("litefuse")]


def exported(tf: Any, model: Any) -> dict[str, Any]:
    """The names of inputs and outputs that ``model.export()`` gives, if it does."""
    if not hasattr(model, "export"):
        return {}
    with tempfile.TemporaryDirectory() as folder, written(Path(folder, "written")):
        try:
            model.export(str(Path(folder, "model")))
        except ValueError:  # of stateful layers and of nested outputs
            return {}
        signature = tf.saved_model.load(str(Path(folder, "model"))).signatures["serving_default"]
        return {
            "inputs": names_of(signature.structured_input_signature[1]),
            "outputs": names_of(signature.structured_outputs),
        }


def names_of(tensors: Mapping[str, Any]) -> list[str]:
    return sorted(tensors)


def snapshot(tf: Any, model: Any) -> dict[str, Any]:
    """What a conversion must leave alone: weights, flags, attributes."""
    if not hasattr(model, "weights"):
        return {"attributes": sorted(model.__dict__)} if isinstance(model, tf.Module) else {}
    seen: dict[str, Any] = {}
    for layer in [model, *getattr(model, "layers", ())]:
        seen[f"attributes of {layer.name}"] = sorted(layer.__dict__)
        seen[f"trainable {layer.name}"] = layer.trainable
        seen[f"weights of {layer.name}"] = [np.asarray(weight).tolist() for weight in layer.weights]
    return seen


@contextmanager
def written(path: Path) -> Generator[Callable[[], str]]:
    """What is written to the standard output and the standard error, also by native code."""
    saved = [os.dup(1), os.dup(2)]
    with path.open("wb") as file:
        sys.stdout.flush()
        sys.stderr.flush()
        text: list[str] = []
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            yield lambda: text[0]
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, original in zip((1, 2), saved, strict=True):
                os.dup2(original, number)
                os.close(original)
            text.append(path.read_text())


def check_there(
    tensorflow: TensorFlow,
    builder: Callable[..., Any],
    *args: Any,
    inputs: Sequence[Arrays] = (),
    calls: Sequence[Call] = (),
    **options: Any,
) -> Converted:
    """Convert a model over there; it must compute what the original does, twice in a row on one interpreter."""
    sequence = list(calls) or [("serving_default", each) for each in inputs for _ in range(2)]
    converted: Converted = tensorflow.call(convert_there, builder, args, sequence, options)
    assert converted.printed == ""
    assert converted.left == []
    assert converted.changed == []
    actual = run_calls(converted.model, sequence)
    for number, (ours, theirs) in enumerate(zip(actual, converted.expected, strict=True)):
        assert ours.keys() == theirs.keys()
        for name in theirs:
            assert difference(ours[name], theirs[name], rtol=1e-5) == "", f"call {number}, output {name!r}"
    if converted.exported:
        signature = interpreter(converted.model).get_signature_list()["serving_default"]
        assert {key: sorted(names) for key, names in signature.items()} == converted.exported
    return converted


def randomize(model: Any) -> Any:
    """Gives every weight random values: as built, biases are zero."""
    random = np.random.default_rng(3)
    model.set_weights([random.normal(0, 0.5, weight.shape).astype(weight.dtype) for weight in model.get_weights()])
    return model


def keras_of(tf: Any, package: str) -> Any:
    del tf
    return importlib.import_module(package)
