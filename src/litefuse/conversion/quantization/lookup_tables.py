"""Functions of one number, written as several ops, as tables of all integers.

LiteRT has no integer kernels of ops such as FLOOR and SIN, and the error of a long chain of ops of integers grows with
each of them, as in the polynomials of erf and lgamma. What such ops compute of one tensor, element by element, is
computed for each integer once, and looked up::

    x: int8 -> CAST: int32 -> ADD 128 -> GATHER of 256 numbers -> y: int8

A table of int16 has 65,536 numbers, 128 KB: only ops without an integer kernel, and long chains, are worth one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.litert.export.editor import GraphEditor
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.schema_objects import dtype_of, flatbuffer_of, made

# The ops that compute each number of the result from one number of each operand.
_ELEMENTWISE = frozenset(
    {
        *("ABS", "ADD", "ATAN2", "CAST", "CEIL", "COS", "DIV", "ELU", "EQUAL", "EXP", "FLOOR", "FLOOR_DIV"),
        *("FLOOR_MOD", "GELU", "GREATER", "GREATER_EQUAL", "HARD_SWISH", "LEAKY_RELU", "LESS", "LESS_EQUAL", "LOG"),
        *("LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC", "MAXIMUM", "MINIMUM", "MUL", "NEG", "NOT_EQUAL"),
        *("POW", "PRELU", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "ROUND", "RSQRT", "SELECT", "SELECT_V2"),
        *("SIGN", "SIN", "SQRT", "SQUARE", "SQUARED_DIFFERENCE", "SUB", "TANH", "ZEROS_LIKE"),
    }
)
# A chain of as many ops is longer than its table is worth. Three ops look a number up, in 3 ns on a desktop processor,
# on which XNNPACK computes most ops of int8 in less than a tenth of that.
_LONG = 12


class TableFunction(NamedTuple):
    """A function that ops compute of each number of a tensor.

    Attributes:
        operand: The tensor's name.
        result: The name of the last op's result.
        results: The names of the first results of all the ops, in their order.
        is_real: Whether the result is of real numbers; else it is of bools.
        values: Computes it for numbers of shape ``[n]``.
    """

    operand: str
    result: str
    results: tuple[str, ...]
    is_real: bool
    values: Callable[[npt.NDArray[np.float32]], npt.NDArray[Any]]


def table_functions(
    model: Any, number: int, ranges: Ranges, lacking: Callable[[Any], bool], real: Collection[str]
) -> Iterator[TableFunction]:
    """Yields what is to be looked up in a subgraph.

    Args:
        model: The model in floating point, as the schema's objects.
        number: The subgraph.
        ranges: The ranges of its tensors.
        lacking: Whether an op has no integer kernel.
        real: The names of results whose ops stay in floating point.
    """
    graph = _Functions(model, number, ranges, real)
    for result, operand in graph.ends():
        ops = graph.between(operand, result)
        if len(ops) >= _LONG or any(map(lacking, ops)):
            names = tuple(graph.name(int(op.outputs[0])) for op in ops)
            is_real, values = graph.is_type(result, "float32"), graph.computed(operand, ops)
            yield TableFunction(graph.name(operand), graph.name(result), names, is_real, values)


class _Functions(GraphEditor):
    """A subgraph of a model in floating point, with the tensors that each result is a function of."""

    def __init__(self, model: Any, number: int, ranges: Ranges, real: Collection[str]) -> None:
        super().__init__(model, number)
        self._ranges = ranges
        self._makers: dict[int, Any] = {}
        self._readers: dict[int, list[Any]] = {}
        self._order = {id(op): place for place, op in enumerate(self.ops or ())}
        # The tensors that a tensor is a function of, itself first, then what is farther away.
        self._sources: dict[int, tuple[int, ...]] = {}
        for op in self.ops or ():
            for operand in {*map(int, op.inputs)}:
                self._readers.setdefault(operand, []).append(op)
            if self.kind(op) in _ELEMENTWISE and self.name(int(op.outputs[0])) not in real:
                self._follow(op)

    def _follow(self, op: Any) -> None:
        result = int(op.outputs[0])
        operands = [operand for operand in {*map(int, op.inputs)} if not self._is_constant(operand)]
        chains = [self._sources.get(operand, (operand,)) for operand in operands]
        common = [tensor for tensor in chains[0] if all(tensor in chain for chain in chains)] if chains else []
        if common and self.shape(common[0]) == self.shape(result) and self._are_single(op, result):
            self._makers[result] = op
            self._sources[result] = (result, *common)

    def _are_single(self, op: Any, result: int) -> bool:
        """Whether all numbers of each constant are the same, and it has no more than the result."""
        for operand in map(int, op.inputs):
            if self._is_constant(operand):
                value = self._values(operand)
                if value is None or len(self.shape(operand)) > len(self.shape(result)):
                    return False
                if not value.size or not (value == value.flat[0]).all():
                    return False
        return True

    def _is_constant(self, index: int) -> bool:
        return index >= 0 and self.model.buffers[self.tensor(index).buffer].data is not None

    def _values(self, index: int) -> npt.NDArray[Any] | None:
        dtype = dtype_of(self.tensor(index))
        return self.constant(index, dtype) if dtype in {"float32", "int32", "int64", "bool"} else None

    def ends(self) -> Iterator[tuple[int, int]]:
        """Yields the results that other ops read, with the farthest tensor that they are functions of."""
        for result, chain in self._sources.items():
            sources = [tensor for tensor in chain[1:] if self._is_known(tensor)]
            if not sources or not (self.is_type(result, "bool") or self._is_known(result)):
                continue
            readers = [int(op.outputs[0]) if len(op.outputs) else -1 for op in self._readers.get(result, ())]
            inside = [reader for reader in readers if sources[-1] in self._sources.get(reader, ())[1:]]
            if self.is_output(result) or len(inside) < len(readers):
                yield result, sources[-1]

    def _is_known(self, index: int) -> bool:
        """Whether a tensor has finite real numbers."""
        range_ = self._ranges.get(self.name(index))
        return self.is_type(index, "float32") and range_ is not None and bool(np.isfinite([*range_.values()]).all())

    def between(self, operand: int, result: int) -> list[Any]:
        """Returns the ops that compute a tensor from another one."""
        taken: dict[int, Any] = {}
        begun = [result]
        while begun:
            index = begun.pop()
            if index != operand and index in self._makers and index not in taken:
                taken[index] = self._makers[index]
                begun += map(int, taken[index].inputs)
        return sorted(taken.values(), key=lambda op: self._order[id(op)])

    def computed(self, operand: int, ops: Collection[Any]) -> Callable[[npt.NDArray[np.float32]], npt.NDArray[Any]]:
        """Returns what computes these ops for other numbers of the operand, in LiteRT."""

        def values(numbers: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
            model = made("Model", version=3, operatorCodes=self.model.operatorCodes, buffers=[made("Buffer")])
            places: dict[int, int] = {}
            tensors: list[Any] = []

            def place(index: int) -> int:
                if index not in places:
                    tensor = copy(self.tensor(index))
                    tensor.shape, tensor.shapeSignature, tensor.buffer = [len(numbers)], None, 0
                    value = self._values(index) if self._is_constant(index) else None
                    if value is not None:
                        data = np.frombuffer(np.repeat(value.ravel()[:1], len(numbers)).tobytes(), np.uint8)
                        tensor.buffer = len(model.buffers)
                        model.buffers.append(made("Buffer", data=data))
                    places[index] = len(tensors)
                    tensors.append(tensor)
                return places[index]

            inputs, operators = [place(operand)], list[Any]()
            for op in ops:
                operators.append(copy(op))
                operators[-1].inputs = [place(int(index)) for index in op.inputs]
                operators[-1].outputs = [place(int(index)) for index in op.outputs]
            outputs = [*operators[-1].outputs]
            graph = made("SubGraph", tensors=tensors, inputs=inputs, outputs=outputs, operators=operators)
            model.subgraphs = [graph]
            interpreter: Any = Interpreter(model_content=bytes(flatbuffer_of(model)))
            interpreter.allocate_tensors()
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], numbers)
            interpreter.invoke()
            return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])

        return values


def place_tables(graph: GraphEditor, functions: Sequence[TableFunction]) -> dict[int, TableFunction]:
    """Replaces ops by one that is yet to look up what they compute; returns these, by their ids."""
    makers = {graph.name(int(op.outputs[0])): op for op in graph.ops or () if len(op.outputs)}
    tables: dict[int, TableFunction] = {}
    replaced: dict[int, Any] = {}
    for function in functions:
        ops = [makers[name] for name in function.results if name in makers]
        inside = {int(index) for op in ops for index in op.outputs}
        operands = {
            int(index)
            for op in ops
            for index in op.inputs
            if index not in inside and graph.model.buffers[graph.tensor(index).buffer].data is None
        }
        if len(ops) == len(function.results) and len(operands) == 1:
            lookup = graph.add_op(ops[-1], "GATHER", [*operands], [*ops[-1].outputs])
            tables[id(lookup)] = function
            replaced |= {id(op): op for op in ops}
    looked_up = {int(op.outputs[0]) for op in graph.ops or () if id(op) in tables}
    for op in [op for op in reversed(graph.ops or ()) if id(op) in replaced]:
        result = int(op.outputs[0])
        if result in looked_up or not (graph.is_output(result) or any(graph.consumers(result))):
            graph.remove_op(op)
    return tables
