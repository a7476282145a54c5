"""Signatures and names for LiteRT files that lack them, without which inputs and outputs cannot be named."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from litefuse.errors import InterpreterError
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.runtime.schema_objects import made, tensor_name

__all__ = ["SIGNATURE", "name_tensors", "sign", "sign_file"]

#: The signature that a model gets that has none.
SIGNATURE = "serving_default"


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
    present = {tensor_name(each) for graph in model.subgraphs for each in graph.tensors if each.name}
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
