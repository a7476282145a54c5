"""The only writer of models that are the schema's objects: it edits files, and completes those of other tools.

Files that lack signatures and names get them, without which inputs and outputs cannot be named.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError
from litefuse.litert.export.buffers import MAX_FLATBUFFER, append_buffers
from litefuse.litert.export.op_codes import LARGEST_BYTE, MIN_RUNTIME, MIN_RUNTIME_BYTES, correct_op_codes
from litefuse.litert.runtime.flatbuffer import mapped, release
from litefuse.litert.runtime.model_tables import OP_NUMBERS, STAND_IN
from litefuse.litert.runtime.schema_objects import (
    add_metadata,
    bytes_of,
    flatbuffer_of,
    made,
    objects_of,
    op_code,
    op_name,
    op_names,
    set_options,
    tensor_name,
)

#: Changes a model, an object of the schema, and says whether it did.
Edit: TypeAlias = Callable[[Any], bool]

# Smaller buffers are written with the tables.
_LARGE_BYTES = 1 << 10
_BLOCK_BYTES = 1 << 24
#: The metadata in which tflite-micro, and nobody else, looks for the places of tensors in its memory.
PLAN = "OfflineMemoryAllocation"
# Its version, its subgraph, and the number of tensors, by which offsets would follow.
_NO_TENSORS = np.zeros(3, np.int32)
# The kernels that take the first scale of a constant for all of its channels, and its position.
_FIRST_SCALE = {"DEQUANTIZE": 0, "EMBEDDING_LOOKUP": 1}
#: The signature that a model gets that has none.
SIGNATURE = "serving_default"


def edit_file(path: Path, *changes: Edit, max_flatbuffer: int = MAX_FLATBUFFER) -> bool:
    """Changes a model's file, which appears whole, and complete as by :func:`complete_file`.

    Args:
        path: The file.
        *changes: Functions that change the model. They get data and options that are stored behind the flatbuffer as if
            they were inside.
        max_flatbuffer: The maximum size of the flatbuffer in bytes; data is stored behind a larger one.

    Returns:
        Whether it changed.
    """
    content = mapped(path)
    model = objects_of(content)
    if not sum(change(model) for change in changes):
        return False
    target = path.with_name(path.name + ".edited")
    try:
        _write(model, target, max_flatbuffer)
        del model
        release(content)
        target.replace(path)
    finally:
        target.unlink(missing_ok=True)
    return True


def complete_file(path: Path, *changes: Edit, max_flatbuffer: int = MAX_FLATBUFFER) -> None:
    """Makes a file that another tool wrote, and that may change, one that every reader takes for what it is.

    Each op has the least version of its form, op codes say their op to older readers, too, the least runtime is
    recorded, tflite-micro refuses what it would compute wrong, and data is inside the flatbuffer, where most readers
    look for it, unless that would exceed 2 GB.

    Args:
        path: A LiteRT model, without associated files.
        *changes: Functions that change the model, as for :func:`edit_file`.
        max_flatbuffer: The maximum size of the flatbuffer in bytes; data is stored behind a larger one.
    """
    edit_file(path, *changes, lambda _: True, max_flatbuffer=max_flatbuffer)


class _Bytes:
    """The data of a buffer."""

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self._data = data
        self.nbytes = data.nbytes

    def blocks(self) -> Iterator[npt.NDArray[np.uint8]]:
        for start in range(0, self.nbytes, _BLOCK_BYTES):
            yield self._data[start : start + _BLOCK_BYTES]


def with_builtins(content: bytes) -> bytes:
    """Returns a file whose custom ops that stand for builtin ops are these ops.

    Args:
        content: The content of a file, without data behind the flatbuffer.
    """
    model = objects_of(content)
    names = [(code.customCode or b"").decode() for code in model.operatorCodes]
    for graph in model.subgraphs:
        for op in graph.operators or ():
            if names[op.opcodeIndex].startswith(STAND_IN):
                _complete(op, graph, json.loads(bytes_of(op.customOptions)))
    for code, name in zip(model.operatorCodes, names, strict=True):
        if name.startswith(STAND_IN):
            code.customCode, code.builtinCode = None, OP_NUMBERS[name.removeprefix(STAND_IN)]
            code.deprecatedBuiltinCode = min(code.builtinCode, LARGEST_BYTE)
    return bytes(flatbuffer_of(model))


def _complete(op: Any, graph: Any, stated: Mapping[str, Any]) -> None:
    """Gives an op that stood for a builtin op its options and states."""
    op.customOptions = None
    if stated["table"]:
        options = stated["options"].items()
        set_options(op, made(stated["table"], **{_camel_case(name): value for name, value in options}))
    for position in stated["states"]:
        graph.tensors[op.inputs[position]].isVariable = True


def _camel_case(name: str) -> str:
    return re.sub("_(.)", lambda match: match[1].upper(), name)


def _write(model: Any, path: Path, max_flatbuffer: int) -> None:
    """Writes a model: the tables, then the data of large buffers."""
    add_metadata(model, MIN_RUNTIME, np.zeros(MIN_RUNTIME_BYTES, np.uint8))  # room for what is known below
    refuse_first_scales(model)
    for code in model.operatorCodes:
        number = op_code(code)
        if op_name(code) != "CUSTOM":  # so that neither field is absent, as one with its default is
            code.builtinCode, code.deprecatedBuiltinCode, code.version = number, min(number, LARGEST_BYTE), 2
    large: dict[int, _Bytes] = {}
    for index, buffer in enumerate(model.buffers):
        if buffer.data is not None and len(buffer.data) >= _LARGE_BYTES:
            large[index] = _Bytes(np.asarray(buffer.data, np.uint8))
            buffer.data = None
    path.write_bytes(flatbuffer_of(model))
    correct_op_codes(path)
    if large:
        append_buffers(path, large, max_flatbuffer=max_flatbuffer)


def refuse_first_scales(model: Any) -> None:
    """Gives a model a plan of tflite-micro's memory that has no tensors, if that would take a scale for another one.

    tflite-micro looks at no versions of ops, but refuses a plan that is not of as many tensors as the model has, before
    it runs anything. A model that has a plan keeps it.
    """
    if _has_channels(model):
        add_metadata(model, PLAN, np.frombuffer(_NO_TENSORS.tobytes(), np.uint8))


def _has_channels(model: Any) -> bool:
    """Whether an operand has several scales of which tflite-micro takes the first one."""
    kinds = op_names(model)
    for graph in model.subgraphs:
        for op in graph.operators or ():
            position = _FIRST_SCALE.get(kinds[int(op.opcodeIndex)])
            if position is not None and position < len(op.inputs):
                parameters = graph.tensors[op.inputs[position]].quantization
                if parameters is not None and parameters.scale is not None and len(parameters.scale) > 1:
                    return True
    return False


def sign_file(path: Path) -> None:
    """Gives the model in a file a signature if it has none, and a name to each tensor without one.

    Raises:
        InterpreterError: The file is damaged.
    """
    try:
        edit_file(path, name_tensors, sign)
    except OSError:
        raise
    except Exception as error:  # whatever the schema's classes raise
        raise InterpreterError(f"the model cannot be read: {error}", where=str(path)) from error


def name_tensors(model: Any) -> bool:
    """Gives each tensor a name of its own; returns whether one was lacking."""
    present = {tensor_name(tensor) for graph in model.subgraphs for tensor in graph.tensors if tensor.name}
    taken, renamed = set[str](), False
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            name = tensor_name(tensor) if tensor.name else ""
            if not name or name in taken:
                base = name or "tensor"
                name = next(new for n in itertools.count(2) if (new := f"{base}#{n}") not in present | taken)
                tensor.name, renamed = name.encode(), True
            taken.add(name)
    return renamed


def drop_names(model: Any) -> bool:
    """Takes the names of tensors from a model, but those of inputs and outputs of signatures."""
    for number, graph in enumerate(model.subgraphs):
        kept = {
            entry.tensorIndex
            for signature in model.signatureDefs or ()
            for entry in (*(signature.inputs or ()), *(signature.outputs or ()))
            if signature.subgraphIndex == number
        }
        for index, tensor in enumerate(graph.tensors):
            tensor.name = tensor.name if index in kept else None
    return True


def sign(model: Any) -> bool:
    """Gives a model a signature if it has none; returns whether it had none.

    It is one of the first subgraph, whose inputs and outputs have the names of the tensors.
    """
    if model.signatureDefs:
        return False
    graph = model.subgraphs[0]
    signature = made("SignatureDef", signatureKey=SIGNATURE.encode(), subgraphIndex=0)
    signature.inputs = [_entry(graph, index) for index in graph.inputs]
    signature.outputs = [_entry(graph, index) for index in dict.fromkeys(graph.outputs)]
    model.signatureDefs = [signature]
    return True


def _entry(graph: Any, index: int) -> Any:
    return made("TensorMap", name=graph.tensors[index].name, tensorIndex=int(index))
