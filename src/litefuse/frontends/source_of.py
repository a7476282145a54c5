"""Detection of the source for an object or a path that a caller passes as a model."""

from __future__ import annotations

import os
import types
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import cast

from litefuse.errors import LitefuseError
from litefuse.frontends.jax_export import exporting, jax_export_source, needed_arguments
from litefuse.frontends.source import Source
from litefuse.support.cloud.names import name_of
from litefuse.support.cloud.paths import local
from litefuse.support.files.readable import is_there


def source_of(model: object, code: Iterable[str] = ()) -> Source:
    """Returns the source for a model.

    Args:
        model: The folder of a SavedModel, or one with a SavedModel in it, a Keras file, a frozen graph's file, a Keras
            model, a ``tf.function``, a concrete function, a mapping from keys of signatures to such functions, a
            ``tf.Module``, a result of ``tf.saved_model.load``, or a ``jax.export.Exported``; or the URL of a folder or
            file.
        code: Python files and names of modules with the custom classes of a Keras file.

    Raises:
        LitefuseError: It is none of these, or cannot be converted in its current form.
    """
    from litefuse.frontends.function import function_source, functions_source
    from litefuse.frontends.keras_file import is_keras_file, keras_file_source
    from litefuse.frontends.keras_model import keras_model_source
    from litefuse.frontends.module import module_source
    from litefuse.frontends.saved_model_folder import folder_source

    model = local(model)
    if isinstance(model, (str, os.PathLike)):
        path = Path(os.fsdecode(cast("str | os.PathLike[str]", model)))
        try:
            path = path.absolute()
        except FileNotFoundError:
            raise LitefuseError("the current folder is gone, so this path does not exist", where=str(path)) from None
        if not is_keras_file(path) and not is_there(path):
            return Source(name_of(path), path)  # reading it says what is wrong
        source = keras_file_source(path, code) if is_keras_file(path) else folder_source(path)
        return source if source.name != str(path) else replace(source, name=name_of(path))
    # A model of Keras 2 is also a tf.Module, but should be exported as Keras does.
    for recognize in (keras_model_source, function_source, functions_source, module_source, jax_export_source):
        source = recognize(model)
        if source is not None:
            return source
    raise _refusal(model)


_ACCEPTED = (
    "litefuse takes the folder of a SavedModel, a .keras or .h5 file, a frozen graph, a Keras model, a tf.function, "
    "a tf.Module or an exported function of JAX"
)
_HINTS = {
    "flax": "Export its apply function, and pass that: jax.export.export(jax.jit(f))(jax.ShapeDtypeStruct(...)).",
    "jax": "Export the function, and pass that: jax.export.export(jax.jit(f))(jax.ShapeDtypeStruct(...)).",
    "jaxlib": "Export the function, and pass that: jax.export.export(jax.jit(f))(jax.ShapeDtypeStruct(...)).",
    "keras": "Pass a model: keras.Sequential([keras.Input(shape), layer]) for a layer.",
    "numpy": "Pass the model that the array belongs to.",
    "tensorflow": "Pass the model that it belongs to, a tf.function with an input signature, or a SavedModel's folder.",
    "tf_keras": "Pass a model: tf_keras.Sequential([tf_keras.Input(shape), layer]) for a layer.",
    "torch": "litefuse converts TensorFlow's models; PyTorch's own way to LiteRT is the package litert-torch.",
}


def _refusal(model: object) -> LitefuseError:
    if isinstance(model, type):
        what, hint = f"the class {model.__name__}", "Pass an instance of it."
    elif isinstance(model, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
        what = f"the Python function {model.__name__}"
        specs = ", ".join(["tf.TensorSpec([None, 4], tf.float32)"] * len(needed_arguments(model)))
        hint = (
            f"Make it a tf.function: tf.function(f, input_signature=[{specs}]). Export one of JAX: {exporting(model)}."
        )
    else:
        name = type(model).__name__
        what = f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
        packages = [kind.__module__.partition(".")[0] for kind in type(model).__mro__]
        hint = next((_HINTS[package] for package in packages if package in _HINTS), "")
        hint = hint or "For Keras, model.export(folder) writes a SavedModel; else tf.saved_model.save(module, folder)."
    return LitefuseError(f"{what} cannot be converted: {_ACCEPTED}", hint=hint)
