"""Keras models in memory as sources: Keras 3 on TensorFlow and on JAX, and Keras 2 (tf_keras)."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from litefuse.errors import LitefuseError
from litefuse.frontends.keras_on_jax import write_keras_model_on_jax
from litefuse.frontends.signature import with_signature
from litefuse.frontends.source import Source
from litefuse.frontends.writer import quiet_logging, refused, write_saved_model

_PACKAGES = ("keras", "tf_keras")
_KEY = "serving_default"  # the name that model.export() gives it
_WRAP = (
    "Give its input signature in a function, and pass that: "
    "tf.function(lambda x: model(x, training=False), input_signature=[tf.TensorSpec([None, 4], tf.float32)])."
)


def keras_model_source(model: object) -> Source | None:
    """Returns the source for a Keras model, or None for another object.

    Raises:
        LitefuseError: It is a layer, or a model that has another backend than TensorFlow and JAX, that has not been
            built, or that has no inputs or sparse ones.
    """
    for package in _PACKAGES:
        keras = sys.modules.get(package)
        if keras is None or not isinstance(model, _class(keras, "layers", "Layer")):
            continue
        name = describe_model(keras, model)
        if not isinstance(model, _class(keras, "Model")):
            raise LitefuseError(
                "this is a layer, not a model",
                where=name,
                hint=f"Make a model of it: {package}.Sequential([{package}.Input(shape), layer]).",
            )
        check_keras_model(keras, model, name)
        write = write_keras_model_on_jax if _backend(keras) == "jax" else write_keras_model
        return Source(name, write=functools.partial(write, keras, model))
    return None


def describe_model(keras: Any, model: Any) -> str:
    """Returns a model's kind and name: ``keras.Sequential 'mnist'``."""
    package: str = keras.__name__
    kind: type[object] = model.__class__
    if kind.__module__.partition(".")[0] == package:
        return f"{package}.{kind.__name__} {model.name!r}"
    return f"{kind.__name__} {model.name!r} ({package}.Model)"


def write_keras_model(keras: Any, model: Any, folder: Path) -> None:
    """Writes a model for inference as a SavedModel, with the names of signature, inputs and outputs of model.export().

    ``model.export()`` of Keras 3 makes every batch size dynamic; here, batch sizes fixed by the model's inputs stay.

    Args:
        keras: The package ``keras`` or ``tf_keras``.
        model: A built model of that package.
        folder: The folder to write, which does not exist.

    Raises:
        LitefuseError: The model cannot be called in a graph, or cannot be saved.
    """
    tf: Any = sys.modules["tensorflow"]
    legacy = _is_keras_2(keras)
    args, kwargs = input_specs(tf.nest.map_structure, tf.TensorSpec, keras, model)
    keywords = {"training": False} if not legacy or _takes_training(model) else {}
    # Keras 2 leaves the conversion of Python control flow in call() to tf.function; Keras 3 does not convert it.
    call = tf.function(functools.partial(model.__call__, **keywords), autograph=legacy)
    with refused("the model cannot be called in a graph", hint=_WRAP), quiet_logging():
        function = call.get_concrete_function(*args, **kwargs)
    write_saved_model({_KEY: with_signature(function)}, folder)


def check_keras_model(keras: Any, model: Any, name: str) -> None:
    """Checks that a model can be called with symbolic tensors.

    Raises:
        LitefuseError: It has another backend than TensorFlow and JAX, is not built, or has no inputs or sparse ones.
    """
    backend = _backend(keras)
    if backend not in {"jax", "tensorflow"}:
        raise LitefuseError(
            f"the model runs on Keras's backend {backend!r}; only 'tensorflow' and 'jax' have graphs to convert",
            where=name,
            hint="Save it with model.save('model.keras') and convert that file: litefuse.convert('model.keras').",
        )
    if not model.built:
        raise LitefuseError(
            "the model has not been built: the shapes of its inputs are not known",
            where=name,
            hint=_how_to_build(keras, model),
        )
    if not _is_graph(model):
        return
    if not model.inputs:
        raise LitefuseError("the model has no inputs", where=name, hint=_WRAP)
    for tensor in model.inputs:
        if not _is_dense(tensor):
            raise LitefuseError(
                f"the input {tensor.name!r} is sparse or ragged; LiteRT has dense tensors only",
                where=name,
                hint=_WRAP,
            )


def _how_to_build(keras: Any, model: Any) -> str:
    kind: type[object] = model.__class__
    if hasattr(kind, "dummy_inputs"):  # of transformers, whose from_pretrained() builds
        return "Load its weights with from_pretrained(), or call it once: model(model.dummy_inputs)."
    return (
        f"Begin a Sequential with {keras.__name__}.Input(shape); call any other model once, or build it: "
        "model.build((None, 4))."
    )


def _backend(keras: Any) -> str:
    return "tensorflow" if _is_keras_2(keras) else keras.config.backend()


def input_specs(
    map_structure: Callable[..., Any], spec: Callable[..., Any], keras: Any, model: Any
) -> tuple[list[Any], dict[str, Any]]:
    """Returns the specs that a model is called with: structures, positional and by keyword.

    Args:
        map_structure: Maps the leaves of structures.
        spec: Makes a spec of a shape, a dtype, and the name if it is known.
        keras: The package ``keras`` or ``tf_keras``.
        model: A built model of that package.

    Raises:
        LitefuseError: The model does not know the shapes of its inputs.
    """
    if _is_graph(model):
        # A Sequential of Keras 3 has no ``input``; one of Keras 2 is a functional model.
        structure = model.input if "Functional" in _kinds(model) else model.inputs[0]
        return [map_structure(functools.partial(_spec_of, spec), structure)], {}
    # The shapes that the model was called with, or built for: their batch size was not chosen deliberately.
    args: list[Any]
    kwargs: dict[str, Any] = {}
    if _is_keras_2(keras):
        args, kwargs = model.save_spec() or ([], {})
    else:
        built_for: Mapping[str, Any] = model.get_build_config() or {}
        shapes: Mapping[str, Any] = built_for.get("shapes_dict", built_for)
        args = [_specs_of(spec, shape, model.input_dtype) for shape in shapes.values() if shape is not None]
    if not args and not kwargs:
        raise LitefuseError("the model keeps no record of the shapes of its inputs", hint=_WRAP)
    return args, kwargs


def _spec_of(spec: Callable[..., Any], tensor: Any) -> Any:
    return spec(tensor.shape, tensor.dtype, tensor.name)


def _specs_of(spec: Callable[..., Any], shapes: Any, dtype: Any) -> Any:
    if isinstance(shapes, Mapping):
        mapping = cast("Mapping[str, Any]", shapes)
        return {key: _specs_of(spec, shape, dtype) for key, shape in mapping.items()}
    sizes: Sequence[Any] = shapes
    if all(size is None or isinstance(size, int) for size in sizes):
        return spec([None, *sizes[1:]] if sizes else [], dtype)
    return [_specs_of(spec, shape, dtype) for shape in sizes]


def _is_graph(model: Any) -> bool:
    """Whether a model is a graph of layers, functional or Sequential, which defines its inputs."""
    return bool(_kinds(model) & {"Functional", "Sequential"}) and getattr(model, "inputs", None) is not None


def _kinds(model: Any) -> set[str]:
    """Returns the names of the Keras classes of a model."""
    return {kind.__name__ for kind in type(model).__mro__ if kind.__module__.partition(".")[0] in _PACKAGES}


def _is_dense(tensor: Any) -> bool:
    if getattr(tensor, "sparse", False) or getattr(tensor, "ragged", False):  # of Keras 3
        return False
    return type(getattr(tensor, "type_spec", None)).__name__ in ("NoneType", "TensorSpec")  # of Keras 2


def _is_keras_2(keras: Any) -> bool:
    return keras.__version__.startswith("2.")


def _takes_training(model: Any) -> bool:
    parameters = inspect.signature(model.call).parameters.values()
    return any(parameter.name == "training" or parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def _class(package: Any, *path: str) -> Any:
    """Returns a class of a package, or ``()``, which has no instances, while the package is still being imported."""
    return functools.reduce(lambda each, name: getattr(each, name, ()), path, package)
