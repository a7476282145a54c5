"""Custom ops whose kernels compute with quantized numbers, in models of integers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.litert.runtime.custom_op import CustomOp, find_kernel
from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS, OP_NUMBERS
from litefuse.litert.runtime.schema_objects import dtype_of, made, op_name, tensor_name

__all__ = ["hand_ranges_on", "integer_kernel", "make_custom_ops_integer", "same_scale_pairs", "sources_of_scales"]


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
    found = dict(ranges)
    for result, operand in sources.items():
        if operand in found:
            found[result] = found[operand]
    return found


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
    codes = _Codes(model)
    signatures = {signature.subgraphIndex for signature in model.signatureDefs or ()}
    changed = False
    # Loops, branches and composites keep the types of their op.
    for subgraph in (each for index, each in enumerate(model.subgraphs) if index in signatures):
        graph = _Graph(model, subgraph, codes, bits, ranges)
        op: Any
        for op in list(subgraph.operators or ()):
            kernel = integer_kernel(model, op, bits)
            results: list[int] = list(op.outputs)
            if kernel is not None and not any(tensor_name(subgraph.tensors[result]) in kept for result in results):
                changed = graph.make_integer(op, dict(same_scale_pairs(op, kernel))) or changed
    return changed


class _Codes:
    """The op codes of a model."""

    def __init__(self, model: Any) -> None:
        self._codes: list[Any] = model.operatorCodes

    def kind(self, op: Any) -> str:
        return op_name(self._codes[op.opcodeIndex])

    def index(self, kind: str) -> int:
        """Returns the index of the code of an op, which is added if there is none."""
        for index, code in enumerate(self._codes):
            if op_name(code) == kind:
                return index
        self._codes.append(made("OperatorCode", builtinCode=OP_NUMBERS[kind]))
        return len(self._codes) - 1


class _Graph:
    """A subgraph whose ops are changed."""

    def __init__(self, model: Any, subgraph: Any, codes: _Codes, bits: int, ranges: Ranges) -> None:
        self._model = model
        self._subgraph = subgraph
        self._codes = codes
        self._bits = bits
        self._ranges = ranges

    def make_integer(self, op: Any, sources: Mapping[int, int]) -> bool:
        """Gives an op integer operands and results; whether that was possible.

        Args:
            op: The op.
            sources: The results that have the scale of an operand, with that operand.
        """
        tensors = self._subgraph.tensors
        operands: set[int] = {input_ for input_ in op.inputs if input_ >= 0 and self._is_activation(input_)}
        results = {output for output in op.outputs if self._is_activation(output)}
        of_bytes: dict[int, int] = {
            operand: made for operand in operands if (made := self._bytes_operand(operand)) >= 0
        }
        known = {*of_bytes, *(operand for operand in operands if self._quantized_operand(operand) >= 0)}
        unread = {result for result in results if not self._is_used(result, ())}  # which the calibration does not see
        if not results or not all(
            self._has_range(tensors[operand]) for operand in (operands | results) - known - unread
        ):
            return False
        if any(source not in operands for result, source in sources.items() if result in results):
            return False  # a constant, which stays as it is
        place = self._subgraph.operators.index(op)
        before: list[Any] = []
        replaced: dict[int, int] = {}
        added: set[int] = set()
        for each in sorted(operands):
            found = self._quantized_operand(each)
            if found < 0:
                found = self._add_tensor(each)
                added.add(found)
                if each in of_bytes:  # an input of the model
                    tensors[found].quantization = _as_int8(tensors[of_bytes[each]].quantization)
                before.append(self._conversion("QUANTIZE", of_bytes.get(each, each), found))
            replaced[each] = found
        after: list[Any] = []
        removed: list[Any] = []
        for each in sorted(results):
            replaced[each], conversion = self._quantized_result(each)
            if conversion is not None:
                removed.append(conversion)
            if each in sources and not self._give_scale(replaced[each], replaced[sources[each]], conversion, added):
                made = self._add_tensor(each)
                tensors[made].quantization = tensors[replaced[sources[each]]].quantization
                after.append(self._conversion("QUANTIZE", made, replaced[each]))
                replaced[each] = made
            self._convert_integers(each, replaced[each], removed)
            if self._is_used(each, removed):
                after.append(self._conversion("DEQUANTIZE", replaced[each], each))
        op.inputs = [replaced.get(input_, input_) if input_ in operands else input_ for input_ in op.inputs]
        op.outputs = [replaced.get(output, output) if output in results else output for output in op.outputs]
        operators: list[Any] = self._subgraph.operators
        operators[place : place + 1] = [*before, op, *after]
        for each in removed:
            operators.remove(each)
        for each in [operator for operator in operators if self._codes.kind(operator) == "DEQUANTIZE"]:
            if each.outputs[0] in operands and not self._is_used(each.outputs[0], [each]):
                operators.remove(each)  # what it made is read by nothing any more
        return True

    def _convert_integers(self, real: int, integers: int, but: Sequence[Any]) -> None:
        """Has what converts a tensor to integers take its integers, but for some ops: QUANTIZE takes both."""
        taken = {_TYPES[self._bits], *(["uint8"] if self._bits == 8 else [])}
        conversions = [op for op in self._subgraph.operators if self._codes.kind(op) == "QUANTIZE"]
        for op in [conversion for conversion in conversions if not any(conversion is other for other in but)]:
            if op.inputs[0] == real and dtype_of(self._subgraph.tensors[op.outputs[0]]) in taken:
                op.inputs = [integers]

    def _give_scale(self, result: int, operand: int, conversion: Any, added: set[int]) -> bool:
        """Gives a result the scale of an operand; whether the two have one, without changing what others have.

        Args:
            result: A tensor of integers; a new one if nothing converted to it.
            operand: A tensor of integers.
            conversion: What converted to the result.
            added: The new operands, whose scale may yet change.
        """
        tensors = self._subgraph.tensors
        one, other = tensors[operand].quantization, tensors[result].quantization
        if conversion is None:
            tensors[result].quantization = one
        elif operand in added and _are_near(one, other):
            tensors[operand].quantization = other
        elif not _are_near(one, other, 0):
            return False
        added.discard(operand)
        return True

    def _is_activation(self, index: int) -> bool:
        tensor = self._subgraph.tensors[index]
        buffer = self._model.buffers[tensor.buffer]
        is_constant = buffer.data is not None or buffer.size > 0
        return dtype_of(tensor) == "float32" and not is_constant

    def _has_range(self, tensor: Any) -> bool:
        range_ = self._ranges.get(tensor.name.decode())
        return range_ is not None and bool(np.isfinite([range_["min"][0], range_["max"][0]]).all())

    def _quantized_operand(self, index: int) -> int:
        """Returns what DEQUANTIZE makes a tensor of, if it is of these integers; else -1."""
        return self._dequantized(index, _TYPES[self._bits])

    def _bytes_operand(self, index: int) -> int:
        """Returns what DEQUANTIZE makes a tensor of, if that is an input of uint8 beside int8; else -1."""
        found = self._dequantized(index, "uint8")
        return found if self._bits == 8 and found in self._subgraph.inputs else -1

    def _dequantized(self, index: int, dtype: str) -> int:
        """Returns what DEQUANTIZE makes a tensor of, if it is of a type; else -1."""
        for op in self._subgraph.operators:
            if self._codes.kind(op) == "DEQUANTIZE" and op.outputs[0] == index:
                return int(op.inputs[0]) if dtype_of(self._subgraph.tensors[op.inputs[0]]) == dtype else -1
        return -1

    def _quantized_result(self, index: int) -> tuple[int, Any]:
        """Returns what QUANTIZE makes of a tensor, with that op; or a new tensor, and None."""
        for op in self._subgraph.operators:
            if self._codes.kind(op) == "QUANTIZE" and op.inputs[0] == index and self._is_integer(op.outputs[0]):
                return op.outputs[0], op
        return self._add_tensor(index), None

    def _is_integer(self, index: int) -> bool:
        return dtype_of(self._subgraph.tensors[index]) == _TYPES[self._bits]

    def _is_used(self, index: int, but: Sequence[Any]) -> bool:
        """Whether something reads a tensor, but for some ops."""
        if index in self._subgraph.outputs:
            return True
        return any(index in op.inputs for op in self._subgraph.operators if not any(op is each for each in but))

    def _conversion(self, kind: str, operand: int, result: int) -> Any:
        return made("Operator", opcodeIndex=self._codes.index(kind), inputs=[operand], outputs=[result])

    def _add_tensor(self, like: int) -> int:
        """Adds the quantized form of a tensor; returns its index."""
        original = self._subgraph.tensors[like]
        tensor = copy(original)
        tensor.name = original.name + b"_quantized"
        tensor.type = DTYPE_NUMBERS[_TYPES[self._bits]]
        nothing = {"min": np.zeros(1), "max": np.zeros(1)}
        tensor.quantization = _parameters(self._ranges.get(original.name.decode(), nothing), self._bits)
        self._subgraph.tensors.append(tensor)
        return len(self._subgraph.tensors) - 1


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
