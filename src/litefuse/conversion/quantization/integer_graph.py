"""The ops of a subgraph with integers in the place of floating point."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from copy import copy
from typing import Any

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.integer_rules import IntegerRule, same_scale_pairs
from litefuse.conversion.quantization.lookup_tables import TableFunction
from litefuse.conversion.quantization.recurrent.quantized_forms import integers_of, scale_of, symmetric
from litefuse.errors import QuantizationError
from litefuse.litert.export.editor import GraphEditor, Scale
from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS, OP_NUMBERS
from litefuse.litert.runtime.schema_objects import dtype_of, made, op_name, set_options

_TYPES: Mapping[int, str] = {8: "int8", 16: "int16"}
# Scales of the same range that differ by the order of the computation alone are nearer than this.
_NEAR = 1e-5
# LiteRT compares int8 of one scale exactly if 256 of its steps are at least 1.
_LEAST_COMPARED = 1 / 256
# How far a constant behind an operand is moved before it is rounded, so that integers compare with it as what they
# stand for does: by less than a half, which leaves alone what is as good as whole.
_AWAY = {"GREATER": -0.49, "GREATER_EQUAL": 0.49, "LESS": 0.49, "LESS_EQUAL": -0.49}
# What CAST makes integers with a scale of.
_CAST = frozenset({"bool", "int32", "int64"})


class IntegerGraph(GraphEditor):
    """A subgraph whose ops are given integers. Its list of ops is out of date until it is finished."""

    def __init__(self, model: Any, graph: int, bits: int, ranges: Ranges) -> None:
        super().__init__(model, graph)
        self._bits = bits
        self._type = _TYPES[bits]
        self._ranges = ranges
        self._makers: dict[int, Any] = {}
        self._readers: dict[int, list[Any]] = defaultdict(list)
        self._before: dict[int, list[Any]] = defaultdict(list)
        self._behind: dict[int, list[Any]] = defaultdict(list)
        self._removed: set[int] = set()
        self._codes: dict[str, int] = {}
        self._names = {self.name(index) for index in range(len(self.graph.tensors))}
        for op in self.ops or ():
            self._enter(op)

    def finish(self) -> None:
        """Brings the list of ops up to date."""
        if self._before or self._behind or self._removed:
            self.graph.operators = [*self._ordered(self.ops)]

    def _ordered(self, ops: Collection[Any]) -> Iterator[Any]:
        for op in ops:
            yield from self._ordered(self._before[id(op)])
            if id(op) not in self._removed:
                yield op
            yield from self._ordered(self._behind[id(op)])

    def make_integer(self, op: Any, rule: IntegerRule) -> bool:
        """Gives an op integer operands and results; whether that was possible."""
        places = range(len(op.inputs)) if rule.operands is None else rule.operands
        taken = [int(op.inputs[place]) for place in places if place < len(op.inputs) and op.inputs[place] >= 0]
        operands = sorted({operand for operand in taken if self._is_activation(operand)})
        constants: dict[int, Any] = {}
        if rule.operands is not None:
            others = {int(index) for index in op.inputs if index >= 0 and self.is_type(index, "float32")} - {*operands}
            constants = {operand: value for operand in others if (value := self.constant(operand)) is not None}
            if len(constants) < len(others) or not all(np.isfinite(value).all() for value in constants.values()):
                return False
        results = sorted({int(result) for result in op.outputs[: rule.results] if self._is_activation(result)})
        sources = dict(same_scale_pairs(op, rule))
        if not self._is_possible(operands, results, sources, rule):
            return False
        integers, added = self._integer_operands(op, operands)
        for result in results:
            wanted = None
            if result in sources:
                wanted = self.tensor(integers[sources[result]]).quantization
            elif self._bits in rule.fixed:
                wanted = _parameters(rule.fixed[self._bits])
            operand = integers[sources[result]] if result in sources else -1
            integers[result] = self._integer_result(op, result, wanted, operand if operand in added else -1)
        scale = None if rule.scales == "own" else self._common_scale(rule, integers, operands, constants, results)
        for operand in operands:
            if scale is not None and self.scale(integers[operand]) != scale:
                conversion = self._insert(op, "QUANTIZE", integers[operand], -1)
                integers[operand] = self._add_like(integers[operand], self._type, scale, conversion)
        for operand, value in constants.items():
            away = _AWAY.get(self.kind(op), 0.0) * (1 if operand == int(op.inputs[-1]) else -1)
            integers[operand] = self._integer_constant(operand, value, scale, away)
        if self._is_wide(rule, scale):
            self._widen(op, integers, [*operands, *constants], results)
        inputs = [integers.get(int(index), int(index)) for index in op.inputs]
        self._rewire(op, inputs, [integers.get(int(result), int(result)) for result in op.outputs])
        for operand in operands:
            self._drop_unread(operand)
        return True

    def _is_possible(
        self,
        operands: Collection[int],
        results: Collection[int],
        sources: Mapping[int, int],
        rule: IntegerRule,
    ) -> bool:
        """Whether an op has real numbers, all of a known range or scale."""
        if not operands or (rule.results != 0 and not results):
            return False
        known = {operand for operand in operands if self._dequantized(operand) >= 0}
        known |= {operand for operand in operands if self._bytes_operand(operand) >= 0}
        unread = {result for result in results if not self._is_used(result)}  # which the calibration does not see
        if not all(self._has_range(index) for index in ({*operands, *results} - known - unread)):
            return False
        return all(sources[result] in operands for result in results if result in sources)

    def _integer_operands(self, op: Any, operands: Collection[int]) -> tuple[dict[int, int], set[int]]:
        """Returns the integers of operands, and those of them that are new, whose scale may yet change."""
        integers: dict[int, int] = {}
        added: set[int] = set()
        for operand in operands:
            integers[operand] = self._dequantized(operand)
            if integers[operand] < 0:
                of_bytes = self._bytes_operand(operand)
                integers[operand] = self._add_integers(operand)
                added.add(integers[operand])
                if of_bytes >= 0:  # an input of the model
                    self.tensor(integers[operand]).quantization = _as_int8(self.tensor(of_bytes).quantization)
                self._insert(op, "QUANTIZE", of_bytes if of_bytes >= 0 else operand, integers[operand])
        return integers, added

    def _integer_result(self, op: Any, result: int, wanted: Any, operand: int) -> int:
        """Returns the integers of a result, and converts them for who reads it.

        Args:
            op: The op.
            result: Its result, in floating point.
            wanted: The scale that the integers must have; None for any.
            operand: The new operand that the scale is of; -1 for none.
        """
        integers, conversion = self._quantized_result(result)
        made = integers
        if wanted is not None:
            if conversion is None:
                self.tensor(integers).quantization = wanted
            elif operand >= 0 and _are_near(wanted, self.tensor(integers).quantization):
                self.tensor(operand).quantization = self.tensor(integers).quantization
            elif not _are_near(wanted, self.tensor(integers).quantization, 0):
                made = self._add_integers(result)
                self.tensor(made).quantization = wanted
                self._behind[id(op)].append(self._made("QUANTIZE", made, integers))
        if conversion is not None:
            self._remove(conversion)
        taken = {self._type, *(["uint8"] if self._bits == 8 else [])}
        for reader in [*self._readers[result]]:  # QUANTIZE takes both
            if self.kind(reader) == "QUANTIZE" and dtype_of(self.tensor(reader.outputs[0])) in taken:
                self._rewire(reader, [integers], [*reader.outputs])
        if self._is_used(result):
            self._behind[id(op)].append(self._made("DEQUANTIZE", integers, result))
        return made

    def _common_scale(
        self,
        rule: IntegerRule,
        integers: Mapping[int, int],
        operands: Collection[int],
        constants: Mapping[int, Any],
        results: Collection[int],
    ) -> Scale:
        """Returns the scale that the operands must have."""
        if rule.scales == "result":
            (result,) = results
            scale = self.scale(integers[result])
            assert scale is not None
            return scale
        scales = [scale for operand in operands if (scale := self.scale(integers[operand])) is not None]
        limits = np.iinfo(self._type)
        ends = [scale.scale * (limit - scale.zero) for scale in scales for limit in (limits.min, limits.max)]
        ends += [float(end) for value in constants.values() if value.size for end in (value.min(), value.max())]
        of_first = [scales[0].scale * (limit - scales[0].zero) for limit in (limits.min, limits.max)]
        if len(set(scales)) == 1 and of_first[0] <= min(ends) and max(ends) <= of_first[1]:
            return scales[0]
        return scale_of(min(ends), max(ends), self._bits)

    def _integer_constant(self, index: int, value: Any, scale: Scale | None, away: float) -> int:
        scale = scale or symmetric(float(np.abs(value).max(initial=0)), self._bits)
        integers = integers_of(value + away * scale.scale, scale, self._type)
        return self.add_constant(f"{self.name(index)}_{self._type}", integers, scale)

    def _is_wide(self, rule: IntegerRule, scale: Scale | None) -> bool:
        """Whether the op takes its integers as int32."""
        if rule.scales == "alike" and len(rule.operands or ()) > 1 and self._bits == 8 and scale is not None:
            return not _LEAST_COMPARED <= scale.scale < 1
        return self._bits in rule.wide

    def _widen(self, op: Any, integers: dict[int, int], operands: Collection[int], results: Collection[int]) -> None:
        """Has an op compute with int32; if it has results, without the zero points::

        %y = cumsum(%x: int8)    -->   %0 = cast(quantize(%x))
                                       %y = quantize(cumsum(%0))
        """
        for operand in operands:
            index = integers[operand]
            scale = self.scale(index)
            assert scale is not None
            value = self.constant(index, np.dtype(self._type))
            if value is not None:
                integers[operand] = self.add_constant(f"{self.name(index)}_int32", value.astype(np.int32))
                continue
            if results and scale.zero:
                index = self._add_like(index, "int16", Scale(scale.scale), self._insert(op, "QUANTIZE", index, -1))
            integers[operand] = self._cast(op, index)
            for result in results:
                integers[result] = self._narrowed(op, integers[result], Scale(scale.scale))

    def _narrowed(self, op: Any, integers: int, scale: Scale) -> int:
        """Has integers be made of int32 of another scale, which it returns."""
        conversion = self._made("QUANTIZE", -1, integers)
        self._behind[id(op)].insert(0, conversion)
        wide = self._add_like(integers, "int32", scale, None)
        self._rewire(conversion, [wide], [*conversion.outputs])
        return wide

    def read_integers(self, op: Any) -> bool:
        """Has an op that reads a shape read that of the integers, where they were dequantized for it."""
        real = int(op.inputs[0])
        integers = self._dequantized(real)
        if integers >= 0:
            self._rewire(op, [integers], [*op.outputs])
            self._drop_unread(real)
        return integers >= 0

    def cast_integers(self, op: Any) -> bool:
        """Has CAST make integers with a scale of bools and integers without one; whether that was possible::

        %y = cast(%x: bool)    -->   %y: int8, of scale 1
        %y = cast(%x: int64)   -->   %y = quantize(cast(%x): int32, of scale 1)
        """
        source, result = int(op.inputs[0]), int(op.outputs[0])
        dtype, made = dtype_of(self.tensor(source)), self._type
        if dtype not in _CAST or not self._is_activation(result) or not self._has_range(result):
            return False
        if dtype == "bool":
            integers = self._integer_result(op, result, _parameters(Scale(1.0)), -1)
        else:
            integers, made = self._narrowed(op, self._integer_result(op, result, None, -1), Scale(1.0)), "int32"
        _set_types(op, self.tensor(source).type, made)
        self._rewire(op, [source], [integers])
        return True

    def look_up(self, op: Any, function: TableFunction) -> None:
        """Has an op give what a function is of integers, by a table of all of them."""
        rule = IntegerRule(frozenset({self._bits}), results=None if function.is_real else 0)
        if not self.make_integer(op, rule):
            raise QuantizationError(f"{function.result!r} is a function of {function.operand!r} without a range")
        operand, result = int(op.inputs[0]), int(op.outputs[0])
        scale, limits = self.scale(operand), np.iinfo(self._type)
        assert scale is not None
        integers = np.arange(limits.min, limits.max + 1)
        with np.errstate(all="ignore"):
            values = function.values(((integers - scale.zero) * scale.scale).astype(np.float32))
        of_result = self.scale(result)
        name = self.name(result)
        if of_result is not None:
            values = integers_of(values, of_result, self._type)
        table = self.add_constant(f"{name}/table", values, of_result)
        shifted = self._cast(op, operand)
        index = self._add_like(operand, "int32", None, self._insert(op, "ADD", shifted, -1))
        first = self.add_constant(f"{name}/first", np.array(-limits.min, np.int32))
        added = self._before[id(op)][-1]
        self._rewire(added, [shifted, first], [index])
        set_options(added, made("AddOptions"))
        set_options(op, made("GatherOptions"))
        self._rewire(op, [table, index], [result])

    def _cast(self, op: Any, index: int) -> int:
        """Casts an operand to int32."""
        cast = self._insert(op, "CAST", index, -1)
        _set_types(cast, self.tensor(index).type, "int32")
        return self._add_like(index, "int32", None, cast)

    def _add_like(self, index: int, dtype: str, scale: Scale | None, maker: Any) -> int:
        """Adds a tensor of the shape of another one, which an op makes."""
        tensor = copy(self.tensor(index))
        tensor.name, tensor.buffer = self._new_name(f"{self.name(index)}_{dtype}"), 0
        tensor.type, tensor.quantization = DTYPE_NUMBERS[dtype], None if scale is None else _parameters(scale)
        self.graph.tensors.append(tensor)
        made = len(self.graph.tensors) - 1
        if maker is not None:
            self._rewire(maker, [*maker.inputs], [made])
        return made

    def _is_activation(self, index: int) -> bool:
        buffer = self.model.buffers[self.tensor(index).buffer]
        return self.is_type(index, "float32") and buffer.data is None and buffer.size <= 0

    def _has_range(self, index: int) -> bool:
        range_ = self._ranges.get(self.name(index))
        return range_ is not None and bool(np.isfinite([range_["min"][0], range_["max"][0]]).all())

    def _bytes_operand(self, index: int) -> int:
        """Returns what DEQUANTIZE makes a tensor of, if that is an input of uint8 beside int8; else -1."""
        source = self._dequantized(index, "uint8")
        return source if self._bits == 8 and source in self.graph.inputs else -1

    def _dequantized(self, index: int, dtype: str | None = None) -> int:
        """Returns what DEQUANTIZE makes a tensor of, if it is of a type, by default of these integers; else -1."""
        op = self._makers.get(index)
        if op is None or self.kind(op) != "DEQUANTIZE" or not self.is_type(op.inputs[0], dtype or self._type):
            return -1
        return int(op.inputs[0])

    def _quantized_result(self, index: int) -> tuple[int, Any]:
        """Returns what QUANTIZE makes of a tensor, with that op; or a new tensor, and None."""
        for op in self._readers[index]:
            if self.kind(op) == "QUANTIZE" and self.is_type(op.outputs[0], self._type):
                return int(op.outputs[0]), op
        return self._add_integers(index), None

    def _is_used(self, index: int) -> bool:
        """Whether something reads a tensor."""
        return self.is_output(index) or bool(self._readers[index])

    def _add_integers(self, like: int) -> int:
        """Adds the quantized form of a tensor; returns its index."""
        tensor = copy(self.tensor(like))
        tensor.name = self._new_name(f"{self.name(like)}_quantized")
        tensor.type, tensor.buffer = DTYPE_NUMBERS[self._type], 0
        range_ = self._ranges.get(self.name(like))
        ends = (0.0, 0.0) if range_ is None else (float(range_["min"][0]), float(range_["max"][0]))
        tensor.quantization = _parameters(scale_of(*ends, self._bits))
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def _new_name(self, name: str) -> bytes:
        """Returns a name that no tensor of the subgraph has."""
        names = itertools.chain([name], (f"{name}#{number}" for number in itertools.count(2)))
        new = next(other for other in names if other not in self._names)
        self._names.add(new)
        return new.encode()

    def _insert(self, op: Any, kind: str, operand: int, result: int) -> Any:
        """Adds a conversion before an op."""
        conversion = self._made(kind, operand, result)
        self._before[id(op)].append(conversion)
        return conversion

    def _made(self, kind: str, operand: int, result: int) -> Any:
        """Makes an op, of any version that the model has already."""
        codes: list[Any] = self.model.operatorCodes
        if kind not in self._codes:
            kinds = [op_name(code) for code in codes]
            if kind not in kinds:
                codes.append(made("OperatorCode", builtinCode=OP_NUMBERS[kind]))
            self._codes[kind] = kinds.index(kind) if kind in kinds else len(codes) - 1
        op = made("Operator", opcodeIndex=self._codes[kind], inputs=[operand], outputs=[result])
        self._enter(op)
        return op

    def _enter(self, op: Any) -> None:
        for operand in dict.fromkeys(map(int, op.inputs)):
            self._readers[operand].append(op)
        for result in map(int, op.outputs):
            self._makers[result] = op

    def _leave(self, op: Any) -> None:
        for operand in dict.fromkeys(map(int, op.inputs)):
            self._readers[operand] = [reader for reader in self._readers[operand] if reader is not op]
        for result in map(int, op.outputs):
            if self._makers.get(result) is op:
                del self._makers[result]

    def _rewire(self, op: Any, inputs: list[int], outputs: list[int]) -> None:
        self._leave(op)
        op.inputs, op.outputs = inputs, outputs
        self._enter(op)

    def _remove(self, op: Any) -> None:
        self._leave(op)
        self._removed.add(id(op))

    def _drop_unread(self, index: int) -> None:
        """Removes the DEQUANTIZE that makes a tensor, if nothing reads that any more."""
        op = self._makers.get(index)
        if op is not None and self.kind(op) == "DEQUANTIZE" and not self._is_used(index):
            self._remove(op)


def _set_types(cast: Any, operand: int, result: str) -> None:
    set_options(cast, made("CastOptions", inDataType=operand, outDataType=DTYPE_NUMBERS[result]))


def _parameters(scale: Scale) -> Any:
    return made("QuantizationParameters", scale=[scale.scale], zeroPoint=[scale.zero])


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
