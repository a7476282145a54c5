"""Models of one composite: the op with its body, and the body alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from litefuse.kernels.generator.body import Body
from litefuse.litert.runtime.schema_objects import flatbuffer_of, made, objects_of

__all__ = ["body_model", "composite_model", "subgraph_references"]


def body_model(content: bytes, body: Body) -> bytes:
    """Returns a model that is the body of a composite."""
    model = objects_of(content)
    return _of_graphs(model, _reached(model, body.graph))


def composite_model(content: bytes, body: Body) -> bytes:
    """Returns a model that is one call of a composite, with its body."""
    model = objects_of(content)
    decomposition = model.subgraphs[body.graph]
    graph, operator = made("SubGraph", name="main", tensors=[]), made("Operator")
    for index in (*body.inputs, *body.outputs):
        graph.tensors.append(_without_value(decomposition.tensors[index]))
    count = len(body.inputs)
    total = count + len(body.outputs)
    graph.inputs, graph.outputs = list(range(count)), list(range(count, total))
    call = _call_of(model, body)
    operator.inputs, operator.outputs = list(graph.inputs), list(graph.outputs)
    operator.opcodeIndex = call.opcodeIndex
    operator.builtinOptions2Type, operator.builtinOptions2 = call.builtinOptions2Type, call.builtinOptions2
    graph.operators = [operator]
    model.subgraphs.append(graph)
    return _of_graphs(model, _reached(model, len(model.subgraphs) - 1))


def _call_of(model: Any, body: Body) -> Any:
    for graph in model.subgraphs:
        for operator in graph.operators or ():
            options = operator.builtinOptions2
            if type(options).__name__ == "StableHLOCompositeOptionsT":
                name = options.name.decode() if isinstance(options.name, bytes) else options.name
                if name == body.name and options.decompositionSubgraphIndex == body.graph:
                    return operator
    raise KeyError(body.name)


def _without_value(tensor: Any) -> Any:
    fields = ("name", "type", "shape", "hasRank", "shapeSignature", "quantization")
    return made("Tensor", **{field: getattr(tensor, field) for field in fields})


def _reached(model: Any, root: int) -> list[int]:
    """Returns a subgraph and those that its ops refer to."""
    order = [root]
    for index in order:
        for operator in model.subgraphs[index].operators or ():
            order += [found for _, _, found in subgraph_references(operator) if found not in order]
    return order


def subgraph_references(operator: Any) -> Iterator[tuple[Any, str, int]]:
    """Yields an op's references to subgraphs, such as a loop's body: the object, the field and the index."""
    for holder in (operator.builtinOptions, operator.builtinOptions2):
        for field, value in cast("dict[str, Any]", vars(holder)).items() if holder is not None else ():
            if field.endswith("ubgraphIndex") and isinstance(value, int) and value >= 0:
                yield holder, field, value


def _of_graphs(model: Any, order: list[int]) -> bytes:
    """Packs a model of some of the subgraphs, the first of which is the main one."""
    graphs = [model.subgraphs[index] for index in order]
    for letter, places in (("y", graphs[0].outputs), ("x", graphs[0].inputs)):
        for place, index in enumerate(places):
            graphs[0].tensors[index].name = f"{letter}{place}"
    changed: set[int] = set()
    for graph in graphs:
        for operator in graph.operators or ():
            for holder, field, index in list(subgraph_references(operator)):
                if id(holder) not in changed:
                    setattr(holder, field, order.index(index))
            changed |= {id(each) for each in (operator.builtinOptions, operator.builtinOptions2)}
    used = {tensor.buffer for graph in graphs for tensor in graph.tensors}
    buffers: list[Any] = [made("Buffer")]
    places: dict[int, int] = {0: 0}
    for index in sorted(used - {0}):
        places[index] = len(buffers)
        buffers.append(model.buffers[index])
    for tensor in {id(each): each for graph in graphs for each in graph.tensors}.values():
        tensor.buffer = places[tensor.buffer]
    model.subgraphs, model.buffers = graphs, buffers
    model.signatureDefs, model.metadata, model.metadataBuffer = [], [], None
    return bytes(flatbuffer_of(model))
