"""Attributes as flexbuffer maps: the options of custom ops, and the attributes of composites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flatbuffers import flexbuffers

from litefuse.errors import FusionError

__all__ = ["encode_options"]


def encode_options(attributes: Mapping[str, Any]) -> bytes:
    """Encodes attributes as the flexbuffer map that the kernel of a custom op or a composite reads.

    An int becomes an Int, a float a 32-bit Float (as in TensorFlow's attributes), a str a String, bytes a
    Blob, a bool a Bool, and a list of one of these types a vector (a typed one for numbers). Keys are sorted.
    Format: https://flatbuffers.dev/flexbuffers/.

    Raises:
        FusionError: A value has another type, or a list several types; the message names the attribute.
    """
    for name, value in attributes.items():
        _check(name, value)
    builder = flexbuffers.Builder()
    with builder.Map():
        for name in sorted(attributes):
            builder.Key(name.encode())
            _add(builder, attributes[name])
    return bytes(builder.Finish())


def _check(name: str, value: Any) -> None:
    values = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]
    for item in values:  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(item, (bool, int, float, str, bytes)):
            raise FusionError(
                f"the attribute {name!r} holds {item!r}, which custom options cannot hold",
                hint="Custom options hold int, float, bool and string attributes and lists of each.",
            )
    kinds = sorted({type(item).__name__ for item in values})  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if len(kinds) > 1:
        raise FusionError(f"the attribute {name!r} is a list of several kinds: {', '.join(kinds)}")


def _add(builder: flexbuffers.Builder, value: Any) -> None:
    if isinstance(value, bool):
        builder.Bool(value)
    elif isinstance(value, int):
        builder.Int(value)
    elif isinstance(value, float):
        builder.Float(value, byte_width=4)
    elif isinstance(value, str):
        builder.String(value)
    elif isinstance(value, bytes):
        builder.Blob(value)
    else:
        # Numbers in typed vectors, as TFLiteConverter writes them; typed vectors of strings are deprecated.
        typed = bool(value) and not isinstance(value[0], (str, bytes))
        with builder.TypedVector() if typed else builder.Vector():
            for item in value:
                _add(builder, item)
