"""Mends in what litert-quantizer 0.11 writes.

Each takes the quantized model, as the schema's objects, and returns whether it changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from litefuse.litert.export.editor import GraphEditor, editors_of
from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS
from litefuse.litert.runtime.schema_objects import dtype_of, made, op_names, set_options

__all__ = [
    "halve_biases",
    "mend_rotations",
    "mend_shared_outputs",
    "mend_unread_results",
    "restore_open_shapes",
    "share_buffers",
]

_CONVERTING_KINDS = frozenset({"QUANTIZE", "DEQUANTIZE"})


def restore_open_shapes(model: Any) -> bool:
    """Gives both sides of QUANTIZE and DEQUANTIZE the same dynamic dimensions.

    Args:
        model: The model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    return sum(_mend(*pair) for pair in _pairs(model)) > 0


def _pairs(model: Any) -> Iterator[tuple[Any, Any]]:
    """Yields the operands and results of the ops between integers and floating point."""
    kinds = op_names(model)
    for subgraph in model.subgraphs:
        for op in subgraph.operators or ():
            if kinds[op.opcodeIndex] in _CONVERTING_KINDS:
                yield subgraph.tensors[op.inputs[0]], subgraph.tensors[op.outputs[0]]


def _mend(operand: Any, result: Any) -> bool:
    """Copies the dynamic dimensions of one tensor to the other, if that has none."""
    signatures = [_signature(each) for each in (operand, result)]
    for (given, lacking), tensor in ((signatures, result), (signatures[::-1], operand)):
        if given and not lacking and tensor.shape is not None and len(given) == len(tensor.shape):
            tensor.shapeSignature = given
            return True
    return False


def _signature(tensor: Any) -> list[int]:
    return [] if tensor.shapeSignature is None else [int(size) for size in tensor.shapeSignature]


def mend_shared_outputs(model: Any) -> bool:
    """Has ops of integers read integers, and signatures name the outputs.

    Args:
        model: The quantized model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    kinds = op_names(model)
    changed = False
    for index, subgraph in enumerate(model.subgraphs):
        operators = subgraph.operators or ()
        outputs = {int(each) for each in subgraph.outputs}
        # What is an output in floating point, by the integers that it is made of.
        made = {
            int(op.inputs[0]): int(op.outputs[0])
            for op in operators
            if kinds[op.opcodeIndex] == "DEQUANTIZE" and int(op.outputs[0]) in outputs
        }
        integers = {real: quantized for quantized, real in made.items()}
        for op in operators:
            if kinds[op.opcodeIndex] == "QUANTIZE" or not _is_integer(subgraph, op):
                continue
            inputs = [integers.get(int(input_), int(input_)) for input_ in op.inputs]
            changed = changed or inputs != [int(input_) for input_ in op.inputs]
            op.inputs = inputs
        for signature in model.signatureDefs or ():
            for output in signature.outputs if signature.subgraphIndex == index else ():
                if output.tensorIndex not in outputs:
                    changed = _restore(subgraph, kinds, output) or changed
    return changed


def _restore(subgraph: Any, kinds: Sequence[str], output: Any) -> bool:
    """Makes what a signature names an output again, in floating point if that is computed for nobody else."""
    named = int(output.tensorIndex)
    made = {kind: [op for op in _readers(subgraph, named) if kinds[op.opcodeIndex] == kind] for kind in _CONVERTING}
    outputs = [int(each) for each in subgraph.outputs]
    real = [int(op.outputs[0]) for op in made["DEQUANTIZE"]]
    real = [each for each in real if each in outputs or not _readers(subgraph, each)]
    output.tensorIndex = real[0] if real else named
    if output.tensorIndex in outputs:
        return True
    wrong = [int(op.outputs[0]) for op in made["QUANTIZE"] if int(op.outputs[0]) in outputs]
    if not wrong:
        return False
    subgraph.outputs = [output.tensorIndex if each == wrong[0] else each for each in outputs]
    return True


_CONVERTING = ("DEQUANTIZE", "QUANTIZE")


def _readers(subgraph: Any, tensor: int) -> list[Any]:
    return [op for op in subgraph.operators or () if tensor in {int(input_) for input_ in op.inputs}]


def _is_integer(subgraph: Any, op: Any) -> bool:
    """Whether a result of an op is quantized."""
    found = [subgraph.tensors[output].quantization for output in op.outputs]
    return any(each is not None and each.scale is not None and len(each.scale) > 0 for each in found)


#: The ops whose results have the scale of the operand, and the position of that.
_OPERANDS = {
    "SPLIT": 1,
    "SPLIT_V": 0,
    "TOPK_V2": 0,
    "UNPACK": 0,
}


def mend_unread_results(model: Any) -> bool:
    """Gives results that nothing reads the type of the operand that they are a part of.

    Args:
        model: The quantized model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    kinds = op_names(model)
    changed = False
    for subgraph in model.subgraphs:
        for op in subgraph.operators or ():
            position = _OPERANDS.get(kinds[int(op.opcodeIndex)])
            if position is None:
                continue
            operand = subgraph.tensors[op.inputs[position]]
            for each in (subgraph.tensors[index] for index in op.outputs):
                if dtype_of(each) == "float32" != dtype_of(operand):
                    each.type, each.quantization = operand.type, operand.quantization
                    changed = True
    return changed


# The ends of the names that litert-quantizer gives the shapes before and after a rotation.
_BEFORE, _AFTER = "_prerotate_shape", "_postrotate_shape"


def mend_rotations(model: Any) -> bool:
    """Lets rotations take any size of dynamic dimensions, and signatures name the outputs.

    Args:
        model: The quantized model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    changed = False
    for number, graph in enumerate(editors_of(model)):
        outputs = {int(output) for output in graph.graph.outputs}
        signatures = [signature for signature in model.signatureDefs or () if signature.subgraphIndex == number]
        for operand, reshapes in _rotations(graph):
            changed = _open(graph, operand, *reshapes) or changed
            for entry in [entry for signature in signatures for entry in signature.outputs or ()]:
                if entry.tensorIndex == operand and operand not in outputs:
                    entry.tensorIndex, changed = int(reshapes[1].outputs[0]), True
    return changed


def _rotations(graph: GraphEditor) -> Iterator[tuple[int, tuple[Any, Any]]]:
    """Yields what is rotated, and the RESHAPE ops before and after the product, in the order of the ops."""
    before: Any = None
    for op in [*graph.ops]:
        if graph.kind(op) != "RESHAPE" or len(op.inputs) < 2:
            continue
        shape = graph.name(op.inputs[1])
        if shape.endswith(_BEFORE):
            before = op
        elif shape.endswith(_AFTER) and before is not None:
            yield int(before.inputs[0]), (before, op)


def _open(graph: GraphEditor, operand: int, before: Any, after: Any) -> bool:
    """Gives a rotation the dynamic dimensions of its operand; returns whether it has any."""
    sizes = graph.shape(operand)
    if -1 not in sizes:
        return False
    rows = (-1, graph.shape(before.outputs[0])[-1])
    before.inputs = [before.inputs[0], graph.add_constant(graph.name(before.inputs[1]), np.array(rows, np.int32))]
    if sizes.count(-1) == 1:
        shape = graph.add_constant(graph.name(after.inputs[1]), np.array(sizes, np.int32))
    else:
        shape = graph.add_tensor(graph.name(after.inputs[1]), (len(sizes),), "int32")
        reads = graph.add_op(before, "SHAPE", [operand], [shape])
        set_options(reads, made("ShapeOptions", outType=DTYPE_NUMBERS["int32"]))
    after.inputs = [after.inputs[0], shape]
    for tensor, signature in ((before.outputs[0], rows), (after.inputs[0], rows), (after.outputs[0], sizes)):
        graph.tensor(tensor).shapeSignature = list(signature)
    return True


#: The positions of the biases of convolutions; their weights are the second operand.
_BIASES: Mapping[str, int] = MappingProxyType(
    {
        "CONV_2D": 2,
        "DEPTHWISE_CONV_2D": 2,
        "TRANSPOSE_CONV": 3,
    }
)


def halve_biases(model: Any) -> bool:
    """Stores the biases of convolutions whose weights are float16 as float16, too; returns whether there were such.

    litert-quantizer leaves them as they are, and LiteRT 1.2 and 1.3 take the one for the other: their results are no
    numbers. A bias that other ops read, or beyond the numbers of float16, stays.

    Args:
        model: The model, an object of the schema.
    """
    changed = False
    for graph in editors_of(model):
        for index in dict.fromkeys(_biases(graph)):
            value = graph.constant(index)
            if value is None or not np.all(np.abs(value) <= np.finfo(np.float16).max):
                continue
            half = graph.add_constant(f"bias_{index}", value.astype(np.float16))
            old, tensor = graph.tensor(index).buffer, graph.tensor(index)
            tensor.buffer = 0
            if not any(each.buffer == old for other in model.subgraphs for each in other.tensors):
                model.buffers[old].data = None
            graph.add_op(graph.ops[0], "DEQUANTIZE", [half], [index])
            changed = True
    return changed


def _biases(graph: GraphEditor) -> Iterator[int]:
    """Yields the constants that are biases of convolutions with weights of float16, and nothing else."""
    halves: set[int] = set()
    others = {int(index) for index in graph.graph.outputs}
    found: list[int] = []
    for op in graph.ops:
        kind, inputs = graph.kind(op), [int(index) for index in op.inputs]
        place = _BIASES.get(kind, len(inputs))
        if kind == "DEQUANTIZE" and graph.is_type(inputs[0], "float16"):
            halves.update(int(index) for index in op.outputs)
        if place < len(inputs) and inputs[place] >= 0 and inputs[1] in halves:
            found.append(inputs.pop(place))
        others.update(inputs)
    yield from (index for index in found if index not in others and graph.is_type(index, "float32"))


def share_buffers(model: Any) -> bool:
    """Has tensors with the same bytes refer to one buffer; returns whether there were such.

    litert-quantizer copies the buffer of constants with several readers where their scales differ, though zeros, such
    as biases, are the same in all of them.

    Args:
        model: The model, an object of the schema.
    """
    first: dict[bytes, int] = {}
    places = dict[int, int]()
    others = {entry.buffer for entry in model.metadata or ()}
    for index, buffer in enumerate(model.buffers):
        if index not in others and buffer.data is not None and len(buffer.data):
            places[index] = first.setdefault(hashlib.sha256(memoryview(buffer.data)).digest(), index)
    moved = [index for index, place in places.items() if index != place]
    for graph in model.subgraphs if moved else ():
        for tensor in graph.tensors:
            tensor.buffer = places.get(tensor.buffer, tensor.buffer)
    for index in moved:  # metadata refer to buffers by their numbers, too: an empty one takes a few bytes
        model.buffers[index].data = None
    return bool(moved)
