"""Frozen graphs: ``GraphDef`` files whose variables are constants, in binary or in text form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from litefuse.errors import SavedModelError, SignatureError
from litefuse.frontends.saved_model.dtypes import DataType, shape_from_proto
from litefuse.frontends.saved_model.graph_signatures import GraphSignatures
from litefuse.frontends.saved_model.messages import FunctionDef, GraphDef, NodeDef
from litefuse.frontends.saved_model.model import SavedModel
from litefuse.frontends.saved_model.nodes import Nodes, node_of, split_tensor_name
from litefuse.frontends.saved_model.op_registry import op_registry
from litefuse.frontends.saved_model.regular_file import read_regular
from litefuse.frontends.saved_model.signatures import Signature, TensorSpec

if TYPE_CHECKING:
    from litefuse.frontends.saved_model.dtypes import Shape
    from litefuse.frontends.saved_model.op_registry import OpRegistry

SIGNATURE_KEY = "serving_default"

_TEXT = ".pbtxt"
# Before this version of the format, a placeholder of unknown shape was written as a scalar.
_SHAPES_OF_PLACEHOLDERS = 24
_PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2"})
# Ops that are not outputs even if nothing reads them.
_NO_OUTPUTS = frozenset({"Const", "PlaceholderWithDefault", *_PLACEHOLDERS})
_LISTED = 20  # the maximum number of node names in a message


def load_graph(path: Path, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None) -> SavedModel:
    """Reads a frozen graph as a model with one signature, ``serving_default``.

    Args:
        path: A ``GraphDef`` in binary form (``.pb``) or text form (``.pbtxt``).
        inputs: The tensors that are fed, ``node`` or ``node:index``; they also name the inputs. None means the
            placeholders that the outputs depend on.
        outputs: The tensors that are fetched. None means the only one that nothing reads.

    Raises:
        SavedModelError: The file is not a graph, or not a frozen one.
        SignatureError: The graph has no such tensor, or its outputs cannot be determined.
    """
    where = str(path)
    graph = read_graph(path)
    nodes = Nodes.of(graph.node)
    if not nodes:
        raise SavedModelError("the file holds no graph: it is empty, or something else", where=where)
    registry = op_registry()
    fetched = list(outputs) if outputs else [_only_output(nodes, registry, where)]
    fed = list(inputs) if inputs is not None else _placeholders(nodes, fetched)
    for tensor in (*fed, *fetched):
        if split_tensor_name(tensor)[0] not in nodes:
            raise SignatureError(
                f"unknown node {split_tensor_name(tensor)[0]!r}",
                where=where,
                hint=f"The placeholders are {_listed(name for name in nodes if nodes[name].op in _PLACEHOLDERS)}; "
                f"the nodes that nothing reads are {_listed(_unread(nodes, registry))}.",
            )
    functions = {function.signature.name: function for function in graph.library.function}
    reader = GraphSignatures(
        folder=None,
        nodes=nodes,
        registry=registry,
        assets={},
        functions=functions,
        first_id=0,
        beside=path.resolve().parent,
    )
    producer = graph.versions.producer
    signatures: dict[str, Signature] = {
        SIGNATURE_KEY: reader.signature(
            SIGNATURE_KEY,
            [(_spec(tensor, nodes, registry, functions, producer, where), tensor) for tensor in fed],
            [(_spec(tensor, nodes, registry, functions, producer, where), tensor) for tensor in fetched],
        )
    }
    return SavedModel(
        path=path,
        tags=frozenset(),
        tensorflow_version="",
        functions=MappingProxyType(functions),
        op_definitions=(),
        signatures=MappingProxyType(signatures),
        variables={},
        constants={},
        assets={},
        tables={},
        resources={},
        unusable_signatures={},
        bound_inputs={},
    )


def read_graph(path: Path) -> GraphDef:
    """Reads the graph in a file, in the form that its name indicates, or else in the other one.

    Raises:
        SavedModelError: The file is not a graph.
    """
    content = read_regular(path.resolve().parent, path.resolve().name)
    forms = (_of_text, _of_bytes) if path.suffix == _TEXT else (_of_bytes, _of_text)
    reasons: list[Exception] = []
    for read in forms:
        try:
            return read(content)
        except (DecodeError, UnicodeDecodeError) as reason:
            reasons.append(reason)
    raise SavedModelError(
        f"the file is damaged, or not a frozen graph: {reasons[0]}",
        where=str(path),
        hint="Give the file of a GraphDef message, or a SavedModel's folder.",
    ) from None


def _of_bytes(content: bytes) -> GraphDef:
    return GraphDef.FromString(content)


def _of_text(content: bytes) -> GraphDef:
    from google.protobuf import text_format

    try:
        return text_format.Parse(content.decode(), GraphDef(), allow_unknown_field=True)
    except text_format.ParseError as reason:
        raise DecodeError(str(reason)) from None


def _only_output(nodes: Mapping[str, NodeDef], registry: OpRegistry, where: str) -> str:
    unread = _unread(nodes, registry)
    if len(unread) == 1:
        return unread[0]
    raise SignatureError(
        f"the graph does not say what its outputs are; the nodes that nothing reads are {_listed(unread)}",
        where=where,
        hint="Name them: output_arrays=[...], or --output-arrays on the command line.",
    )


def _unread(nodes: Mapping[str, NodeDef], registry: OpRegistry) -> list[str]:
    """Returns the nodes that may be outputs: those that nothing reads."""
    read = {node_of(reference) for node in nodes.values() for reference in node.input}
    return [
        name
        for name, node in nodes.items()
        if name not in read and node.op not in _NO_OUTPUTS and not _returns_nothing(node, registry)
    ]


def _returns_nothing(node: NodeDef, registry: OpRegistry) -> bool:
    """Whether an op has no outputs, like the ops that fill tables."""
    definition = registry.get(node.op)
    return definition is not None and not definition.output_arg


def _listed(names: Iterable[str]) -> str:
    some = sorted(names)
    more = f" and {len(some) - _LISTED} more" if len(some) > _LISTED else ""
    return ", ".join(map(repr, some[:_LISTED])) + more if some else "none"


def _placeholders(nodes: Nodes, outputs: Sequence[str]) -> list[str]:
    """Returns the placeholders that some tensors depend on, in the graph's order."""
    live = {node.name for node in nodes.needed(outputs)}
    return [name for name, node in nodes.items() if name in live and node.op in _PLACEHOLDERS]


def _spec(
    tensor: str,
    nodes: Mapping[str, NodeDef],
    registry: OpRegistry,
    functions: Mapping[str, FunctionDef],
    producer: int,
    where: str,
) -> TensorSpec:
    name, index = split_tensor_name(tensor)
    node = nodes[name]
    if node.op in functions:  # a call
        types = [int(result.type) for result in functions[node.op].signature.output_arg]
    else:
        types = [dtype for _, dtypes in registry.outputs(node) for dtype in dtypes]
    if index >= len(types):
        raise SignatureError(f"node {name!r} ({node.op}) has no output {index}", where=where)
    shape: Shape | None = None
    if "_output_shapes" in node.attr and index < len(node.attr["_output_shapes"].list.shape):
        shape = shape_from_proto(node.attr["_output_shapes"].list.shape[index])
    elif node.op.startswith("Placeholder") and "shape" in node.attr:
        declared = shape_from_proto(node.attr["shape"].shape)
        shape = None if declared == () and producer < _SHAPES_OF_PLACEHOLDERS else declared
    return TensorSpec(tensor, DataType.from_proto(types[index], f"node {name!r}"), shape)
