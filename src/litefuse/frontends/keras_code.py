"""The classes and functions of a Keras file that are not Keras's own, from the code that the user named for them."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from litefuse.frontends.keras_functions import is_own_class
from litefuse.support.plug_ins.modules import import_kernels

_PARTS = ("layers", "models", "activations", "initializers", "regularizers", "constraints", "losses", "metrics")

#: The module with the classes of models that train for integers, which Keras registers under names of litefuse.
LAYERS = "litefuse.frontends.fake_quantized.layers"


class _Reference(NamedTuple):
    """An object of a configuration, by its class.

    Attributes:
        names: The names by which Keras looks for it: as registered, of the class or function.
        is_foreign: Whether its module is not Keras's; False for older configurations, which name no module.
    """

    names: tuple[str, ...]
    is_foreign: bool


def own_code(config: Any) -> tuple[str, ...]:
    """Returns the module with litefuse's own classes, if a configuration names one of them."""
    return (LAYERS,) if any(name.startswith("litefuse>") for one in _references(config) for name in one.names) else ()


def custom_objects(keras: Any, config: Any, sources: Iterable[str]) -> dict[str, Any]:
    """Imports code, and returns what a model needs of it, by the names in the model's configuration.

    Only classes and functions that the code itself defines, registers in Keras, or has of a Keras class are taken. One
    that has the name of Keras's own is taken where the configuration says that it is not that one.

    Args:
        keras: The package ``keras`` or ``tf_keras``.
        config: The configuration, which need not have been checked.
        sources: Python files and names of modules.

    Raises:
        LitefuseError: Code cannot be imported.
    """
    saving = keras.saving if hasattr(keras.saving, "get_custom_objects") else keras.utils
    if keras.__name__ == "tf_keras":  # code of Keras 2 is often written for it as a part of TensorFlow
        sys.modules["tensorflow.keras"] = keras
        vars(sys.modules["tensorflow"])["keras"] = keras
    modules = import_kernels(sources)
    registered: Mapping[str, Any] = saving.get_custom_objects()
    defined = {name.rpartition(">")[2]: value for name, value in registered.items()}
    for module in modules:
        defined |= {name: value for name, value in vars(module).items() if _is_users(keras, module.__name__, value)}
    objects: dict[str, Any] = {}
    for reference in _references(config):
        for name in reference.names:
            bare = name.rpartition(">")[2]
            value = registered.get(name, defined.get(bare))
            if value is not None and (reference.is_foreign or ">" in name or not _is_of_keras(keras, bare)):
                objects[name] = objects[bare] = value
    return objects


def _is_users(keras: Any, module: str, value: object) -> bool:
    if not isinstance(value, (type, types.FunctionType)):
        return False
    package = value.__module__.partition(".")[0]
    if package == module.partition(".")[0]:
        return True
    return isinstance(value, type) and issubclass(value, keras.layers.Layer) and package != keras.__name__


def _references(value: Any) -> Iterator[_Reference]:
    """Yields the objects of a configuration, and each of its other texts, which may name a function."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield _Reference((value,), is_foreign=False)
        elif isinstance(value, list):
            waiting += cast("list[Any]", value)
        elif isinstance(value, dict):
            mapping = cast("Mapping[str, Any]", value)
            waiting += mapping.values()
            name, module = mapping.get("class_name"), mapping.get("module")
            if isinstance(name, str) and isinstance(module, str):
                names = (name, mapping.get("registered_name"))
                foreign = name != "function" and not is_own_class(module, name)
                yield _Reference(tuple(text for text in names if isinstance(text, str)), foreign)


def _is_of_keras(keras: Any, name: str) -> bool:
    return any(hasattr(getattr(keras, part, None), name) for part in _PARTS)
