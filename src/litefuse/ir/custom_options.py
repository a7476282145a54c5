"""Attributes as flexbuffer maps: the options of custom ops, and the attributes of composites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flatbuffers import flexbuffers

from litefuse.errors import FusionError


def encode_options(attributes: Mapping[str, Any], *, typed_strings: bool = False) -> bytes:
    """Encodes attributes as the flexbuffer map that the kernel of a custom op or a composite reads.

    An int becomes an Int, a float a 32-bit Float (as in TensorFlow's attributes), a str and bytes (a string that is
    not UTF-8) a String, a bool a Bool, and a list of one of these types a typed vector, which ``AsTypedVector`` of the
    C++ library reads; but a list of strings is a vector. Keys are sorted.
    Format: https://flatbuffers.dev/flexbuffers/.

    Args:
        attributes: The attributes.
        typed_strings: Whether lists of strings are typed vectors too, as TFLiteConverter writes them for TensorFlow
            ops. These are deprecated: their strings end at the first zero byte. A list with such a byte is a vector.

    Raises:
        FusionError: A value has another type, or a list several types; the message names the attribute.
    """
    for name, value in attributes.items():
        _check(name, value)
    builder = flexbuffers.Builder()
    with builder.Map():
        for name in sorted(attributes):
            builder.Key(name.encode())
            _add(builder, attributes[name], typed_strings=typed_strings)
    return bytes(builder.Finish())


def _check(name: str, value: Any) -> None:
    values = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]
    for item in values:  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(item, (bool, int, float, str, bytes)):
            raise FusionError(
                f"the attribute {name!r} holds {item!r}, which custom options cannot hold",
                hint="Custom options hold int, float, bool and string attributes and lists of each.",
            )
    kinds = sorted({"str" if isinstance(item, bytes) else type(item).__name__ for item in values})  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if len(kinds) > 1:
        raise FusionError(f"the attribute {name!r} is a list of several kinds: {', '.join(kinds)}")


def _add(builder: flexbuffers.Builder, value: Any, *, typed_strings: bool = False) -> None:
    if isinstance(value, bool):
        builder.Bool(value)
    elif isinstance(value, int):
        builder.Int(value)
    elif isinstance(value, float):
        builder.Float(value, byte_width=4)
    elif isinstance(value, str):
        builder.String(value)
    elif isinstance(value, bytes):
        builder.String(_Encoded(value))
    else:
        strings = any(isinstance(item, (str, bytes)) for item in value)
        untyped = strings and (not typed_strings or any(map(_holds_zero, value)))
        with builder.Vector() if untyped else builder.TypedVector():
            for item in value:
                _add(builder, item)


class _Encoded:
    """A string's bytes, which need not be UTF-8: all that the builder does with a string is to encode it."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def encode(self, _encoding: str = "", /) -> bytes:
        return self._data


def _holds_zero(value: Any) -> bool:
    return (isinstance(value, str) and "\0" in value) or (isinstance(value, bytes) and b"\0" in value)
