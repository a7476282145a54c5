"""Removal of conversions between integers and floating point that cancel out, and of what nothing uses then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from litefuse.litert.export.editor import GraphEditor


def join_integers(graph: GraphEditor) -> None:
    """Takes integers where they are, in place of the same ones dequantized and quantized again::

    %f = dequantize(%q)
    %r = quantize(%f)      -->   %q, or quantize(%q) if its scale or dtype is another
    """
    for op in [*graph.ops]:
        if graph.kind(op) != "QUANTIZE":
            continue
        producer = graph.producer(op.inputs[0])
        if producer is None or graph.kind(producer) != "DEQUANTIZE":
            continue
        source, result = int(producer.inputs[0]), int(op.outputs[0])
        if graph.scale(source) is None:
            continue
        op.inputs = [source]
        alike = graph.tensor(source).type == graph.tensor(result).type and graph.scale(source) == graph.scale(result)
        if alike and not graph.is_output(result) and not graph.tensor(result).isVariable:
            for consumer in graph.consumers(result):
                graph.replace_input(consumer, result, source)
    for op in [*graph.ops]:
        if graph.kind(op) == "UNPACK":
            _rescale_once(graph, op)
    _drop_ops(graph)


def _rescale_once(graph: GraphEditor, op: Any) -> None:
    """Gives the items of a tensor their scale before it is taken apart, where all get the same one::

    %0, %1 = unpack(%q)                       %r = quantize(%q)
    %2, %3 = quantize(%0), quantize(%1)  -->  %2, %3 = unpack(%r)
    """
    source, items = int(op.inputs[0]), [int(output) for output in op.outputs]
    rescaled: list[Any] = []
    for item in items:
        takers = [*graph.consumers(item)]
        if len(takers) != 1 or graph.kind(takers[0]) != "QUANTIZE" or graph.is_output(item):
            return
        rescaled.append(takers[0])
    results = [int(taker.outputs[0]) for taker in rescaled]
    scales = {graph.scale(result) for result in results}
    scale = scales.pop()
    if scales or scale is None or not all(graph.is_type(index, "int8") for index in (source, *results)):
        return
    whole = graph.add_tensor(f"{graph.name(source)}_rescaled", graph.shape(source), "int8", scale)
    graph.add_op(op, "QUANTIZE", [source], [whole])
    op.inputs, op.outputs = [whole], results
    for taker in rescaled:
        graph.remove_op(taker)


def _drop_ops(graph: GraphEditor) -> None:
    """Removes conversions and initial values that nothing takes, from the last to the first."""
    removable = {"QUANTIZE", "DEQUANTIZE", "FILL", "BROADCAST_TO"}
    removable |= {"SHAPE", "PACK", "STRIDED_SLICE"}  # the sizes of initial values
    for op in reversed([*graph.ops]):
        result = int(op.outputs[0]) if len(op.outputs) else -1
        if graph.kind(op) in removable and not graph.is_output(result) and not any(graph.consumers(result)):
            graph.remove_op(op)


def drop_unused(model: Any) -> None:
    """Removes the tensors, buffers and op codes of a model that nothing refers to."""
    for number, graph in enumerate(model.subgraphs):
        signatures = [signature for signature in model.signatureDefs or () if signature.subgraphIndex == number]
        _drop_tensors(
            graph,
            [entry for signature in signatures for entry in (*(signature.inputs or ()), *(signature.outputs or ()))],
        )
    tensors = [tensor for graph in model.subgraphs for tensor in graph.tensors]
    metadata = [*(model.metadata or ())]
    for tensor in tensors:
        if (
            tensor.quantization is not None
            and tensor.quantization.scale is None
            and tensor.quantization.details is None
        ):
            tensor.quantization = None  # an empty table
    kept = _places({0, *(tensor.buffer for tensor in tensors), *(entry.buffer for entry in metadata)})
    model.buffers = [model.buffers[old] for old in kept]
    for owner in (*tensors, *metadata):
        owner.buffer = kept[owner.buffer]
    ops = [op for graph in model.subgraphs for op in graph.operators or ()]
    codes = _places(op.opcodeIndex for op in ops)
    model.operatorCodes = [model.operatorCodes[old] for old in codes]
    for op in ops:
        op.opcodeIndex = codes[op.opcodeIndex]


def _drop_tensors(graph: Any, signature_entries: list[Any]) -> None:
    lists: list[tuple[Any, str]] = [(graph, "inputs"), (graph, "outputs")]
    lists += [(op, field) for op in graph.operators or () for field in ("inputs", "outputs", "intermediates")]
    used = {int(index) for owner, field in lists for index in _numbers(owner, field)}
    places = _places({index for index in used if index >= 0} | {entry.tensorIndex for entry in signature_entries})
    graph.tensors = [graph.tensors[old] for old in places]
    for owner, field in lists:
        if getattr(owner, field) is not None:
            setattr(owner, field, [places.get(int(index), -1) for index in _numbers(owner, field)])
    for entry in signature_entries:
        entry.tensorIndex = places[entry.tensorIndex]


def _numbers(owner: Any, field: str) -> list[int]:
    numbers = getattr(owner, field)
    return [] if numbers is None else list(numbers)


def _places(kept: Iterable[int]) -> dict[int, int]:
    """Returns new numbers for those that are kept, in their order."""
    return {old: new for new, old in enumerate(sorted({*kept}))}
