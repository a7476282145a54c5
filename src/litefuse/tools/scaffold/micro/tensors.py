"""The inputs and outputs of a model as an application for microcontrollers sees them."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from litefuse.errors import LitefuseError
from litefuse.litert.runtime.model_reader import Graph, Model, Signature

#: The types of elements in C++, and their names in tflite-micro.
ELEMENTS = {
    "bool": ("bool", "kTfLiteBool"),
    "float32": ("float", "kTfLiteFloat32"),
    "int16": ("int16_t", "kTfLiteInt16"),
    "int32": ("int32_t", "kTfLiteInt32"),
    "int64": ("int64_t", "kTfLiteInt64"),
    "int8": ("int8_t", "kTfLiteInt8"),
    "uint16": ("uint16_t", "kTfLiteUInt16"),
    "uint32": ("uint32_t", "kTfLiteUInt32"),
    "uint8": ("uint8_t", "kTfLiteUInt8"),
}


@dataclass(frozen=True)
class Port:
    """An input or output.

    Attributes:
        name: Its name in the signature; without one, that of its tensor.
        space: The C++ namespace of its constants: ``input_`` or ``output_`` and its name as an identifier.
        index: Its position among the inputs, or the outputs.
        tensor: The index of its tensor.
        dtype: The dtype of its elements, as numpy names it.
        shape: Its shape; sizes that the file leaves open are 1.
        scale: The scale of quantized numbers; 0 for others.
        zero: Their zero point.
        open: Whether the file leaves a size open.
    """

    name: str
    space: str
    index: int
    tensor: int
    dtype: str
    shape: tuple[int, ...]
    scale: float
    zero: int
    open: bool

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def element(self) -> str:
        """The type of its elements in C++."""
        return ELEMENTS[self.dtype][0]

    @property
    def type(self) -> str:
        """The type of its elements in tflite-micro."""
        return ELEMENTS[self.dtype][1]

    def __str__(self) -> str:
        return f"{json.dumps(self.name)}: {self.dtype} [{', '.join(map(str, self.shape))}]"


def identifier(text: str, otherwise: str) -> str:
    """Returns a text as an identifier of lower-case ASCII, letters with accents without them."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"_+", "_", re.sub(r"[^0-9a-z]", "_", plain.lower())).strip("_")
    return words or otherwise


def main_signature(model: Model, where: str) -> tuple[str, Signature | None]:
    """Returns the key and the signature of the first subgraph, which is all that tflite-micro calls; None without one.

    Raises:
        LitefuseError: Others are of another subgraph.
    """
    others = [key for key, signature in model.signatures.items() if signature.graph]
    if others:
        raise LitefuseError(
            f"tflite-micro calls only the first subgraph of a file, and these signatures are others: "
            f"{', '.join(others)}",
            where=where,
            hint="Convert each signature to a separate file (--signature KEY), and export those.",
        )
    return next(iter(model.signatures.items()), ("", None))


def ports(model: Model, signature: Signature | None, where: str) -> tuple[list[Port], list[Port]]:
    """Returns the inputs and the outputs of the first subgraph.

    Raises:
        LitefuseError: One is of a dtype that an application cannot fill or read, or has no element.
    """
    graph = model.graphs[0]
    named = signature or Signature(0, {}, {})
    inputs = list(_ports(graph, "input", graph.inputs, named.inputs, where))
    outputs = list(_ports(graph, "output", graph.outputs, named.outputs, where))
    if not outputs:
        raise LitefuseError("the model has no outputs", where=where)
    return inputs, outputs


def _ports(graph: Graph, kind: str, indices: Sequence[int], named: Mapping[str, int], where: str) -> Iterator[Port]:
    names: dict[int, list[str]] = {}
    for name, index in named.items():
        names.setdefault(index, []).append(name)
    taken = set[str]()
    for position, index in enumerate(indices):
        tensor = graph.tensor(index)
        of_tensor = names.get(index, [])
        name = (of_tensor.pop(0) if of_tensor else "") or tensor.name
        dtype = "" if tensor.dtype is None else str(tensor.dtype)
        if dtype not in ELEMENTS:
            shown = "strings" if dtype == "object" else dtype or "a type without elements, such as int4 or a resource"
            raise LitefuseError(
                f"the {kind} {name!r} is of {shown}, which tflite-micro applications do not support",
                where=where,
                hint=f"Use one of {', '.join(sorted(ELEMENTS))}.",
            )
        shape = tuple(1 if size is None else size for size in tensor.shape)
        if 0 in shape:
            raise LitefuseError(f"the {kind} {name!r} has no elements: its shape is {list(shape)}", where=where)
        space = base = f"{kind}_{identifier(name, str(position))}"
        number = 2
        while space in taken:
            space, number = f"{base}_{number}", number + 1
        taken.add(space)
        yield Port(name, space, position, index, dtype, shape, tensor.scale, tensor.zero, open=None in tensor.shape)
