"""What the TensorFlow process does with SavedModels: write, run, convert with the stock converter."""

from __future__ import annotations

import gc
import random
import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt


def serving(tf: Any, function: Any, *specs: tuple[str, list[int | None], str]) -> Any:
    """A module that serves ``function``; each spec is an input's name, shape and dtype."""
    module = tf.Module()
    module.serve = tf.function(
        function, input_signature=[tf.TensorSpec(shape, dtype, name=name) for name, shape, dtype in specs]
    )
    return module, {"serving_default": module.serve}


def save(tf: Any, path: str, builder: Callable[..., Any], args: Sequence[Any]) -> None:
    """Write what ``builder(tf, *args)`` returns as a SavedModel; weights and names are the same every time.

    Args:
        tf: The module ``tensorflow``.
        path: A folder that does not exist yet.
        builder: Returns a module, ``(module, signatures)``, or a Keras model.
        args: Arguments after ``tf``.
    """
    if "keras" in sys.modules:
        tf.keras.backend.clear_session()
    random.seed(0)
    np.random.seed(0)  # Keras initializers and layers draw from it
    tf.random.set_seed(0)
    built = builder(tf, *args)
    module, signatures = cast("tuple[Any, Any]", built) if isinstance(built, tuple) else (built, None)
    if signatures is None and hasattr(module, "export"):
        module.export(path, verbose=False)
    else:
        tf.saved_model.save(module, path, signatures=signatures)


def run(
    tf: Any, path: str, calls: Sequence[tuple[str, Mapping[str, npt.NDArray[Any]]]]
) -> list[dict[str, npt.NDArray[Any]]]:
    """Call signatures of a freshly loaded SavedModel one after another.

    Args:
        tf: The module ``tensorflow``.
        path: The SavedModel's folder.
        calls: Signature name and inputs of each call.

    Returns:
        The outputs of each call by name.
    """
    loaded = tf.saved_model.load(path)
    results = run_loaded(tf, loaded, calls)
    del loaded
    gc.collect()
    return results


def run_loaded(
    tf: Any, loaded: Any, calls: Sequence[tuple[str, Mapping[str, npt.NDArray[Any]]]]
) -> list[dict[str, npt.NDArray[Any]]]:
    """As :func:`run`, of what ``tf.saved_model.load`` returned."""
    results: list[dict[str, npt.NDArray[Any]]] = []
    for name, inputs in calls:
        function = loaded.signatures[name]
        specs = function.structured_input_signature[1]
        # The keys are Python identifiers; the inputs' names in the signature need not be.
        keywords = {spec.name: key for key, spec in specs.items()}
        tensors = {keywords[name]: tf.constant(value, specs[keywords[name]].dtype) for name, value in inputs.items()}
        # Copies: a tensor may share the memory of a variable, which the next call changes.
        results.append({key: np.array(value) for key, value in function(**tensors).items()})
    return results


def stock_convert(tf: Any, path: str, options: Mapping[str, Any]) -> bytes | str:
    """What the stock converter makes of a SavedModel, or the text of its error."""
    attributes = dict(options)
    converter = tf.lite.TFLiteConverter.from_saved_model(path, signature_keys=attributes.pop("signature_keys", None))
    for key, value in attributes.items():
        setattr(converter, key, value)
    try:
        return bytes(converter.convert())
    except Exception as error:  # noqa: BLE001 - its error is the answer
        return f"{type(error).__name__}: {error}"
