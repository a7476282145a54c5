"""Ops in the forms that runtimes take: older ones, their delegates, microcontrollers, and Vela's NPUs.

Each change takes the model, as the schema's objects, and returns whether it changed.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from litefuse.conversion.quantization.recurrent.needless_conversions import drop_unused
from litefuse.litert.export.editor import GraphEditor, Scale, editors_of
from litefuse.litert.export.runtime_versions import RuntimeLimit, first_runtime
from litefuse.litert.runtime.model_tables import ACTIVATIONS
from litefuse.litert.runtime.schema_objects import dtype_of, made, set_options


def flatten_products(model: Any) -> bool:
    """Computes products of int16 with more than two dimensions as ones of two::

        %y = fully_connected(%x) {keep_num_dims}  -->  %0 = fully_connected(%x)
                                                       %y = reshape(%0)

    With several scales of weights, TensorFlow Lite up to 2.16 takes the first one where dimensions are kept. What has
    several dimensions that are known only in a call stays.
    """
    changed = False
    for graph in editors_of(model):
        for op in [op for op in graph.ops or () if graph.kind(op) == "FULLY_CONNECTED"]:
            result, options = int(op.outputs[0]), op.builtinOptions
            shape = graph.shape(result)
            if options is None or not options.keepNumDims or len(shape) < 3 or 0 in shape or shape.count(-1) > 1:
                continue
            if graph.is_type(result, "int16") and graph.scale(int(op.inputs[1])) is None:
                count = math.prod(map(int, graph.tensor(result).shape[:-1]))  # where a dynamic dimension is 1
                rows = graph.add_tensor(f"{graph.name(result)}_rows", (count, shape[-1]), "int16", graph.scale(result))
                if -1 in shape:
                    graph.tensor(rows).shapeSignature = [-1, shape[-1]]
                sizes = graph.add_constant(f"{graph.name(result)}_shape", np.array(shape, np.int32))
                options.keepNumDims, op.outputs = False, [rows]
                graph.add_op(graph.after(op), "RESHAPE", [rows, sizes], [result])
                changed = True
    return changed


_LIMITS = {"RELU": (0.0, math.inf), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}
# The activations that are ops as well, by the names of these.
_KINDS = {name: kind for kind, name in ACTIVATIONS.items() if name in _LIMITS}


def fuse_activations(model: Any, kept: Container[str]) -> bool:
    """Fuses activations into TRANSPOSE_CONV in a model that becomes one of integers.

    In floating point they are ops of their own. The result gets the range of the activation; XNNPACK has no RELU of
    int8, and litert-quantizer none of the others.

    Args:
        model: The model in floating point, as the schema's objects.
        kept: The names of results whose ops stay in floating point.
    """
    changed = False
    for graph, op in _convolutions(model):
        result = int(op.outputs[0])
        takers = [*graph.consumers(result)]
        activation = _KINDS.get(graph.kind(takers[0])) if len(takers) == 1 else None
        if activation is None or op.builtinOptions.fusedActivationFunction or graph.is_output(result):
            continue
        if graph.name(result) not in kept and graph.name(int(takers[0].outputs[0])) not in kept:
            op.builtinOptions.fusedActivationFunction, op.outputs = activation, takers[0].outputs
            graph.remove_op(takers[0])
            changed = True
    if changed:
        drop_unused(model)
    return changed


def separate_activations(model: Any) -> bool:
    """Takes activations out of TRANSPOSE_CONV again, but where the range of its integers says the same.

    Some readers leave fused ones out. In floating point and in int16 they are ops of their own then. Where int8 has a
    wider range, as that of a concatenation with negative numbers, the result gets one of its own, and QUANTIZE makes
    the other, without an error if the steps are the same.
    """
    changed = False
    for graph, op in _convolutions(model):
        result, kind = int(op.outputs[0]), op.builtinOptions.fusedActivationFunction
        scale, name = graph.scale(result), ACTIVATIONS.get(kind, "")
        if name not in _LIMITS:
            continue
        if scale is None:
            if graph.is_type(result, "float32"):
                _precede(graph, op, name)
        elif graph.is_type(result, "int16") and name != "RELU_N1_TO_1":  # LiteRT has none of int16
            _precede(graph, op, name)
        elif graph.is_type(result, "int8") and (own := _own_scale(scale, *_LIMITS[name])) != scale:
            made = _precede(graph, op, "QUANTIZE")
            op.builtinOptions.fusedActivationFunction = kind
            graph.tensor(made).quantization.scale, graph.tensor(made).quantization.zeroPoint = [own.scale], [own.zero]
        changed = changed or int(op.outputs[0]) != result
    return changed


def _convolutions(model: Any) -> Iterator[tuple[GraphEditor, Any]]:
    """Yields the transposed convolutions, with their graphs."""
    for graph in editors_of(model):
        for op in [*(graph.ops or ())]:
            if graph.kind(op) == "TRANSPOSE_CONV" and op.builtinOptions is not None:
                yield graph, op


def _precede(graph: GraphEditor, op: Any, name: str) -> int:
    """Has another op make the result of an op without an activation; returns what that op makes then."""
    result = int(op.outputs[0])
    tensor = copy.deepcopy(graph.tensor(result))
    tensor.name, tensor.buffer = f"{graph.name(result)}_{name.lower()}_operand".encode(), 0
    graph.graph.tensors.append(tensor)
    made = len(graph.graph.tensors) - 1
    op.builtinOptions.fusedActivationFunction, op.outputs = 0, [made]
    graph.add_op(graph.after(op), name, [made], [result])
    return made


def _own_scale(scale: Scale, low: float, high: float) -> Scale:
    """Returns a scale of int8 for what another one has within limits: the same if that has nothing outside of them."""
    least, most = (scale.scale * (limit - scale.zero) for limit in (-128, 127))
    half = scale.scale / 2
    if low - half <= least and most <= high + half:
        return scale
    lowest = max(low, least)
    step = scale.scale if most <= high + half else (high - lowest) / 255
    return Scale(step, round(-lowest / step) - 128)


def write_for_older(model: Any, limit: RuntimeLimit) -> bool:
    """Writes ops as others where a runtime lacks them for these integers::

        %y: int16 = quantize(%x: int8)   -->   %y: int16 = quantize(dequantize(%x))
        %y: int16 = tile(%x, [1, 2, 3])  -->   %0 = concatenation(%x, %x) {axis = 1}
                                               %y = concatenation(%0, %0, %0) {axis = 2}

    Args:
        model: The quantized model, as the schema's objects.
        limit: The oldest runtime that has to run it.
    """
    changed = False
    for graph in editors_of(model):
        for op in [*(graph.ops or ())]:
            if (write := _OLDER_FORMS.get(graph.kind(op))) is not None:
                types = dtype_of(graph.tensor(op.inputs[0])).upper(), dtype_of(graph.tensor(op.outputs[0])).upper()
                has = limit.has(first_runtime(graph.kind(op), model.operatorCodes[op.opcodeIndex].version, types))
                changed = (not has and write(graph, op)) or changed
    return changed


def _convert_through_float(graph: GraphEditor, op: Any) -> bool:
    source = int(op.inputs[0])
    real = graph.add_tensor(f"{graph.name(source)}_float32", graph.shape(source), "float32")
    graph.add_op(op, "DEQUANTIZE", [source], [real])
    op.inputs = [real]
    return True


def _concatenate_copies(graph: GraphEditor, op: Any) -> bool:
    (value, repeats), result = map(int, op.inputs), int(op.outputs[0])
    counts, dtype = graph.constant(repeats, dtype_of(graph.tensor(repeats))), dtype_of(graph.tensor(value))
    if counts is None or 0 in counts:
        return False
    axes = [axis for axis, count in enumerate(counts) if count > 1] or [0]
    for axis in axes:
        operands, sizes = [value] * int(counts[axis]), [*graph.shape(value)]
        sizes[axis] = max(sizes[axis] * len(operands), -1)
        name, scale = f"{graph.name(result)}_{axis}", graph.scale(value)
        value = result if axis == axes[-1] else graph.add_tensor(name, sizes, dtype, scale)
        set_options(graph.add_op(op, "CONCATENATION", operands, [value]), made("ConcatenationOptions", axis=axis))
    graph.remove_op(op)
    return True


_OLDER_FORMS = {"QUANTIZE": _convert_through_float, "TILE": _concatenate_copies}


def write_for_micro(model: Any) -> bool:
    """Writes ops as others where tflite-micro has no kernel for int16, or for booleans::

        %y = gather(%x, %at)   -->   %y = reshape(slice(%x, pack(%at, 0, 0), [1, 4, 5]))
        %y = fill(%dims, %x)   -->   %y = broadcast_to(%x, %dims)

    The former takes steps of a sequence, or of its mask, in loops; the latter begins what they write.
    """
    changed = False
    for graph in editors_of(model):
        for op in [*(graph.ops or ())]:
            if graph.kind(op) == "FILL" and graph.is_type(int(op.outputs[0]), "int16"):
                graph.add_op(op, "BROADCAST_TO", [*map(int, op.inputs)][::-1], [int(op.outputs[0])])
            elif takes_item(graph, op) and any(graph.is_type(int(op.inputs[0]), dtype) for dtype in ("int16", "bool")):
                _slice_item(graph, op)
            else:
                continue
            graph.remove_op(op)
            changed = True
    return changed


def takes_item(graph: GraphEditor, op: Any) -> bool:
    """Whether an op is a GATHER that takes one item along the first axis, as SLICE can."""
    if graph.kind(op) != "GATHER":
        return False
    taken, at, options = int(op.inputs[0]), int(op.inputs[1]), op.builtinOptions
    shape = graph.shape(taken)
    first = options is None or (options.axis in {0, -len(shape)} and not options.batchDims)
    return first and not graph.shape(at) and graph.is_type(at, "int32") and min(shape, default=-1) > 0


def _slice_item(graph: GraphEditor, op: Any) -> None:
    taken, at, result = int(op.inputs[0]), int(op.inputs[1]), int(op.outputs[0])
    name, (_, *item) = graph.name(result), graph.shape(taken)
    zero, begin = (
        graph.add_constant(f"{name}_zero", np.array(0, np.int32)),
        graph.add_tensor(f"{name}_begin", [1 + len(item)], "int32"),
    )
    size, shape = (
        graph.add_constant(f"{name}_{what}", np.array(sizes, np.int32))
        for what, sizes in (("size", [1, *item]), ("shape", item))
    )
    part = graph.add_tensor(f"{name}_part", [1, *item], dtype_of(graph.tensor(taken)), graph.scale(taken))
    packed = graph.add_op(op, "PACK", [at, *[zero] * len(item)], [begin])
    set_options(packed, made("PackOptions", valuesCount=1 + len(item)))
    graph.add_op(op, "SLICE", [taken, begin, size], [part])
    graph.add_op(op, "RESHAPE", [part, shape], [result])


# The ops that pass parts of a mask on.
_MOVING = frozenset({"RESHAPE", "STRIDED_SLICE"})
_LEAST, _LARGEST = -128, 127


def limit_selections(model: Any) -> bool:
    """Writes selections between int8 of one scale as limits, which let one of the two pass and none of the other::

        %p = select_v2(%m, 127, -128)
        %y = select_v2(%m[3], %a, %b)  -->   %n = select_v2(%m, -128, 127)
                                             %y = maximum(minimum(%a, %p[3]), minimum(%b, %n[3]))

    The integers are the same. Two limits for each scale are made of a whole mask: this is done where more than those
    selections are made of its parts, so that fewer are left.
    """
    modified = False
    for number in range(len(model.subgraphs)):
        graph = _SelectionEditor(model, number)
        for whole, ops in graph.selections().items():
            scales = {graph.scale(op.outputs[0]) for op in ops}
            if len(ops) > 2 * len(scales):
                for op in ops:
                    graph.limit(op, whole)
                graph.drop_parts()
                modified = True
    if modified:
        drop_unused(model)
    return modified


class _SelectionEditor(GraphEditor):
    """A subgraph whose selections are rewritten."""

    def __init__(self, model: Any, graph: int) -> None:
        super().__init__(model, graph)
        self._producers = {int(index): op for op in self.ops for index in op.outputs}
        self._limits: dict[tuple[int, Scale, bool], int] = {}

    def selections(self) -> dict[int, list[Any]]:
        """Returns the selections between int8 of one scale, by the mask that their conditions are parts of."""
        by_mask: dict[int, list[Any]] = {}
        for op in self.ops:
            values = [*map(int, op.inputs[1:]), int(op.outputs[0])] if self.kind(op) == "SELECT_V2" else []
            scales = {self.scale(value) for value in values}
            if len(scales) != 1 or None in scales or not all(self.is_type(value, "int8") for value in values):
                continue
            whole = int(op.inputs[0])
            while (part := self._part(whole)) is not None:
                whole = int(part.inputs[0])
            by_mask.setdefault(whole, []).append(op)
        return by_mask

    def limit(self, op: Any, whole: int) -> None:
        """Rewrites a selection."""
        mask, result = int(op.inputs[0]), int(op.outputs[0])
        scale = self.scale(result)
        assert scale is not None
        passed: list[int] = []
        for value, first in zip(map(int, op.inputs[1:]), (True, False), strict=True):
            limit = self._limit(op, mask, whole, scale, first=first)
            shape = np.broadcast_shapes(self.shape(value), self.shape(limit))
            passed.append(self.add_tensor(f"{self.name(result)}_{'then' if first else 'else'}", shape, "int8", scale))
            self.set_version(self.add_op(op, "MINIMUM", [value, limit], passed[-1:]), 2)
        self.set_version(self.add_op(op, "MAXIMUM", passed, [result]), 2)
        self.remove_op(op)

    def drop_parts(self) -> None:
        """Removes the parts of masks that nothing takes anymore."""
        for op in reversed([*self.ops]):
            result = int(op.outputs[0]) if len(op.outputs) else -1
            if self._part(result) is op and not self.is_output(result) and not any(self.consumers(result)):
                self.remove_op(op)

    def _part(self, index: int) -> Any | None:
        """Returns the op that takes a part of a mask."""
        op = self._producers.get(index)
        return op if op is not None and self.kind(op) in _MOVING and self.is_type(index, "bool") else None

    def _limit(self, op: Any, mask: int, whole: int, scale: Scale, *, first: bool) -> int:
        """Returns the largest number where a mask, or where its negation, is true; the least one elsewhere."""
        key = (mask, scale, first)
        if key in self._limits:
            return self._limits[key]
        name = f"{self.name(mask)}_{'then' if first else 'else'}"
        limit = self._limits[key] = self.add_tensor(name, self.shape(mask), "int8", scale)
        if mask == whole:
            numbers = (_LARGEST, _LEAST) if first else (_LEAST, _LARGEST)
            constants = [self.add_constant(f"{name}/{number}", np.array(number, np.int8), scale) for number in numbers]
            before = self.after(self._producers[whole]) if whole in self._producers else self.ops[0]
            self.add_op(before, "SELECT_V2", [whole, *constants], [limit])
        else:
            part = self._producers[mask]
            source = self._limit(op, int(part.inputs[0]), whole, scale, first=first)
            taken = self.add_op(op, "RESHAPE", [source, *part.inputs[1:]], [limit])
            taken.opcodeIndex = part.opcodeIndex
            taken.builtinOptions, taken.builtinOptionsType = part.builtinOptions, part.builtinOptionsType
        return limit
