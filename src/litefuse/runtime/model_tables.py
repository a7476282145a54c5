"""The tables of a ``.tflite`` file: the numbers of their fields, and the names of ops and types.

Source of the numbers: schema.fbs of LiteRT.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from ai_edge_litert import schema_py_generated as schema

from litefuse.runtime.flatbuffer import Table

__all__ = ["BUILTIN_OPS", "TENSOR_TYPES", "OpCode", "buffer_content", "names_of", "sizes_of"]

# Model
VERSION, OPERATOR_CODES, SUBGRAPHS, DESCRIPTION, BUFFERS, METADATA_BUFFER, METADATA, SIGNATURES = range(8)
# OperatorCode
DEPRECATED_CODE, CUSTOM_CODE, CODE_VERSION, CODE = range(4)
# SubGraph
TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, OPERATORS, GRAPH_NAME = range(5)
# Operator; the fields of its options of either kind follow those of their types.
OPCODE, OP_INPUTS, OP_OUTPUTS, OPTIONS_TYPE, OPTIONS, CUSTOM_OPTIONS = range(6)
INTERMEDIATES, LARGE_OPTIONS_OFFSET, LARGE_OPTIONS_SIZE, OPTIONS_2_TYPE, OPTIONS_2 = range(8, 13)
# Tensor
SHAPE, TYPE, BUFFER, TENSOR_NAME, QUANTIZATION, IS_VARIABLE = range(6)
SPARSITY, SHAPE_SIGNATURE, HAS_RANK = range(6, 9)
EXTERNAL_BUFFER = 10
# QuantizationParameters
SCALE, ZERO_POINT, QUANTIZATION_DETAILS = 2, 3, 4
QUANTIZED_DIMENSION = 6
# Buffer
DATA, OFFSET, SIZE = 0, 1, 2
# SignatureDef
SIGNATURE_INPUTS, SIGNATURE_OUTPUTS, SIGNATURE_KEY, SIGNATURE_GRAPH = 0, 1, 2, 4
# TensorMap
MAP_NAME, MAP_INDEX = 0, 1
# Metadata
METADATA_NAME, METADATA_CONTENT = 0, 1


def names_of(enumeration: object) -> dict[int, str]:
    """Returns the names of the values of an enumeration of the schema, by their numbers."""
    return {number: name for name, number in vars(cast("type", enumeration)).items() if name.isupper()}


#: The names of LiteRT's ops, such as ``CONV_2D``, by their numbers.
BUILTIN_OPS = names_of(schema.BuiltinOperator)
#: The names of its types, such as ``FLOAT32``, by their numbers.
TENSOR_TYPES = names_of(schema.TensorType)


class OpCode(NamedTuple):
    """An op code of the model.

    Attributes:
        name: Its name in the schema; CUSTOM for custom ops.
        custom: The name of a custom op; empty for others.
        version: The version of the op.
    """

    name: str
    custom: str
    version: int = 1

    @classmethod
    def read(cls, code: Table) -> OpCode:
        """Reads an OperatorCode."""
        # Old files have the number in a field of only one byte.
        number = max(code.number(CODE, "i"), code.number(DEPRECATED_CODE, "b"))
        name = BUILTIN_OPS.get(number, f"BUILTIN_{number}")
        return cls(name, code.text(CUSTOM_CODE) if name == "CUSTOM" else "", code.number(CODE_VERSION, "i", 1))

    @property
    def shown(self) -> str:
        """The op's name, or that of a custom op."""
        return self.custom or self.name


def sizes_of(tensor: Table) -> tuple[int | None, ...]:
    """Returns the shape of a tensor; None for a dynamic dimension. Empty if the rank is unknown, too."""
    sizes = tensor.numbers(SHAPE_SIGNATURE) or tensor.numbers(SHAPE)
    return tuple(None if size < 0 else size for size in sizes)


def buffer_content(content: Any, buffer: Table) -> bytes:
    """Returns a copy of the data of a buffer, which may be stored behind the flatbuffer.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
        buffer: The buffer.
    """
    size = buffer.number(SIZE, "Q")
    if buffer.length(DATA) or not size:
        return buffer.content(DATA)
    offset = buffer.number(OFFSET, "Q")
    return bytes(content[offset : offset + size])
