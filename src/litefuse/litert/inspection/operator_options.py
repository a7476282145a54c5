"""The options of operators, under the names of the schema (schema.fbs) and with the names of its enumerations."""

from __future__ import annotations

import functools
import hashlib
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.custom_op import PACK
from litefuse.litert.runtime.flatbuffer import Table
from litefuse.litert.runtime.kernel_pack import XNNPACK_OPS
from litefuse.litert.runtime.model_tables import names_of
from litefuse.litert.runtime.options import decode_map
from litefuse.litert.runtime.schema_objects import object_of

# The enumerations of the options' fields; the schema's classes do not say them.
_ENUMERATIONS = {
    "algorithm": schema.RngAlgorithm,
    "combiner": schema.CombinerType,
    "compare_type": schema.StablehloComparisonType,
    "comparison_direction": schema.StablehloComparisonDirection,
    "composite_attributes_format": schema.CustomOptionsFormat,
    "fused_activation_function": schema.ActivationFunctionType,
    "idx_out_type": schema.TensorType,
    "in_data_type": schema.TensorType,
    "kernel_type": schema.LSTMKernelType,
    "key_dtype": schema.TensorType,
    "mode": schema.MirrorPadMode,
    "out_data_type": schema.TensorType,
    "out_type": schema.TensorType,
    "output_type": schema.TensorType,
    "padding": schema.Padding,
    "precision_config": schema.StablehloPrecisionConfig,
    "quantized_bias_type": schema.TensorType,
    "reduce_function": schema.ReduceWindowFunction,
    "type": schema.LSHProjectionType,
    "value_dtype": schema.TensorType,
    "weights_format": schema.FullyConnectedOptionsWeightsFormat,
}
# Fields that hold a flexbuffer map.
_MAPS = frozenset({"composite_attributes", "custom_attributes", "quant_spec"})
# So many bytes that nothing decodes are shown.
_SHOWN_BYTES = 64
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class _Kind(NamedTuple):
    """A class of options: its name and its fields' names in the schema, by the object's attributes."""

    name: str
    keys: Mapping[str, str]


class OptionsReader:
    """Reads the options of builtin operators.

    Args:
        left: How many values there may be: in a hostile file many operators share one vector as long as the file.
    """

    def __init__(self, left: int) -> None:
        self._left = left

    def builtin(self, operator: Table) -> dict[str, Any]:
        """Returns the options of an operator, of both unions; empty if it has none.

        Raises:
            ValueError: The options have more values than the file has bytes.
        """
        options: dict[str, Any] = {}
        for second, field in enumerate((fields.OPTIONS_TYPE, fields.OPTIONS_2_TYPE)):
            kind, table = _kinds(bool(second)).get(operator.number(field, "B")), operator.table(field + 1)
            if kind is not None and table is not None:
                options |= self._read(kind, table)
        return options

    def _read(self, kind: _Kind, table: Table) -> dict[str, Any]:
        options = object_of(kind.name, table)
        return {key: self._value(key, getattr(options, attribute)) for attribute, key in kind.keys.items()}

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if isinstance(value, (np.ndarray, list)):
            vector = cast("list[Any]", value)
            self._left -= len(vector)
            if self._left < 0:
                raise ValueError("more options than bytes")
            if key in _MAPS:
                return decoded_options("", np.asarray(vector, np.uint8).tobytes())
            names = _names(key) if key == "precision_config" else {}
            return [names.get(item, _plain(item)) for item in np.asarray(vector).tolist()]
        if value is None:  # a vector that is not there, or a text
            return {} if key == "composite_attributes" else None
        return _names(key).get(value, _plain(value)) if type(value) is int else _plain(value)


def decoded_options(name: str, data: bytes) -> dict[str, Any]:
    """Decodes the options of a custom op to values that JSON has: a flexbuffer map, or what the pack's kernel reads.

    Returns:
        The options; in an unknown format, the entry ``bytes`` alone has the first 64 in hexadecimal, with size and
        SHA-256 of all if there are more.
    """
    options = known_options(name, data)
    if options is not None or not data:
        return options or {}
    text = f"0x{data[:_SHOWN_BYTES].hex()}"
    if len(data) > _SHOWN_BYTES:
        text += f"... {len(data)} bytes with the SHA-256 {hashlib.sha256(data).hexdigest()}"
    return {"bytes": text}


def known_options(name: str, data: bytes) -> dict[str, Any] | None:
    """Decodes the options of a custom op as :func:`decoded_options` does; None if they are in an unknown format."""
    options = decode_map(data)
    if options is None and data and name in XNNPACK_OPS:
        options = PACK[name].decode_options(data) or None if name in PACK else None
    return None if options is None else {key: _plain(value) for key, value in options.items()}


def _plain(value: Any) -> Any:
    """Converts a value to one that JSON has: blobs become hexadecimal, and infinities and NaN text."""
    if isinstance(value, (bytes, bytearray)):
        return f"0x{value.hex()}"
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, float):
        return _shortest(value) if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _shortest(value: float) -> float:
    """Returns the shortest decimal of a number that is a float32; others stay as they are."""
    with np.errstate(over="ignore"):
        return shortest_float32(value) if float(np.float32(value)) == value else value


def shortest_float32(value: float) -> float:
    """Returns the shortest decimal that rounds to the same float32."""
    return float(str(np.float32(value)))


@functools.cache
def _names(key: str) -> dict[int, str]:
    """Returns the names of the values of a field that is an enumeration."""
    return names_of(_ENUMERATIONS[key]) if key in _ENUMERATIONS else {}


@functools.cache
def _kinds(second: bool) -> dict[int, _Kind]:
    """Returns the classes of options by the numbers of their types in one of the two unions."""
    union: object = schema.BuiltinOptions2 if second else schema.BuiltinOptions
    kinds: dict[int, _Kind] = {}
    for name, number in vars(union).items():
        made: Any = getattr(schema, f"{name}T", None)
        if made is not None:
            attributes: list[str] = list(made().__dict__)
            kinds[number] = _Kind(name, {attribute: _key(attribute) for attribute in attributes})
    return kinds


def _key(attribute: str) -> str:
    return _WORD.sub("_", attribute).lower()
