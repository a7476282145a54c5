"""What the TensorFlow process does for the op suite: SavedModels of cases, and what TensorFlow computes."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tests.tensorflow.op_suite.case import Array, Case, Operand


def build(
    tf: Any, path: str, cases: Sequence[tuple[Case, Sequence[dict[str, Array]]]]
) -> list[list[dict[str, Array]] | str]:
    """Writes a SavedModel with a signature for each case, c0, c1 ..., and computes what its calls must give.

    Returns:
        For each case the outputs of its calls, or what TensorFlow says when it cannot run it; such a case has no
        signature.
    """
    module = tf.Module()
    signatures: dict[str, Any] = {}
    answers: list[list[dict[str, Array]] | str] = []
    for number, (case, calls) in enumerate(cases):
        try:
            function = _function(tf, case).get_concrete_function()
            answers.append([_run(tf, case, function, inputs) for inputs in calls])
        except Exception as error:  # noqa: BLE001 - a case that TensorFlow has no kernel for
            answers.append(f"{type(error).__name__}: {error}"[:300])
            continue
        setattr(module, f"f{number}", function)
        signatures[f"c{number}"] = function
    tf.saved_model.save(module, path, signatures=signatures)
    return answers


def stock_models(tf: Any, path: str, keys: Sequence[str]) -> list[bytes | str]:
    """What TFLiteConverter makes of each signature alone, or the text of its error."""
    models: list[bytes | str] = []
    for key in keys:
        converter = tf.lite.TFLiteConverter.from_saved_model(path, signature_keys=[key])
        try:
            models.append(bytes(converter.convert()))
        except Exception as error:  # noqa: BLE001 - its error is the answer
            models.append(f"{type(error).__name__}: {error}")
    return models


def _run(tf: Any, case: Case, function: Any, inputs: dict[str, Array]) -> dict[str, Array]:
    tensors = {
        name: tf.constant(value, each.dtype) for (name, value), each in zip(inputs.items(), case.inputs, strict=True)
    }
    return {key: np.asarray(value) for key, value in function(**tensors).items()}


def _function(tf: Any, case: Case) -> Any:
    specs = [tf.TensorSpec(each.shape, each.dtype, name=f"x{n}") for n, each in enumerate(case.inputs)]
    return tf.function(case_function(tf, case), input_signature=specs, autograph=False)


def case_function(tf: Any, case: Case) -> Callable[..., dict[str, Any]]:
    """The call of a case, as a function of its inputs; its results are y0, y1 ..."""
    raw_op = getattr(tf.raw_ops, case.op)
    definition = _definition(case.op)
    types = {attribute.name: attribute.type for attribute in definition.attr}
    keywords = {key: _attribute(tf, value, types.get(key, "")) for key, value in case.attributes.items()}
    names = [name for name in inspect.signature(raw_op).parameters if name != "name"]

    def serve(*args: Any) -> dict[str, Any]:
        remaining = iter(args)

        def value(operand: Operand) -> Any:
            if isinstance(operand, list):
                return [value(each) for each in operand]
            return tf.constant(operand) if isinstance(operand, np.ndarray) else next(remaining)

        operands = {name: value(operand) for name, operand in zip(names, case.operands, strict=False)}
        results: Any = raw_op(**operands, **keywords)
        flat: list[Any] = tf.nest.flatten(results)[: case.outputs]
        return {f"y{index}": result for index, result in enumerate(flat)}

    return serve


def _definition(op: str) -> Any:
    registry: Any = importlib.import_module("tensorflow.python.framework.op_def_registry")
    return registry.get(op)


def _attribute(tf: Any, value: Any, kind: str) -> Any:
    if kind == "type":
        return tf.as_dtype(value)
    if kind == "list(type)":
        return [tf.as_dtype(each) for each in value]
    return value
