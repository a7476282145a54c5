"""Changes of any protobuf message, found by its own description: fields, elements, pieces of others of its type."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from fuzz.values import FLOATS, STRINGS, hostile_integer

_FLOATS = {FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE}
_BITS = {
    FieldDescriptor.CPPTYPE_INT32: (32, True),
    FieldDescriptor.CPPTYPE_INT64: (64, True),
    FieldDescriptor.CPPTYPE_UINT32: (32, False),
    FieldDescriptor.CPPTYPE_UINT64: (64, False),
}


def messages_in(message: Any) -> Iterator[Any]:
    """A message and all in it."""
    waiting = [message]
    while waiting:
        found = waiting.pop()
        yield found
        for field, value in found.ListFields():
            if _is_map(field):
                # The order of a map's keys differs between processes.
                waiting += [value[key] for key in sorted(value) if isinstance(value[key], Message)]
            elif field.message_type is not None:
                waiting += value if field.is_repeated else [value]


def change_message(draw: random.Random, root: Any) -> None:
    """Makes one change somewhere in a message: all messages of it are as likely."""
    everything = [*messages_in(root)]
    message = draw.choice(everything)
    fields: list[Any] = [field for field, _ in message.ListFields()]
    if not fields or draw.random() < 0.15:
        fields = list(message.DESCRIPTOR.fields)
    if not fields:
        return
    field = draw.choice(fields)
    values = _Values(draw, everything)
    if _is_map(field):
        _change_map(draw, getattr(message, field.name), field, values)
    elif field.is_repeated:
        _change_list(draw, getattr(message, field.name), field, values)
    elif field.message_type is not None:
        _replace(draw, getattr(message, field.name), everything)
        if draw.random() < 0.2:
            message.ClearField(field.name)
    elif draw.random() < 0.1:
        message.ClearField(field.name)
    else:
        setattr(message, field.name, values.of(field, getattr(message, field.name)))


class _Values:
    """Values of fields: hostile ones, and those that the message has elsewhere."""

    def __init__(self, draw: random.Random, everything: list[Any]) -> None:
        self._draw, self._everything = draw, everything

    def of(self, field: Any, now: Any = None) -> Any:
        draw = self._draw
        kind = field.cpp_type
        if kind in _BITS:
            bits, signed = _BITS[kind]
            if isinstance(now, int) and draw.random() < 0.3:
                least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
                return min(max(now + draw.choice((-1, 1)), least), most)
            return hostile_integer(draw, bits, signed=signed)
        if kind in _FLOATS:
            value = draw.choice(FLOATS)
            return value if kind == FieldDescriptor.CPPTYPE_DOUBLE or abs(value) < 3e38 else float("inf")
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return draw.random() < 0.5
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return draw.choice((*(value.number for value in field.enum_type.values), 1000))
        if draw.random() < 0.6:
            text = self._other_text(field.type == FieldDescriptor.TYPE_BYTES)
        else:
            text = draw.choice(STRINGS)
        return text if field.type == FieldDescriptor.TYPE_BYTES else text.decode("utf-8", "replace")

    def _other_text(self, binary: bool) -> bytes:
        """A text of the model: names become others that there are."""
        for _ in range(20):
            message = self._draw.choice(self._everything)
            texts = [value for field, value in message.ListFields() if _is_text(field, binary)]
            if texts:
                value = self._draw.choice(texts)
                return value if isinstance(value, bytes) else value.encode()
        return b""


def _is_text(field: Any, binary: bool) -> bool:
    kind = FieldDescriptor.TYPE_BYTES if binary else FieldDescriptor.TYPE_STRING
    return field.type == kind and not field.is_repeated


def _is_map(field: Any) -> bool:
    return field.is_repeated and field.message_type is not None and field.message_type.GetOptions().map_entry


def _replace(draw: random.Random, message: Any, everything: list[Any]) -> None:
    """Makes a message a copy of another of its type."""
    others = [each for each in everything if each.DESCRIPTOR is message.DESCRIPTOR]
    if others:
        other = draw.choice(others)
        copied = type(message)()
        copied.CopyFrom(other)
        message.CopyFrom(copied)


def _change_list(draw: random.Random, values: Any, field: Any, more: _Values) -> None:
    count = len(values)
    place = draw.randrange(count) if count else 0
    match draw.randrange(5):
        case 0 if count:
            del values[place]
        case 1 if count:  # one again, somewhere
            _insert(values, draw.randrange(count + 1), values[place], field)
        case 2 if count > 1:
            elements = _copies(values, field)
            other = draw.randrange(count)
            elements[place], elements[other] = elements[other], elements[place]
            _set(values, elements)
        case 3 if count and draw.random() < 0.1:
            del values[:]
        case _ if field.message_type is None:
            if count and draw.random() < 0.7:
                values[place] = more.of(field, values[place])
            else:
                values.insert(draw.randrange(count + 1), more.of(field))
        case _:
            values.add()


def _insert(values: Any, place: int, value: Any, field: Any) -> None:
    elements = _copies(values, field)
    elements.insert(place, value)
    _set(values, elements)


def _copies(values: Any, field: Any) -> list[Any]:
    if field.message_type is None:
        return list(values)
    copies: list[Any] = []
    for each in values:
        copied = type(each)()
        copied.CopyFrom(each)
        copies.append(copied)
    return copies


def _set(values: Any, elements: list[Any]) -> None:
    del values[:]
    values.extend(elements)


def _change_map(draw: random.Random, values: Any, field: Any, more: _Values) -> None:
    keys = sorted(values)
    key_field, value_field = field.message_type.fields
    if not keys:
        return
    key, other = draw.choice(keys), draw.choice(keys)
    match draw.randrange(4):
        case 0:
            del values[key]
        case 1:
            name = more.of(key_field, key)
            if value_field.message_type is None:
                values[name] = values[key]
            else:
                values[name].CopyFrom(values[key])
        case 2 if value_field.message_type is not None:
            if key != other:
                values[key].CopyFrom(values[other])
        case _ if value_field.message_type is None:
            values[key] = more.of(value_field, values[key])
        case _:
            values[key].Clear()
