"""Graphs of a TensorFlow model: its functions, with their nodes in the layers that their names tell.

Constants and reads of variables are not drawn as nodes: what reads them says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from litefuse.conversion.verify.layers.flat_graph import in_order
from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model import DataType, SavedModel, load
from litefuse.frontends.saved_model.dtypes import shape_from_proto
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NodeDef
from litefuse.frontends.saved_model.model import KERAS_IMPLEMENTS
from litefuse.frontends.saved_model.nodes import Nodes, data_inputs, node_of
from litefuse.tools.page.graph import Entry, Graph, Mark, Model, Node
from litefuse.tools.saved_models.graph import FunctionGraph, attribute_value, callees

# Nodes of all functions together; what is beyond is counted.
_NODES = 30_000
_CONSTANTS = frozenset({"Const", "ReadVariableOp", "NoOp"})
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
# The attributes that name the dtype of a result, the likeliest first.
_DTYPES = ("output_type", "out_type", "DstT", "dtype", "T", "Tparams", "Tout", "output_types")
# Attributes that say how a node is computed, or what its operands' types say.
_UNTOLD = frozenset({"T", "Tin", "Tout", "Tidx", "Tshape", "dtype", "config_proto", "executor_type", "config", "f"})


@dataclass(frozen=True)
class OriginalJob:
    """A request to read the graphs of a TensorFlow model.

    Attributes:
        source: The folder of a SavedModel, or the file of a frozen graph.
        tags: The tags of the meta graph; None means the one for serving.
        inputs: The input tensors of a frozen graph; None means its placeholders.
        outputs: Its output tensors; None means the only one that nothing reads.
        signatures: The keys of the signatures to show; None means all.
    """

    source: Path
    tags: tuple[str, ...] | None = None
    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    signatures: tuple[str, ...] | None = None


def read_original(job: OriginalJob, announce: Callable[[str], None]) -> Model:
    """Reads the graphs that signatures reach.

    Raises:
        SavedModelError: The model cannot be read.
    """
    announce("read")
    model = load(job.source, job.tags, input_arrays=job.inputs, output_arrays=job.outputs)
    return graphs_of(model, job.signatures)


def graphs_of(model: SavedModel, signatures: Iterable[str] | None = None) -> Model:
    """Returns the graphs of a model that is read.

    Args:
        model: The model.
        signatures: The keys of the signatures to show; None means all.

    Raises:
        SignatureError: No such signature.
    """
    keys = [*model.signatures] if signatures is None else [*dict.fromkeys(signatures)]
    chosen = {key: model.signature(key) for key in keys}
    function_graph = FunctionGraph.of(model.functions, [signature.function for signature in chosen.values()])
    annotated = {function.function: function for function in function_graph.annotated()}
    # Keras 2 adds an identifier of the layer.
    composites = {
        name: function.name.rpartition("_")[0] if KERAS_IMPLEMENTS in model.functions[name].attr else function.name
        for name, function in annotated.items()
    }
    graphs: list[Graph] = []
    left = _NODES
    # The functions that are reached first are those that tell most.
    for name in function_graph.reached:
        graph = _Reader(model.functions[name], model.functions, composites).graph(left)
        if name in composites:
            told = tuple((key, _shown(value)) for key, value in annotated[name].attributes.items())
            graph = replace(graph, title=composites[name], facts=(("composite", annotated[name].name), *told))
        left -= len(graph.nodes)
        graphs.append(graph)
    by_name = {graph.name: graph for graph in graphs}
    entries: list[Entry] = []
    for key, signature in chosen.items():
        results = [
            (model.functions[signature.function].signature.output_arg[index].name, spec.name)
            for index, spec in zip(signature.output_indices, signature.outputs, strict=True)
        ]
        name, names = signature.function, dict(results)
        seen = {name}
        while (inner := _wrapped(name, by_name)) is not None and inner not in seen:
            names = _inner_names(names, model.functions[name], model.functions[inner])
            name = inner
            seen.add(name)
        entries.append(Entry(key, name))
        by_name[name] = _with_results(by_name[name], names)
    return Model(tuple(entries), tuple(by_name.values()))


def _wrapped(name: str, graphs: Mapping[str, Graph]) -> str | None:
    """Returns the function that another does nothing but call, if it is not a composite; else None."""
    real = [node for node in graphs[name].nodes if node.mark not in {"input", "output"} and node.op != "Identity"]
    if len(real) != 1 or real[0].mark != "call" or len(real[0].opens) != 1:
        return None
    return real[0].opens[0] if real[0].opens[0] in graphs else None


def _inner_names(names: Mapping[str, str], outer: FunctionDef, inner: FunctionDef) -> dict[str, str]:
    """Returns the names that a signature has for the results of a function, by those of its wrapper's results."""
    nodes = Nodes.of(outer.node_def)
    inner_names: dict[str, str] = {}
    for result, name in names.items():
        tensor = nodes.origin(outer.ret.get(result, ""), {"Identity"})
        index = tensor.rpartition(":")[2]
        if nodes.producer(tensor) is not None and index.isdecimal() and int(index) < len(inner.signature.output_arg):
            inner_names[inner.signature.output_arg[int(index)].name] = name
    return inner_names


def _with_results(graph: Graph, names: Mapping[str, str]) -> Graph:
    """Returns a graph whose results have a signature's names."""
    nodes = (
        replace(node, op=names[node.name], name=names[node.name])
        if node.mark == "output" and node.name in names
        else node
        for node in graph.nodes
    )
    return replace(graph, nodes=tuple(nodes))


@dataclass
class _Reader:
    """Reads one function, with the library of all functions and the names of composites."""

    function: FunctionDef
    library: Mapping[str, FunctionDef]
    composites: Mapping[str, str]

    def graph(self, most: int) -> Graph:
        """Returns its graph, of so many nodes at most."""
        signature = self.function.signature
        nodes: list[Node] = []
        numbers: dict[str, int] = {}
        constants: dict[str, str] = {}
        for index, arg in enumerate(signature.input_arg):
            dtype = str(DataType.from_proto(arg.type)) if arg.type else ""
            if dtype in {"resource", "variant"}:
                constants[arg.name] = arg.name
                continue
            numbers[arg.name] = len(nodes)
            shape = self._argument_shape(index)
            nodes.append(Node(f"{dtype}{shape}", arg.name, mark="input", facts=(("type", f"{dtype}{shape}"),)))
        by_name = Nodes.of(self.function.node_def)
        sources = {name: [*map(node_of, node.input)] for name, node in by_name.items()}
        waiting = [by_name[name] for name in in_order(sources)]
        for node in waiting:
            if node.op in _CONSTANTS:
                constants[node.name] = _constant(node, constants)
                continue
            if len(nodes) >= most:
                continue
            numbers[node.name] = len(nodes)
            nodes.append(self._node(node, numbers, constants))
        for name, tensor in self.function.ret.items():
            if len(nodes) < most:
                source = numbers.get(node_of(tensor))
                nodes.append(Node(name, name, inputs=() if source is None else (source,), mark="output"))
        drawn = sum(node.op not in _CONSTANTS for node in waiting)
        out = drawn - sum(node.mark not in {"input", "output"} for node in nodes)
        return Graph(signature.name, signature.name, tuple(nodes), left_out=out)

    def _argument_shape(self, index: int) -> str:
        if index not in self.function.arg_attr:
            return ""
        return _first_shape(self.function.arg_attr[index].attr)

    def _node(self, node: NodeDef, numbers: Mapping[str, int], constants: Mapping[str, str]) -> Node:
        read = [*map(node_of, data_inputs(node))]
        sources = dict.fromkeys(numbers[name] for name in read if name in numbers)
        opens = tuple(dict.fromkeys(callee for callee in callees(node, self.library) if callee in self.library))
        op = node.op
        mark: Mark = "" if not opens else "call" if op in _CALLS or op in self.library else "control"
        if mark == "call" and len(opens) == 1 and opens[0] in self.composites:
            op, mark = self.composites[opens[0]], "composite"
        layer, _, _ = node.name.rpartition("/")
        held = [constants[fromkey] for fromkey in dict.fromkeys(read) if fromkey in constants]
        return Node(op, node.name, layer, tuple(sources), opens, mark, tuple(_facts(node, held)))


def _facts(node: NodeDef, held: Iterable[str]) -> Iterable[tuple[str, str]]:
    dtype = next((_shown(told) for key in _DTYPES if (told := _told(node, key))), "")
    if "_output_shapes" in node.attr:
        shapes = ", ".join(_shape(shape) for shape in node.attr["_output_shapes"].list.shape)
        yield "result", f"{dtype} {shapes}".strip()
    elif dtype:
        yield "dtype", dtype
    for constant in held:
        yield "reads", constant
    for key, value in sorted(node.attr.items()):
        if not key.startswith("_") and key not in _UNTOLD and value.WhichOneof("value") not in {"func", None}:
            yield key, _shown(_told(node, key))


def _told(node: NodeDef, key: str) -> Any:
    """Returns an attribute's value; None if there is none, or it has an unknown dtype."""
    try:
        return attribute_value(node.attr[key]) if key in node.attr else None
    except SavedModelError:
        return None


def _constant(node: NodeDef, constants: Mapping[str, str]) -> str:
    if node.op == "Const" and "value" in node.attr:
        tensor = node.attr["value"].tensor
        return f"constant {DataType.from_proto(tensor.dtype)}{_shape(tensor.tensor_shape)}"
    if node.op == "ReadVariableOp" and len(node.input):
        name = node_of(node.input[0])
        return f"variable {constants.get(name, name)} {_first_shape(node.attr)}".strip()
    return node.name


def _first_shape(attributes: Mapping[str, AttrValue]) -> str:
    """Returns the shape of the first result; empty if it is not told."""
    shapes = [*attributes["_output_shapes"].list.shape] if "_output_shapes" in attributes else []
    return _shape(shapes[0]) if shapes else ""


def _shape(proto: Any) -> str:
    shape = shape_from_proto(proto)
    return "[...]" if shape is None else f"[{','.join('?' if size is None else str(size) for size in shape)}]"


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return f"{value:g}" if isinstance(value, float) else str(value)
