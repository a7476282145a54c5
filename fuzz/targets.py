"""The targets by their names; each is loaded when it is asked for."""

from __future__ import annotations

import importlib

from fuzz.target import Target

TARGETS = {
    "saved_model": "fuzz.saved_model.target:SavedModelTarget",
    "tflite": "fuzz.tflite:LiteRTModelTarget",
    "generator": "fuzz.generator.target:BodyTarget",
    "commands": "fuzz.commands:CommandsTarget",
    "models_file": "fuzz.settings:ModelsFileTarget",
    "quantization": "fuzz.quantization:QuantizationTarget",
    "native": "fuzz.native.target:KernelTarget",
    "options": "fuzz.readers.target:ReadersTarget",
    "keras": "fuzz.keras:KerasFileTarget",
}
"""The classes of the targets."""


def target_class(name: str) -> type[Target]:
    """The class of a target. A name of the form ``module:class`` is one that is not listed."""
    module, _, found = TARGETS.get(name, name).partition(":")
    loaded = getattr(importlib.import_module(module), found)
    assert issubclass(loaded, Target)
    return loaded


def target_named(name: str) -> Target:
    """A target, loaded."""
    return target_class(name)()
