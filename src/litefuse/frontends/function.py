"""``tf.function`` and concrete functions as sources."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from litefuse.errors import LitefuseError
from litefuse.frontends.source import Source
from litefuse.frontends.writer import quiet_logging, refused, write_saved_model

__all__ = [
    "concrete_function",
    "function_source",
    "is_polymorphic",
    "named_outputs",
    "trace_count",
    "with_flat_outputs",
]

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


def is_polymorphic(model: object) -> bool:
    """Whether an object is a ``tf.function``, which may have any number of traces."""
    tf = sys.modules.get("tensorflow")
    return tf is not None and isinstance(model, tf.types.experimental.PolymorphicFunction)


def trace_count(function: Any) -> int:
    """Returns the number of concrete functions of a ``tf.function``: 1 if it has an input signature."""
    return 1 if function.input_signature is not None else len(_traces(function))


def concrete_function(function: Any, name: str = "the function") -> Any:
    """Returns the concrete function of a ``tf.function``: that of its input signature, or its only trace.

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
    if not traces:
        raise LitefuseError(f"{name} has no input signature and was never called", hint=_HOW)
    listed = "\n".join(f"  {_signature(trace)}" for trace in traces)
    raise LitefuseError(
        f"{name} has no input signature, and {len(traces)} traces:\n{listed}",
        hint=_HOW,
    )


def with_flat_outputs(function: Any) -> Any:
    """Returns a concrete function whose outputs are valid in a signature: the function itself, or one that calls it.

    Args:
        function: A concrete function with arbitrarily nested outputs.

    Raises:
        LitefuseError: It returns no tensors.
    """
    tf: Any = sys.modules["tensorflow"]
    outputs = function.structured_outputs
    if not _is_nested(outputs):
        return function
    named_outputs(outputs)  # raises its error here rather than during tracing
    args, kwargs = _named_inputs(tf, function)

    def call_and_name(*args: Any, **kwargs: Any) -> dict[str, Any]:
        return named_outputs(function(*args, **kwargs))

    call = tf.function(call_and_name, autograph=False)
    with refused("the function cannot be called with the inputs that it was traced for"), quiet_logging():
        return call.get_concrete_function(*args, **kwargs)


def named_outputs(outputs: Any) -> dict[str, Any]:
    """Returns the tensors among a function's outputs under the names that TensorFlow gives them.

    An output is named by the keys of its path; a list's elements are ``output_0``, ``output_1`` and so on.

    Raises:
        LitefuseError: There are no tensors, or two have the same name.
    """
    found: dict[str, Any] = {}
    for path, tensor in _leaves(outputs, ()):
        parts = [str(key) for key in path]
        if not path or isinstance(path[0], int):
            parts = ["output", *(parts or ["0"])]
        name = "_".join(parts)
        if name in found:
            raise LitefuseError(f"two outputs are named {name!r}", hint="Return a dictionary with other keys.")
        found[name] = tensor
    if not found:
        raise LitefuseError("the function returns no tensor", hint="Return a tensor, or a dictionary of tensors.")
    return found


def _write(function: Any, folder: Path) -> None:
    write_saved_model({_DEFAULT_KEY: with_flat_outputs(function)}, folder)


def _leaves(value: Any, path: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], Any]]:
    if value is None:
        return []
    children = _children(value)
    if children is None:
        return [(path, value)]
    return [leaf for key, child in children for leaf in _leaves(child, (*path, key))]


def _children(value: Any) -> list[tuple[Any, Any]] | None:
    if isinstance(value, Mapping):
        return list(cast("Mapping[Any, Any]", value).items())
    if hasattr(value, "_asdict"):  # a namedtuple
        return list(value._asdict().items())
    if hasattr(value, "__attrs_attrs__"):
        return [(each.name, getattr(value, each.name)) for each in value.__attrs_attrs__]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return list(enumerate(cast("Sequence[Any]", value)))
    return None


def _is_nested(outputs: Any) -> bool:
    """Whether outputs are not valid in a signature."""
    children = _children(outputs)
    if children is None:
        return outputs is None
    keys_are_names = isinstance(outputs, Sequence) or all(isinstance(key, str) for key, _ in children)
    return (
        not children
        or not keys_are_names
        or any(child is None or _children(child) is not None for _, child in children)
    )


def _named_inputs(tf: Any, function: Any) -> tuple[Any, Any]:
    """Returns the structured inputs of a concrete function, with the names that they have in a signature."""
    structure = function.structured_input_signature
    names = [_argument_name(tensor) for tensor in function.inputs]
    specs = [leaf for leaf in tf.nest.flatten(structure, expand_composites=True) if isinstance(leaf, tf.TensorSpec)]
    captured = len(function.captured_inputs)
    if len(specs) != len(names) - captured:
        return structure
    remaining = iter(names)

    def named(leaf: Any) -> Any:
        if not isinstance(leaf, tf.TensorSpec):
            return leaf
        return tf.TensorSpec(leaf.shape, leaf.dtype, next(remaining) or leaf.name)

    return tf.nest.map_structure(named, structure, expand_composites=True)


def _argument_name(tensor: Any) -> str:
    try:
        return tensor.op.get_attr("_user_specified_name").decode()
    except ValueError:
        return ""


def _traces(function: Any) -> list[Any]:
    return list(function._list_all_concrete_functions())  # noqa: SLF001  there is no public way to list them


def _signature(function: Any) -> str:
    args, kwargs = function.structured_input_signature
    return ", ".join([*map(str, args), *(f"{name}={value}" for name, value in kwargs.items())]) or "(no inputs)"


def _name(function: Any) -> str:
    for source in (function, getattr(function, "python_function", None)):
        name = getattr(source, "__name__", None) or getattr(source, "name", None)
        if name:
            return name.decode() if isinstance(name, bytes) else str(name)
    return "function"
