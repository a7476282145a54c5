"""``tf.function`` and concrete functions as sources, and mappings from signatures' keys to them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from litefuse.errors import LitefuseError
from litefuse.frontends.signature import with_signature
from litefuse.frontends.source import Source
from litefuse.frontends.writer import quiet_logging, refused, write_saved_model

_DEFAULT_KEY = "serving_default"
_HOW = (
    "Give it a signature, tf.function(f, input_signature=[tf.TensorSpec([None, 4], tf.float32)]), or pass one trace of "
    "it: f.get_concrete_function(tf.TensorSpec([None, 4], tf.float32))."
)


def function_source(model: object) -> Source | None:
    """Returns the source for a ``tf.function`` or a concrete function, or None for another object."""
    tf = sys.modules.get("tensorflow")
    if tf is None:
        return None
    if isinstance(model, tf.types.experimental.ConcreteFunction):
        return Source(f"concrete function {_name(model)!r}", write=lambda folder: _write(model, folder))
    if is_polymorphic(model):
        return Source(f"tf.function {_name(model)!r}", write=lambda folder: _write(concrete_function(model), folder))
    return None


def functions_source(model: object) -> Source | None:
    """Returns the source for a mapping from the keys of signatures to functions, or None for another object.

    Raises:
        LitefuseError: A key is not a string, a value is not a function, or it is empty.
    """
    tf = sys.modules.get("tensorflow")
    if tf is None or not isinstance(model, Mapping):
        return None
    functions = cast("Mapping[Any, Any]", model)
    if not functions:
        raise LitefuseError("the mapping has no functions", hint="Pass {'serving_default': function}, for example.")
    for key, function in functions.items():
        if not isinstance(key, str) or function_source(function) is None:
            raise LitefuseError(
                f"the mapping has {key!r}: {type(function).__name__}, and takes functions by the keys of signatures",
                hint="Pass {'serving_default': function} with a tf.function or a concrete function.",
            )

    def write(folder: Path) -> None:
        concrete = {
            key: concrete_function(function, f"the function {key!r}") if is_polymorphic(function) else function
            for key, function in functions.items()
        }
        write_saved_model({key: with_signature(function) for key, function in concrete.items()}, folder)

    return Source(f"functions {', '.join(map(repr, functions))}", write=write)


def is_polymorphic(model: object) -> bool:
    """Whether an object is a ``tf.function``, which may have any number of traces."""
    tf = sys.modules.get("tensorflow")
    return tf is not None and isinstance(model, tf.types.experimental.PolymorphicFunction)


def trace_count(function: Any) -> int:
    """Returns the number of concrete functions of a ``tf.function``: 1 if it has an input signature."""
    return 1 if function.input_signature is not None else len(_traces(function))


def concrete_function(function: Any, name: str = "the function") -> Any:
    """Returns the concrete function of a ``tf.function``: that of its input signature, or its only trace.

    The method ``serving`` of a model of transformers has its signature in the model's ``input_signature``.

    Args:
        function: The ``tf.function``.
        name: Its name in errors.

    Raises:
        LitefuseError: It cannot be traced, or it is unclear for which inputs.
    """
    if function.input_signature is not None:
        with refused(f"{name} cannot be traced"), quiet_logging():
            return function.get_concrete_function()
    traces = _traces(function)
    if len(traces) == 1:
        return traces[0]
    if (owner := _served_model(function)) is not None:
        with refused(f"{name} cannot be traced with the model's input_signature", hint=_HOW), quiet_logging():
            return function.get_concrete_function(owner.input_signature)
    if not traces:
        raise LitefuseError(f"{name} has no input signature and was never called", hint=_HOW)
    listed = "\n".join(f"  {_signature(trace)}" for trace in traces)
    raise LitefuseError(
        f"{name} has no input signature, and {len(traces)} traces:\n{listed}",
        hint=_HOW,
    )


def _write(function: Any, folder: Path) -> None:
    write_saved_model({_DEFAULT_KEY: with_signature(function)}, folder)


def _served_model(function: Any) -> Any:
    """Returns the model of transformers that a function is the method ``serving`` of; None for any other function."""
    method = getattr(function, "__wrapped__", None)
    target = getattr(method, "__self__", None)  # it has a weak reference to the object
    owner: object = getattr(target, "target", None)
    is_serving = getattr(method, "__name__", "") == "serving" and hasattr(type(owner), "input_signature")
    return owner if is_serving else None


def _traces(function: Any) -> list[Any]:
    return list(function._list_all_concrete_functions())  # noqa: SLF001  no public way to list them


def _signature(function: Any) -> str:
    args, kwargs = function.structured_input_signature
    return ", ".join([*map(str, args), *(f"{name}={value}" for name, value in kwargs.items())]) or "(no inputs)"


def _name(function: Any) -> str:
    for source in (function, getattr(function, "python_function", None)):
        name = getattr(source, "__name__", None) or getattr(source, "name", None)
        if name:
            return name.decode() if isinstance(name, bytes) else str(name)
    return "function"
