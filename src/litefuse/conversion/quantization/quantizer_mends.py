"""Mends in what litert-quantizer 0.11 writes.

Each takes the quantized model, as the schema's objects, and returns whether it changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from litefuse.conversion.quantization.float_ops import BIASES
from litefuse.conversion.quantization.recurrent.needless_conversions import drop_unused
from litefuse.litert.export.editor import GraphEditor, editors_of
from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS
from litefuse.litert.runtime.schema_objects import dtype_of, made, set_options

_CONVERSIONS = ("DEQUANTIZE", "QUANTIZE")
#: The ops whose results have the scale of the operand, and the position of that.
_PARTED = {"SPLIT": 1, "SPLIT_V": 0, "TOPK_V2": 0, "UNPACK": 0}


def restore_open_shapes(model: Any) -> bool:
    """Gives both sides of QUANTIZE and DEQUANTIZE the same dynamic dimensions.

    Of the tensors that it adds before QUANTIZE and after DEQUANTIZE, litert-quantizer writes sizes alone, in which
    dynamic dimensions are 1: the outputs of a model of any batch say that they are of one row. LiteRT resizes them
    nevertheless, but who reads the file is misled.
    """
    changed = False
    for graph in editors_of(model):
        for op in graph.ops or ():
            if graph.kind(op) in _CONVERSIONS:
                changed = _share_signature(graph.tensor(op.inputs[0]), graph.tensor(op.outputs[0])) or changed
    return changed


def _share_signature(operand: Any, result: Any) -> bool:
    """Copies the dynamic dimensions of one tensor to the other, if that has none."""
    for source, target in ((operand, result), (result, operand)):
        given, lacking = (
            [] if tensor.shapeSignature is None else [*map(int, tensor.shapeSignature)] for tensor in (source, target)
        )
        if given and not lacking and target.shape is not None and len(given) == len(target.shape):
            target.shapeSignature = given
            return True
    return False


def mend_shared_outputs(model: Any, *, integers: bool = False) -> bool:
    """Has ops of integers read integers, and signatures name the outputs, where ops of the model read an output, too.

    litert-quantizer adds DEQUANTIZE for the output, and has the other readers take what that makes: ops of integers
    with an operand in floating point, which LiteRT refuses. If one of the readers is in floating point, the signature
    goes on to name the integers, which are not outputs any more. If one of the readers takes another scale, what
    QUANTIZE makes for it becomes the output, in the place of what was.
    """
    changed = False
    for number, graph in enumerate(editors_of(model)):
        operators = graph.ops or ()
        outputs = {*map(int, graph.graph.outputs)}
        # The integers that an output in floating point is made of; of several, the last counts.
        made = {
            int(op.inputs[0]): int(op.outputs[0])
            for op in operators
            if graph.kind(op) == "DEQUANTIZE" and int(op.outputs[0]) in outputs
        }
        sources = {real: quantized for quantized, real in made.items()}
        for op in operators:
            if graph.kind(op) != "QUANTIZE" and any(_is_quantized(graph.tensor(result)) for result in op.outputs):
                before = [*map(int, op.inputs)]
                op.inputs = [sources.get(operand, operand) for operand in before]
                changed = changed or op.inputs != before
        for signature in model.signatureDefs or ():
            for entry in signature.outputs if signature.subgraphIndex == number else ():
                if entry.tensorIndex not in outputs:
                    changed = _restore_output(graph, entry, integers=integers) or changed
    return changed


def _is_quantized(tensor: Any) -> bool:
    parameters = tensor.quantization
    return parameters is not None and parameters.scale is not None and len(parameters.scale) > 0


def _restore_output(graph: GraphEditor, entry: Any, *, integers: bool) -> bool:
    """Makes what a signature names an output again, in floating point if that is computed for nobody else.

    Where outputs are to be integers, it is that of the integers.
    """
    named = int(entry.tensorIndex)
    real, rescaled = (
        [int(op.outputs[0]) for op in graph.consumers(named) if graph.kind(op) == kind] for kind in _CONVERSIONS
    )
    real = [result for result in real if graph.is_output(result) or not any(graph.consumers(result))]
    wrong = [result for result in (real if integers else []) + rescaled if graph.is_output(result)]
    entry.tensorIndex = real[0] if real and not integers else named
    if graph.is_output(entry.tensorIndex):
        return True
    if wrong:
        outputs = [*map(int, graph.graph.outputs)]
        graph.graph.outputs = [entry.tensorIndex if output == wrong[0] else output for output in outputs]
    return bool(wrong)


def mend_unread_results(model: Any) -> bool:
    """Gives results that nothing reads the type of the operand that they are a part of.

    litert-quantizer leaves them in floating point, and LiteRT refuses ops such as SPLIT and UNPACK whose results are
    partly integers.
    """
    changed = False
    for graph in editors_of(model):
        for op in graph.ops or ():
            position = _PARTED.get(graph.kind(op))
            operand = None if position is None else graph.tensor(op.inputs[position])
            if operand is None or dtype_of(operand) == "float32":
                continue
            for result in op.outputs:
                if graph.is_type(result, "float32"):
                    tensor = graph.tensor(result)
                    tensor.type, tensor.quantization = operand.type, operand.quantization
                    changed = True
    return changed


# The ends of the names that litert-quantizer gives the shapes before and after a rotation.
_BEFORE, _AFTER = "_prerotate_shape", "_postrotate_shape"


def mend_rotations(model: Any) -> bool:
    """Lets the rotations of activations take any size of dynamic dimensions, and signatures name the outputs.

    litert-quantizer multiplies rows with a Hadamard matrix between two RESHAPE ops, whose shapes are constants in which
    dynamic dimensions are 1: the model would run for one row alone. And where a rotated lookup is an output, the
    signature goes on to name what is not rotated back.
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


# The largest integer of a bias: half of int32, which leaves as much for the products that are added to it.
_LARGEST_BIAS = 2.0**30


def fit_biases(model: Any, real: Any) -> bool:
    """Gives weights larger steps where a bias would be beyond int32 in steps of the input times those of the weights.

    litert-quantizer cuts such biases off, also those of int64: of gates of small numbers, and of channels with weights
    near zero. TFLiteConverter does what this does.

    Args:
        model: The quantized model, as the schema's objects.
        real: The same in floating point, whose results have the same names.
    """
    values = {
        graph.name(op.outputs[0]): graph.constant(bias) for graph in editors_of(real) for op, bias in _biased(graph)
    }
    changed = False
    for graph in editors_of(model):
        for op, index in _biased(graph):
            bias, weights = graph.tensor(index), graph.tensor(op.inputs[1])
            exact, dtype = values.get(graph.name(op.outputs[0])), dtype_of(bias)
            if exact is None or dtype not in {"int32", "int64"} or dtype_of(weights) != "int8":
                continue
            scales, kernel = np.asarray(bias.quantization.scale, np.float64), graph.constant(op.inputs[1], np.int8)
            times = np.maximum(np.abs(exact) / scales / _LARGEST_BIAS, 1.0)
            times = times if len(scales) > 1 else times.max(keepdims=True)
            if kernel is None or (times == 1.0).all():
                continue
            sizes = np.ones(kernel.ndim, np.int64)
            sizes[weights.quantization.quantizedDimension] = len(times)
            new = np.rint(kernel / times.reshape(sizes)).astype(np.int8), np.rint(exact / scales / times).astype(dtype)
            for old, integers in zip((int(op.inputs[1]), index), new, strict=True):
                made_of = graph.tensor(old).quantization
                made = graph.add_constant(graph.name(old), integers)
                graph.tensor(made).quantization = copy(made_of)
                graph.tensor(made).quantization.scale = (made_of.scale * times).astype(np.float32)
                graph.replace_input(op, old, made)
            changed = True
    if changed:
        drop_unused(model)
    return changed


def _biased(graph: GraphEditor) -> Iterator[tuple[Any, int]]:
    """Yields the ops that have a constant bias, with that."""
    for op in graph.ops or ():
        place = BIASES.get(graph.kind(op), -1)
        if 0 < place < len(op.inputs) and graph.is_constant(int(op.inputs[place])):
            yield op, int(op.inputs[place])


#: The positions of the biases of convolutions; their weights are the second operand.
_BIASES = {kind: place for kind, place in BIASES.items() if "CONV" in kind}


def halve_biases(model: Any) -> bool:
    """Stores the biases of convolutions whose weights are float16 as float16, too.

    litert-quantizer leaves them as they are, and LiteRT 1.2 and 1.3 take the one for the other: their results are no
    numbers. A bias that other ops read, or beyond the numbers of float16, stays.
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
            if not any(other_tensor.buffer == old for other in model.subgraphs for other_tensor in other.tensors):
                model.buffers[old].data = None
            graph.add_op(graph.ops[0], "DEQUANTIZE", [half], [index])
            changed = True
    return changed


def _biases(graph: GraphEditor) -> Iterator[int]:
    """Yields the constants that are biases of convolutions with weights of float16, and nothing else."""
    halves: set[int] = set()
    others = {int(index) for index in graph.graph.outputs}
    biases: list[int] = []
    for op in graph.ops:
        kind, inputs = graph.kind(op), [int(index) for index in op.inputs]
        place = _BIASES.get(kind, len(inputs))
        if kind == "DEQUANTIZE" and graph.is_type(inputs[0], "float16"):
            halves.update(int(index) for index in op.outputs)
        if place < len(inputs) and inputs[place] >= 0 and inputs[1] in halves:
            biases.append(inputs.pop(place))
        others.update(inputs)
    yield from (index for index in biases if index not in others and graph.is_type(index, "float32"))


def share_conversions(model: Any) -> bool:
    """Makes the same integers of a tensor once, but states, and none of integers that are the same already.

    litert-quantizer and litefuse make them op by op.
    """
    changed = False
    for graph in editors_of(model):
        first: dict[Any, int] = {}
        for op in [op for op in graph.ops or () if graph.kind(op) in {"CAST", "QUANTIZE"}]:
            source, result = int(op.inputs[0]), int(op.outputs[0])
            if any(graph.tensor(index).isVariable for index in (source, result)):  # an LSTM writes another state there
                continue
            before, after = ((dtype_of(graph.tensor(index)), graph.scale(index)) for index in (source, result))
            other = source if before == after else first.setdefault((graph.kind(op), source, *after), result)
            if other != result and not graph.is_output(result):
                for reader in graph.consumers(result):
                    graph.replace_input(reader, result, other)
                graph.remove_op(op)
                changed = True
    if changed:
        drop_unused(model)
    return changed


def share_buffers(model: Any) -> bool:
    """Has tensors with the same bytes refer to one buffer.

    litert-quantizer copies the buffer of constants with several readers where their scales differ, though zeros, such
    as biases, are the same in all of them.
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
