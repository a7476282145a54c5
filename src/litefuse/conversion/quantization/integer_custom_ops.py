"""Custom ops whose kernels compute with quantized numbers, in models of integers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.litert.export.editor import GraphEditor
from litefuse.litert.runtime.custom_op import CustomOp, find_kernel
from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS, OP_NUMBERS
from litefuse.litert.runtime.schema_objects import dtype_of, made, op_name, tensor_name


def integer_kernel(model: Any, op: Any, bits: int) -> type[CustomOp] | None:
    """Returns the kernel of a custom op that takes integers of so many bits; None without such a kernel."""
    code = model.operatorCodes[op.opcodeIndex]
    if op_name(code) != "CUSTOM":
        return None
    name = (code.customCode or b"").decode("utf-8", "replace")
    kernel = find_kernel(name) if name else None
    return kernel if kernel is not None and f"int{bits}" in kernel.quantized_dtypes else None


def same_scale_pairs(op: Any, kernel: type[CustomOp]) -> Iterator[tuple[int, int]]:
    """Yields the results of an op that have the scale of an operand, each with that operand, as indices of tensors."""
    for output, position in kernel.same_scales.items():
        if output < len(op.outputs) and position < len(op.inputs):
            yield int(op.outputs[output]), int(op.inputs[position])


def sources_of_scales(model: Any, bits: int, real: Collection[str]) -> Mapping[str, str]:
    """Returns the results of custom ops that have the scale of an operand, with that operand, in the order of the ops.

    Args:
        model: The model, as the schema's objects.
        bits: The bits of activations.
        real: The names of tensors whose ops stay in floating point.
    """
    sources: dict[str, str] = {}
    # Loops, branches and composites keep the types of their op.
    for index in sorted({int(signature.subgraphIndex) for signature in model.signatureDefs or ()}):
        tensors = model.subgraphs[index].tensors
        for op in model.subgraphs[index].operators or ():
            kernel = integer_kernel(model, op, bits)
            if kernel is None or any(tensor_name(tensors[output]) in real for output in op.outputs):
                continue
            for result, operand in same_scale_pairs(op, kernel):
                if operand >= 0:
                    sources[tensor_name(tensors[result])] = tensor_name(tensors[operand])
    return sources


def hand_ranges_on(ranges: Ranges, sources: Mapping[str, str]) -> Ranges:
    """Returns ranges in which results have that of the operand whose scale they take.

    Args:
        ranges: The ranges of a model's tensors.
        sources: See :func:`sources_of_scales`.
    """
    handed_on = dict(ranges)
    for result, operand in sources.items():
        if operand in handed_on:
            handed_on[result] = handed_on[operand]
    return handed_on


_TYPES: Mapping[int, str] = {8: "int8", 16: "int16"}
# Scales of the same range that differ by the order of the computation alone are nearer than this.
_NEAR = 1e-5


def make_custom_ops_integer(model: Any, bits: int, ranges: Ranges, kept: Collection[str] = ()) -> bool:
    """Gives custom ops integers in the place of floating point, if their kernels say that they take them::

        x: int8 -> DEQUANTIZE -> Custom: float32 -> QUANTIZE -> y: int8     -->     x: int8 -> Custom -> y: int8

    Operands that are constants stay as they are. Where the kernel says that a result has the scale of an operand, and
    what follows has another one, there is a QUANTIZE between. litert-quantizer leaves custom ops in floating point.

    Args:
        model: The quantized model, as the schema's objects.
        bits: The bits of activations: 8 or 16.
        ranges: The ranges of its tensors; an op with a tensor without a finite one stays as it is.
        kept: The names of the results of ops that stay as they are.

    Returns:
        Whether it changed.
    """
    changed = False
    # Loops, branches and composites keep the types of their op.
    for number in sorted({int(signature.subgraphIndex) for signature in model.signatureDefs or ()}):
        graph = _Graph(model, number, bits, ranges)
        for op in [*(graph.ops or ())]:
            kernel = integer_kernel(model, op, bits)
            if kernel is not None and not any(graph.name(result) in kept for result in op.outputs):
                changed = graph.make_integer(op, dict(same_scale_pairs(op, kernel))) or changed
    return changed


class _Graph(GraphEditor):
    """A subgraph whose custom ops are given integers.

    Args:
        model: The model, an object of the schema.
        graph: The subgraph's index.
        bits: The bits of activations.
        ranges: The ranges of its tensors.
    """

    def __init__(self, model: Any, graph: int, bits: int, ranges: Ranges) -> None:
        super().__init__(model, graph)
        self._bits = bits
        self._ranges = ranges

    def make_integer(self, op: Any, sources: Mapping[int, int]) -> bool:
        """Gives an op integer operands and results; whether that was possible.

        Args:
            op: The op.
            sources: The results that have the scale of an operand, with that operand.
        """
        operands: set[int] = {operand for operand in op.inputs if operand >= 0 and self._is_activation(operand)}
        results: set[int] = {result for result in op.outputs if self._is_activation(result)}
        of_bytes: dict[int, int] = {
            operand: made for operand in operands if (made := self._bytes_operand(operand)) >= 0
        }
        known = {*of_bytes, *(operand for operand in operands if self._quantized_operand(operand) >= 0)}
        unread = {result for result in results if not self._is_used(result, ())}  # which the calibration does not see
        if not results or not all(map(self._has_range, (operands | results) - known - unread)):
            return False
        if any(source not in operands for result, source in sources.items() if result in results):
            return False  # a constant, which stays as it is
        place = self.ops.index(op)
        before: list[Any] = []
        replaced: dict[int, int] = {}
        added: set[int] = set()
        for operand in sorted(operands):
            integers = self._quantized_operand(operand)
            if integers < 0:
                integers = self._add_integers(operand)
                added.add(integers)
                if operand in of_bytes:  # an input of the model
                    self.tensor(integers).quantization = _as_int8(self.tensor(of_bytes[operand]).quantization)
                before.append(self._conversion("QUANTIZE", of_bytes.get(operand, operand), integers))
            replaced[operand] = integers
        after: list[Any] = []
        removed: list[Any] = []
        for result in sorted(results):
            replaced[result], conversion = self._quantized_result(result)
            if conversion is not None:
                removed.append(conversion)
            source = replaced[sources[result]] if result in sources else None
            if source is not None and not self._give_scale(replaced[result], source, conversion, added):
                made = self._add_integers(result)
                self.tensor(made).quantization = self.tensor(source).quantization
                after.append(self._conversion("QUANTIZE", made, replaced[result]))
                replaced[result] = made
            self._convert_integers(result, replaced[result], removed)
            if self._is_used(result, removed):
                after.append(self._conversion("DEQUANTIZE", replaced[result], result))
        op.inputs = [replaced[operand] if operand in operands else operand for operand in op.inputs]
        op.outputs = [replaced[result] if result in results else result for result in op.outputs]
        self.ops[place : place + 1] = [*before, op, *after]
        for conversion in removed:
            self.remove_op(conversion)
        for conversion in [operator for operator in self.ops if self.kind(operator) == "DEQUANTIZE"]:
            if conversion.outputs[0] in operands and not self._is_used(conversion.outputs[0], [conversion]):
                self.remove_op(conversion)  # what it made is read by nothing any more
        return True

    def _convert_integers(self, real: int, integers: int, but: Sequence[Any]) -> None:
        """Has what converts a tensor to integers take its integers, but for some ops: QUANTIZE takes both."""
        taken = {_TYPES[self._bits], *(["uint8"] if self._bits == 8 else [])}
        for op in self.ops:
            if self.kind(op) != "QUANTIZE" or op.inputs[0] != real or any(op is other for other in but):
                continue
            if dtype_of(self.tensor(op.outputs[0])) in taken:
                op.inputs = [integers]

    def _give_scale(self, result: int, operand: int, conversion: Any, added: set[int]) -> bool:
        """Gives a result the scale of an operand; whether the two have one, without changing what others have.

        Args:
            result: A tensor of integers; a new one if nothing converted to it.
            operand: A tensor of integers.
            conversion: What converted to the result.
            added: The new operands, whose scale may yet change.
        """
        one, other = self.tensor(operand).quantization, self.tensor(result).quantization
        if conversion is None:
            self.tensor(result).quantization = one
        elif operand in added and _are_near(one, other):
            self.tensor(operand).quantization = other
        elif not _are_near(one, other, 0):
            return False
        added.discard(operand)
        return True

    def _is_activation(self, index: int) -> bool:
        buffer = self.model.buffers[self.tensor(index).buffer]
        return self.is_type(index, "float32") and buffer.data is None and buffer.size <= 0

    def _has_range(self, index: int) -> bool:
        range_ = self._ranges.get(self.name(index))
        return range_ is not None and bool(np.isfinite([range_["min"][0], range_["max"][0]]).all())

    def _quantized_operand(self, index: int) -> int:
        """Returns what DEQUANTIZE makes a tensor of, if it is of these integers; else -1."""
        return self._dequantized(index, _TYPES[self._bits])

    def _bytes_operand(self, index: int) -> int:
        """Returns what DEQUANTIZE makes a tensor of, if that is an input of uint8 beside int8; else -1."""
        source = self._dequantized(index, "uint8")
        return source if self._bits == 8 and source in self.graph.inputs else -1

    def _dequantized(self, index: int, dtype: str) -> int:
        """Returns what DEQUANTIZE makes a tensor of, if it is of a type; else -1."""
        op = self.producer(index)
        if op is None or self.kind(op) != "DEQUANTIZE" or not self.is_type(op.inputs[0], dtype):
            return -1
        return int(op.inputs[0])

    def _quantized_result(self, index: int) -> tuple[int, Any]:
        """Returns what QUANTIZE makes of a tensor, with that op; or a new tensor, and None."""
        for op in self.ops:
            is_conversion = self.kind(op) == "QUANTIZE" and op.inputs[0] == index
            if is_conversion and self.is_type(op.outputs[0], _TYPES[self._bits]):
                return op.outputs[0], op
        return self._add_integers(index), None

    def _is_used(self, index: int, but: Sequence[Any]) -> bool:
        """Whether something reads a tensor, but for some ops."""
        readers = self.consumers(index)
        return self.is_output(index) or any(not any(op is other for other in but) for op in readers)

    def _conversion(self, kind: str, operand: int, result: int) -> Any:
        """Makes an op, of any version that the model has already."""
        codes: list[Any] = self.model.operatorCodes
        kinds = [op_name(code) for code in codes]
        if kind not in kinds:
            codes.append(made("OperatorCode", builtinCode=OP_NUMBERS[kind]))
            kinds.append(kind)
        return made("Operator", opcodeIndex=kinds.index(kind), inputs=[operand], outputs=[result])

    def _add_integers(self, like: int) -> int:
        """Adds the quantized form of a tensor; returns its index."""
        tensor = copy(self.tensor(like))
        tensor.name += b"_quantized"
        tensor.type = DTYPE_NUMBERS[_TYPES[self._bits]]
        nothing = {"min": np.zeros(1), "max": np.zeros(1)}
        tensor.quantization = _parameters(self._ranges.get(self.name(like), nothing), self._bits)
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1


def _parameters(found: Mapping[str, Any], bits: int) -> Any:
    """Returns scale and zero point of a range: of int8 asymmetric, of int16 symmetric, as LiteRT's ops have them."""
    least, largest = min(float(found["min"][0]), 0.0), max(float(found["max"][0]), 0.0)
    if bits == 16:
        scale, zero = max(-least, largest) / 32767 or 1.0, 0
    else:
        scale = (largest - least) / 255 or 1.0
        zero = round(-128 - least / scale)
    return made("QuantizationParameters", scale=[scale], zeroPoint=[zero])


def _as_int8(of_bytes: Any) -> Any:
    """Returns the parameters of the same numbers in int8 as in uint8."""
    return made("QuantizationParameters", scale=of_bytes.scale, zeroPoint=[int(of_bytes.zeroPoint[0]) - 128])


def _are_near(one: Any, other: Any, relative: float = _NEAR) -> bool:
    """Whether the scales of two tensors are as good as the same, and the zero points are."""
    values = (one.scale, one.zeroPoint, other.scale, other.zeroPoint)
    if any(value is None or len(value) != 1 for value in values):
        return False
    scales = float(np.float32(one.scale[0])), float(np.float32(other.scale[0]))
    return int(one.zeroPoint[0]) == int(other.zeroPoint[0]) and abs(scales[0] - scales[1]) <= relative * scales[0]
