"""Checks of the configuration in a Keras file: size limits, and no running of code or reading of other files.

Keras builds a model from its configuration: JSON that names classes and functions. Its own safe mode covers only some
of the ways to abuse that, and Keras 2 has hardly any safe mode. So all of a configuration is checked here before either
sees any of it: it may name only Keras's own layers and their parts, and what the user has the code of.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from litefuse.errors import LitefuseError
from litefuse.frontends.keras_functions import is_harmless_function, is_own_class, is_own_function

MAX_CONFIG_BYTES = 2**25
"""The maximum size of a configuration: 32 MiB of JSON take up to a gigabyte as objects. Large models have a few MiB."""

MAX_DEPTH = 200
"""The maximum nesting depth of lists and mappings: a model within a model takes six levels."""

# Layers that contain or load programs: PyTorch (pickled), JAX and Flax (marshalled), a SavedModel at any path.
_PROGRAMS = frozenset({"FlaxLayer", "JaxLayer", "TFSMLayer", "TorchModuleWrapper"})
# Layers of Keras 2 that call something by name, and the key of that name.
_CALLS = {
    "ClassMethod": "cls_symbol",
    "InstanceMethod": "attr_name",
    "InstanceProperty": "attr_name",
    "SlicingOpLambda": "function",
    "TFOpLambda": "function",
}
_SPECIFICATIONS = frozenset({"RaggedTensorSpec", "SparseTensorSpec", "TensorSpec"})
_ATTRIBUTE = re.compile(r"[a-z][A-Za-z0-9_]*")
# Keys whose value, if a string, is a file's path: of a vocabulary (otherwise a list of words) or an embedding's values.
_PATHS = frozenset({"ckpt_to_load_from", "vocab_file", "vocabulary", "vocabulary_file"})
# The start of a code object in ``marshal``'s format: its type, with or without a flag, and five small numbers.
_CODE = struct.Struct("<B5i")
_CODE_TYPES = frozenset({ord("c"), ord("c") | 0x80})
_SMALL = 2**16
_OUTSIDE_BASE64 = re.compile(r"[^A-Za-z0-9+/]+")


class _Place(NamedTuple):
    """A value in a configuration.

    Attributes:
        value: The value.
        key: The key in the enclosing mapping, of the value itself or of the list that contains it.
        layer: The enclosing object that has a class, as described in messages.
    """

    value: Any
    key: str
    layer: str


def parse_config(content: bytes | str, where: str) -> Any:
    """Parses a configuration.

    Raises:
        LitefuseError: It is too large, nested too deep or not JSON.
    """
    if len(content) > MAX_CONFIG_BYTES:
        raise LitefuseError(
            f"the model's configuration is too large: {len(content):,} bytes, at most {MAX_CONFIG_BYTES:,} are read",
            where=where,
        )
    try:
        return json.loads(content)
    except RecursionError as error:
        raise _too_deep(where) from error
    except ValueError as error:  # not JSON, or not UTF-8
        raise LitefuseError(f"the model's configuration is damaged: {error}", where=where) from error


def check_config(config: Any, where: str, trust: str, known: Container[str] = (), code: Sequence[str] = ()) -> None:
    """Rejects a configuration that would make Keras run code or read other files.

    Args:
        config: The result of :func:`parse_config`.
        where: The file, for errors.
        trust: How to convert a trusted file, for errors.
        known: The names of classes and functions in code that the user named.
        code: The files and modules of that code, for errors.

    Raises:
        LitefuseError: It has a function as bytecode, a class or function that is neither Keras's own nor known, a layer
            that is a program, or a vocabulary in another file; or it is nested too deep.
    """
    for place in _places(config, where):
        if reason := _objection(place):
            trusted = f"Replace it with a Keras layer or a class of yours. If you trust it: {trust}"
            raise LitefuseError(reason, where=where, hint=trusted)
        if reason := _unknown(place, known):
            raise LitefuseError(f"{reason}: {code_lacks(code)}", where=where, hint=name_code(trust))


def _places(config: Any, where: str) -> Iterator[_Place]:
    """Yields all values in a configuration in order."""
    levels = [iter([_Place(config, "", "the model")])]
    while levels:
        place = next(levels[-1], None)
        if place is None:
            levels.pop()
            continue
        yield place
        if isinstance(place.value, (dict, list)):
            levels.append(_within(place))
        if len(levels) > MAX_DEPTH + 1:
            raise _too_deep(where)


def _within(place: _Place) -> Iterator[_Place]:
    if isinstance(place.value, dict):
        mapping = cast("dict[str, Any]", place.value)
        layer = _described(mapping) or place.layer
        return (_Place(value, key, layer) for key, value in mapping.items())
    return (_Place(value, place.key, place.layer) for value in cast("list[Any]", place.value))


def _too_deep(where: str) -> LitefuseError:
    return LitefuseError(
        f"the model's configuration is nested too deep: more than {MAX_DEPTH} lists and mappings", where=where
    )


def _described(mapping: Mapping[str, Any]) -> str:
    """Returns the name and class of the object that a mapping describes; empty if it is not a layer."""
    name, config = mapping.get("class_name"), mapping.get("config")
    if not isinstance(name, str) or not isinstance(config, dict) or name.startswith("__"):
        return ""
    own = cast("dict[str, Any]", config).get("name", mapping.get("name"))
    return f"{own!r} ({name})" if isinstance(own, str) else f"an object of the class {name}"


def _objection(place: _Place) -> str:
    """Returns why a value is rejected, regardless of its context; empty if it is not."""
    if isinstance(place.value, str):
        return _brings_code(place.key, place.layer) if _is_bytecode(place.value) else ""
    if isinstance(place.value, dict):
        return _objection_to_mapping(place, cast("dict[str, Any]", place.value))
    return ""


def _objection_to_mapping(place: _Place, mapping: Mapping[str, Any]) -> str:
    layer = _described(mapping) or place.layer
    for key, value in mapping.items():
        if key.endswith("_type") and value == "lambda":  # in Keras 2, the kind of another key's value
            return _brings_code(key.removesuffix("_type"), place.layer)
        if key in _PATHS and isinstance(value, str) and value:
            return f"{place.layer} reads its {key!r} from another file, {value!r}, which is not opened"
    if "class_name" not in mapping:
        return ""
    name = mapping["class_name"]
    if name == "__lambda__":
        return _brings_code(place.key, place.layer)
    if not isinstance(name, str):
        return f"{layer} has a class that is not a name: {name!r}"
    short = name.rpartition(">")[2].rpartition(".")[2]
    if short in _PROGRAMS:
        return f"{layer} brings a program along, or loads one, which is not run"
    if short in _CALLS:
        return _objection_to_call(layer, _CALLS[short], mapping.get("config"))
    if mapping.get("module") is not None:
        return _objection_to_reference(place, name, mapping)
    return ""


def _objection_to_call(layer: str, key: str, config: Any) -> str:
    """Returns why a layer may not call the TensorFlow function that it names; empty if it may."""
    values = cast("dict[str, Any]", config) if isinstance(config, dict) else {}
    named = values.get(key)
    if key == "function":
        refused = not isinstance(named, str) or not is_harmless_function(named)
    elif key == "cls_symbol":
        named = f"{named}.{values.get('method_name')}"
        refused = re.fullmatch(rf"RaggedTensor\.{_ATTRIBUTE.pattern}", named) is None
    else:
        refused = not isinstance(named, str) or _ATTRIBUTE.fullmatch(named) is None
    return f"{layer} calls {named!r}, which is not among the functions that only compute" if refused else ""


def code_lacks(code: Sequence[str]) -> str:
    """Returns where the code of a class is not: in the Keras file, nor in the files and modules that the user named."""
    read = f"{' and '.join(code)} {'was' if len(code) == 1 else 'were'} read, but without a definition of it"
    return f"its code is not in the file; {read}" if code else "its code is not in the file"


def name_code(otherwise: str) -> str:
    """Returns what to do about a class that is missing: name its code, or what ``otherwise`` begins a sentence of."""
    also = f", or {otherwise[0].lower()}{otherwise[1:]}" if otherwise else "."
    return (
        "If the model has classes of yours, name the Python file that defines them: --plug-in FILE.py, or for a batch "
        f'plug_ins = ["FILE.py"]{also}'
    )


def _objection_to_reference(place: _Place, name: str, mapping: Mapping[str, Any]) -> str:
    """Returns why an object may not be of a module, or name a function or type; empty if it may."""
    module: object = mapping["module"]
    if not isinstance(module, str):
        return f"{_described(mapping) or place.layer} has a module that is not a name: {module!r}"
    if name == "__typespec__":
        specification = mapping.get("spec_name")
        if specification in _SPECIFICATIONS and module.partition(".")[0] == "tensorflow":
            return ""
        return f"{place.layer} has a type {module}.{specification}, which is none of TensorFlow's"
    if name == "function":
        function = mapping.get("config")
        if isinstance(function, str) and is_own_function(module, function):
            return ""
        return (
            f"{place.layer} has {module}.{function} as its {place.key!r}, which is not among the functions of Keras's "
            "that only compute"
        )
    return ""


def _unknown(place: _Place, known: Container[str]) -> str:
    """Returns which class an object is of that is neither Keras's own nor known; empty if it is of none such."""
    mapping = cast("dict[str, Any]", place.value) if isinstance(place.value, dict) else {}
    name, module = mapping.get("class_name"), mapping.get("module")
    if not isinstance(name, str) or not isinstance(module, str):
        return ""
    if name == "function" or name.startswith("__"):  # a tensor, an array and the like, which Keras reads itself
        return ""
    # Keras looks for it as registered; for any other, Keras 2 would import the module.
    registered = mapping.get("registered_name")
    if is_own_class(module, name) or (name in known and isinstance(registered, str) and registered in known):
        return ""
    layer = _described(mapping) or place.layer
    return f"{layer} is of the class {module}.{name}, which is not one of Keras's own layers or their parts"


def _brings_code(key: str, layer: str) -> str:
    return f"the file brings Python code along, in {key!r} of {layer}, which is not run"


def _is_bytecode(text: str) -> bool:
    """Whether a text is a function's bytecode in a form that Keras's ``func_load`` reads: base64, or byte by byte."""
    if len(text) < _CODE.size:
        return False
    head = _OUTSIDE_BASE64.sub("", text)[:64]  # the decoder skips other characters
    decoded = base64.b64decode(head[: len(head) // 4 * 4])
    return any(map(_is_code, (decoded, text[:64].encode("raw_unicode_escape"))))


def _is_code(data: bytes) -> bool:
    if len(data) < _CODE.size:
        return False
    kind, *numbers = _CODE.unpack_from(data)
    return kind in _CODE_TYPES and all(0 <= number < _SMALL for number in numbers[:4])
