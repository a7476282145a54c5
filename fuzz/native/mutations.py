"""Calls of kernels that nobody would make."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from flatbuffers import flexbuffers
from tests.litert.runtime.models import DTYPES

from fuzz.native.call import Call, Operand
from fuzz.values import FLOATS, STRINGS, change_bytes, hostile_integer, hostile_shape
from litefuse.litert.runtime.options import decode_map
from litefuse.litert.runtime.tensors import encode_strings

_LARGEST = 1 << 16  # bytes of an input: more is what the model claims, not what it holds
_ABSURD = 1 << 40
_DTYPES = [*DTYPES]


def mutated(draw: random.Random, call: Call) -> Call:
    """A call with a few changes, of which only some of the outputs may be read."""
    changed = replace(
        call,
        form=draw.choice(("native", "native", "numpy")),
        inputs=[None if each is None else replace(each) for each in call.inputs],
        outputs=list(call.outputs),
    )
    for _ in range(draw.randint(0, 3)):
        draw.choice(_MUTATIONS)(draw, changed)
    if draw.random() < 0.4:
        changed.read = [place for place in range(len(changed.outputs)) if draw.random() < 0.5]
    changed.read = [place for place in changed.read if place < len(changed.outputs)]
    return changed


def _options(draw: random.Random, call: Call) -> None:
    options = decode_map(call.options)
    if options is None or draw.random() < 0.2:
        call.options = change_bytes(draw, call.options)
        return
    if not options:
        return
    name = draw.choice(sorted(options))
    if draw.random() < 0.1:
        del options[name]
    else:
        options[name] = _hostile_option(draw, options[name])
    try:
        call.options = bytes(flexbuffers.Dumps(options))
    except (TypeError, ValueError, OverflowError, RuntimeError, struct.error):
        call.options = change_bytes(draw, call.options)


def _hostile_option(draw: random.Random, value: Any) -> Any:
    if isinstance(value, bool):
        return draw.choice((not value, 2, "x", None, [True]))
    if isinstance(value, int) and draw.random() < 0.8:
        return hostile_integer(draw)
    if isinstance(value, float) and draw.random() < 0.8:
        return draw.choice(FLOATS)
    if isinstance(value, list) and value and draw.random() < 0.8:
        changed = list(cast("list[Any]", value))
        place = draw.randrange(len(changed))
        if draw.random() < 0.7:
            changed[place] = _hostile_option(draw, changed[place])
        else:
            more: list[list[Any]] = [[], changed, [changed[place]] * 2]
            changed[place : place + draw.randrange(2)] = draw.choice(more)
        return changed
    return draw.choice((draw.choice(STRINGS).decode("latin-1"), hostile_integer(draw), draw.choice(FLOATS), None, []))


def _operand(draw: random.Random, call: Call) -> Operand | None:
    return draw.choice(call.inputs) if call.inputs else None


def _fit(operand: Operand, draw: random.Random) -> None:
    """Makes the bytes those of the shape, where that can be."""
    count = math.prod(operand.shape)
    if operand.dtype == "STRING":
        count = min(max(count, 0), 64)
        operand.data = encode_strings(np.array([draw.choice(STRINGS) for _ in range(count)], object))
        return
    size = np.dtype(DTYPES[operand.dtype]).itemsize
    wanted = min(max(count, 0) * size, _LARGEST)
    repeats = wanted // max(len(operand.data), 1) + 1
    operand.data = ((operand.data or b"\0") * (repeats if operand.data else wanted))[:wanted]


def _shape(draw: random.Random, call: Call) -> None:
    if (operand := _operand(draw, call)) is None:
        return
    shape = hostile_shape(draw, operand.shape)
    if _LARGEST * 64 < math.prod(shape) < _ABSURD:  # memory that there is, and that the model has a right to
        shape = [0]
    if draw.random() < 0.3 and not operand.is_constant:
        operand.resized = shape
    else:
        operand.shape = shape
    _fit(operand, draw)


def _dtype(draw: random.Random, call: Call) -> None:
    if draw.random() < 0.3 and call.outputs:
        call.outputs[draw.randrange(len(call.outputs))] = draw.choice(_DTYPES)
    elif (operand := _operand(draw, call)) is not None:
        operand.dtype = draw.choice(_DTYPES)
        _fit(operand, draw)


def _values(draw: random.Random, call: Call) -> None:
    if (operand := _operand(draw, call)) is None:
        return
    if operand.dtype == "STRING":
        if draw.random() < 0.3:
            operand.data = change_bytes(draw, operand.data)
        else:
            _fit(operand, draw)
        return
    dtype = np.dtype(DTYPES[operand.dtype])
    data = bytearray(operand.data)
    for _ in range(draw.randint(1, 3)):
        if len(data) < dtype.itemsize:
            return
        place = draw.randrange(len(data) // dtype.itemsize) * dtype.itemsize
        if dtype.kind in "iu":
            value = np.array(hostile_integer(draw, dtype.itemsize * 8, signed=dtype.kind == "i"), dtype)
        elif dtype.kind in "fc":
            with np.errstate(over="ignore"):
                value = np.array(draw.choice(FLOATS)).astype(dtype)
        else:
            value = np.frombuffer(draw.randbytes(dtype.itemsize), np.uint8)
        data[place : place + dtype.itemsize] = value.tobytes()
    operand.data = bytes(data)


def _constant(draw: random.Random, call: Call) -> None:
    if (operand := _operand(draw, call)) is not None:
        operand.is_constant, operand.resized = not operand.is_constant, None


def _absent(draw: random.Random, call: Call) -> None:
    places: list[Any] = call.outputs if draw.random() < 0.5 else call.inputs
    if places:
        places[draw.randrange(len(places))] = None


def _count(draw: random.Random, call: Call) -> None:
    places: list[Any] = call.outputs if draw.random() < 0.4 else call.inputs
    if not places:
        return
    place = draw.randrange(len(places))
    places[place : place + draw.randrange(2)] = draw.choice(([], [places[place]] * 2))


_MUTATIONS: tuple[Callable[[random.Random, Call], None], ...] = (
    *(_options, _options, _options, _shape, _shape, _shape, _values, _values, _values),
    *(_dtype, _constant, _constant, _absent, _count),
)
