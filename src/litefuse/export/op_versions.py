"""Versions of ops that the engine took from the stubs of weights rather than from the weights."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from litefuse.engine.flatbuffer_tables import entries, field_of, follow

__all__ = ["correct_versions"]

# The number of the op in the schema, its version in groups, and that in float32 without (op_version.cc of LiteRT).
_CONV_2D, _OF_GROUPS, _PLAIN = 3, 6, 1
_FLOAT32 = 0
_CHANNELS = 3

# The fields of the schema's tables that are read here, by their position in the vtable: 4 + 2 * index.
_CODES, _SUBGRAPHS = 6, 8  # Model
_VERSION, _CODE = 8, 10  # OperatorCode
_TENSORS, _OPERATORS = 4, 10  # SubGraph
_OPCODE, _INPUTS = 4, 6  # Operator
_SHAPE, _TYPE = 4, 6  # Tensor


def correct_versions(data: Any) -> None:
    """Gives convolutions in float32 the version that they need, where the engine took them for some in groups.

    A convolution is in groups if its filter has fewer channels than its input, as the stub of a filter has. Runtimes
    from before that version refuse it.

    Args:
        data: The model's flatbuffer, with the shapes of the weights, which is changed in place.
    """
    model = follow(data, 0)
    codes = [follow(data, entry) for entry in entries(data, model, _CODES)]
    kinds = [(_number(data, code, _CODE, "i"), _number(data, code, _VERSION, "i")) for code in codes]
    wanted = {index for index, kind in enumerate(kinds) if kind == (_CONV_2D, _OF_GROUPS)}
    if wanted:
        wanted -= {code for code, is_plain in _convolutions(data, model, wanted) if not is_plain}
    for index in wanted:
        struct.pack_into("<i", data, field_of(data, codes[index], _VERSION), _PLAIN)


def _convolutions(data: Any, model: int, codes: set[int]) -> Iterator[tuple[int, bool]]:
    """Yields the code of each convolution, and whether it is one in float32 that is not in groups."""
    for graph in (follow(data, entry) for entry in entries(data, model, _SUBGRAPHS)):
        tensors = [follow(data, entry) for entry in entries(data, graph, _TENSORS)]
        for operator in (follow(data, entry) for entry in entries(data, graph, _OPERATORS)):
            code = _number(data, operator, _OPCODE, "I")
            if code in codes:
                operands = [tensors[index] for index in _numbers(data, operator, _INPUTS)[:2]]
                types = {_number(data, each, _TYPE, "b") for each in operands}
                channels = {_numbers(data, each, _SHAPE)[_CHANNELS] for each in operands}
                yield code, types == {_FLOAT32} and len(channels) == 1


def _number(data: Any, table: int, field: int, kind: str) -> int:
    place = field_of(data, table, field)
    return struct.unpack_from(f"<{kind}", data, place)[0] if place else 0


def _numbers(data: Any, table: int, field: int) -> tuple[int, ...]:
    vector = follow(data, field_of(data, table, field))
    return struct.unpack_from(f"<{struct.unpack_from('<I', data, vector)[0]}i", data, vector + 4)
