"""Custom options: attributes as a flexbuffer map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flatbuffers import flexbuffers

from litefuse.errors import FusionError

__all__ = ["encode_options"]


def encode_options(attributes: Mapping[str, Any]) -> bytes:
    """Encodes attributes as the flexbuffer map that a custom op's kernel reads.

    An int becomes an Int, a float a 32-bit Float (what TensorFlow's attributes hold), a str or bytes a String, a bool a
    Bool, and a list of any one of these a vector. Keys are sorted. Format: https://flatbuffers.dev/flexbuffers/.

    Raises:
        FusionError: A value of another kind, or a list of several kinds; the message names the attribute.
    """
    builder = flexbuffers.Builder()
    with builder.Map():
        for name in sorted(attributes):
            builder.Key(name)
            _add(builder, name, attributes[name])
    return bytes(builder.Finish())


def _add(builder: flexbuffers.Builder, name: str, value: Any) -> None:
    if isinstance(value, bool):
        builder.Bool(value)
    elif isinstance(value, int):
        builder.Int(value)
    elif isinstance(value, float):
        builder.Float(value, byte_width=4)
    elif isinstance(value, (str, bytes)):
        builder.String(value)
    elif isinstance(value, Sequence):
        _add_vector(builder, name, list(value))  # pyright: ignore[reportUnknownArgumentType]
    else:
        raise FusionError(
            f"the attribute {name!r} is a {type(value).__name__}, which custom options cannot hold",
            hint="Custom options hold int, float, bool and string attributes and lists of each.",
        )


def _add_vector(builder: flexbuffers.Builder, name: str, values: list[Any]) -> None:
    kinds = sorted({type(value).__name__ for value in values})
    if len(kinds) > 1:
        raise FusionError(f"the attribute {name!r} is a list of several kinds: {', '.join(kinds)}")
    with builder.Vector():
        for value in values:
            if isinstance(value, (list, Mapping)):
                raise FusionError(f"the attribute {name!r} is a list of lists, which custom options cannot hold")
            _add(builder, name, value)
