"""``tf.Module`` and other TensorFlow objects with functions as sources."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.frontends.function import concrete_function, is_polymorphic, trace_count
from litefuse.frontends.signature import with_signature
from litefuse.frontends.source import Source
from litefuse.frontends.writer import write_saved_model

_CALL = "__call__"
_CALL_KEY = "serving_default"


def module_source(model: object) -> Source | None:
    """Returns the source for a ``tf.Module`` or a result of ``tf.saved_model.load``; None for another object."""
    tf = sys.modules.get("tensorflow")
    if tf is None:
        return None
    if isinstance(model, tf.Module):
        name = "tf.Module" if type(model) is tf.Module else f"{type(model).__name__} (tf.Module)"
    elif isinstance(model, tf.__internal__.tracking.AutoTrackable) and _loaded_signatures(model):
        name = "what tf.saved_model.load returned"
    else:
        return None
    return Source(name, write=lambda folder: _write(model, folder))


def _write(module: Any, folder: Path) -> None:
    signatures = _loaded_signatures(module) or _functions(module)
    write_saved_model({key: with_signature(function) for key, function in signatures.items()}, folder, root=module)


def _loaded_signatures(module: Any) -> dict[str, Any]:
    """Returns the signatures of an object loaded from a SavedModel; it may have other functions, which are ignored."""
    signatures = inspect.getattr_static(module, "signatures", None)
    return dict(signatures) if isinstance(signatures, Mapping) else {}  # pyright: ignore[reportUnknownArgumentType]


def _functions(module: Any) -> dict[str, Any]:
    """Returns the concrete function of each attribute that has exactly one; raises a LitefuseError if none has."""
    names = [name for name in dir(module) if not name.startswith("_") or name == _CALL]
    # Properties are not evaluated: only attributes that are statically functions count.
    functions = {
        name: getattr(module, name) for name in names if is_polymorphic(inspect.getattr_static(module, name, None))
    }
    usable = {name: function for name, function in functions.items() if trace_count(function) == 1}
    if not usable:
        raise LitefuseError(f"no function to convert{_why(functions)}", hint=_hint(functions))
    return {
        _CALL_KEY if name == _CALL else name: concrete_function(usable[name], f"the function {name!r}")
        for name in usable
    }


def _why(functions: Mapping[str, Any]) -> str:
    if not functions:
        return ": none of its attributes is a tf.function"
    lines = [
        f"  {name}: {trace_count(function) or 'no'} traces, no input signature" for name, function in functions.items()
    ]
    return ":\n" + "\n".join(lines)


def _hint(functions: Mapping[str, Any]) -> str:
    name = next(iter(functions), _CALL)
    return (
        f"Decorate a method, say {name}, with @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)]), "
        f"call a tf.function of it once; or pass a function alone: module.{name}.get_concrete_function(...)."
    )
