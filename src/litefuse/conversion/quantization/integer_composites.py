"""Composites that take and give integers, in models of integers."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from litefuse.litert.runtime.schema_objects import dtype_of, op_names

__all__ = ["take_conversions_in"]

_INTEGERS = frozenset({"int8", "uint8", "int16"})


def take_conversions_in(model: Any, is_taken: Callable[[str], bool]) -> bool:
    """Moves the conversions around composites into their bodies, which compute in floating point as before::

        x: int8 -> DEQUANTIZE -> Composite: float32 -> QUANTIZE -> y: int8     -->     x: int8 -> Composite -> y: int8

        body: x: float32 -> ... -> y: float32      -->      body: x: int8 -> DEQUANTIZE -> ... -> QUANTIZE -> y: int8

    A kernel that is generated from such a body reads and writes integers, and no tensor of floating point stands
    between it and its neighbors. The numbers are the same. Composites with one body get a body each.

    Args:
        model: The quantized model, as the schema's objects.
        is_taken: Says of a composite's name whether its conversions are moved.

    Returns:
        Whether it changed.
    """
    kinds = op_names(model)
    if "STABLEHLO_COMPOSITE" not in kinds:
        return False
    changed = False
    # Loops, branches and other composites keep the types of their op.
    for index in sorted({int(signature.subgraphIndex) for signature in model.signatureDefs or ()}):
        subgraph = model.subgraphs[index]
        for op in list(subgraph.operators or ()):
            if kinds[op.opcodeIndex] == "STABLEHLO_COMPOSITE" and is_taken(op.builtinOptions2.name.decode()):
                changed = _Taking(model, kinds, subgraph, op).apply() or changed
    return changed


class _Taking:
    """The change of one composite."""

    def __init__(self, model: Any, kinds: list[str], subgraph: Any, op: Any) -> None:
        self._model = model
        self._kinds = kinds
        self._subgraph = subgraph
        self._op = op
        self._operators: list[Any] = subgraph.operators
        self._made_by = {int(result): operator for operator in self._operators for result in operator.outputs}

    def apply(self) -> bool:
        """Moves the conversions; whether there are any."""
        operands = {place: made for place, each in enumerate(self._op.inputs) if (made := self._before(int(each)))}
        results = {place: found for place, each in enumerate(self._op.outputs) if (found := self._behind(int(each)))}
        if not operands and not results:
            return False
        body = self._own_body()
        self._op.inputs, self._op.outputs = (
            [int(input_) for input_ in self._op.inputs],
            [int(output) for output in self._op.outputs],
        )
        for place, conversion in operands.items():
            source = int(conversion.inputs[0])
            self._take_operand(body, place, conversion, self._subgraph.tensors[source])
            self._op.inputs[place] = source
        for place, conversions in results.items():
            first = conversions[0]
            self._take_result(body, place, first, self._subgraph.tensors[int(first.outputs[0])])
            self._op.outputs[place] = first.outputs[0]
            for other in conversions:
                self._operators[:] = [operator for operator in self._operators if operator is not other]
                self._read_instead(int(other.outputs[0]), int(first.outputs[0]))
        for conversion in operands.values():
            if not self._readers(int(conversion.outputs[0])):
                self._operators[:] = [operator for operator in self._operators if operator is not conversion]
        return True

    def _before(self, index: int) -> Any | None:
        """Returns the op that makes an operand of integers."""
        made = self._made_by.get(index)
        if made is None or self._kinds[made.opcodeIndex] != "DEQUANTIZE":
            return None
        return made if self._is_quantized(int(made.inputs[0])) else None

    def _behind(self, index: int) -> list[Any] | None:
        """Returns the ops that make integers of a result, if nothing else reads it and they make the same ones."""
        readers = self._readers(index)
        if not readers or index in [int(output) for output in self._subgraph.outputs]:
            return None
        made = [int(reader.outputs[0]) for reader in readers if self._kinds[reader.opcodeIndex] == "QUANTIZE"]
        if len(made) != len(readers) or not all(map(self._is_quantized, made)):
            return None
        if len({self._scale(each) for each in made}) > 1:
            return None
        outputs = {int(output) for output in self._subgraph.outputs}
        return readers if len(made) == 1 or not outputs.intersection(made) else None

    def _readers(self, index: int) -> list[Any]:
        return [operator for operator in self._operators if index in [int(operand) for operand in operator.inputs]]

    def _read_instead(self, index: int, other: int) -> None:
        if index != other:
            for operator in self._operators:
                operator.inputs = [other if int(operand) == index else operand for operand in operator.inputs]

    def _is_quantized(self, index: int) -> bool:
        tensor = self._subgraph.tensors[index]
        scales = tensor.quantization.scale if tensor.quantization is not None else None
        return dtype_of(tensor) in _INTEGERS and scales is not None and len(scales) == 1

    def _scale(self, index: int) -> tuple[int, float, int]:
        tensor = self._subgraph.tensors[index]
        points = tensor.quantization.zeroPoint
        return int(tensor.type), float(tensor.quantization.scale[0]), int(points[0]) if points is not None else 0

    def _own_body(self) -> Any:
        """Returns the body of this composite alone."""
        options = self._op.builtinOptions2
        number = options.decompositionSubgraphIndex
        body = self._model.subgraphs[number]
        if sum(number == each for each in _bodies(self._model)) > 1:
            body = copy(body)
            options.decompositionSubgraphIndex = len(self._model.subgraphs)
            self._model.subgraphs.append(body)
        body.tensors, body.operators = list(body.tensors), [copy(operator) for operator in body.operators]
        body.inputs, body.outputs = [int(input_) for input_ in body.inputs], [int(output) for output in body.outputs]
        return body

    def _take_operand(self, body: Any, place: int, conversion: Any, outside: Any) -> None:
        """Has an argument of a body be integers."""
        real = body.inputs[place]
        body.inputs[place] = self._add_integers(body, real, outside)
        made = copy(conversion)
        made.inputs, made.outputs = [body.inputs[place]], [real]
        body.operators.insert(0, made)

    def _take_result(self, body: Any, place: int, conversion: Any, outside: Any) -> None:
        """Has a result of a body be integers."""
        real = body.outputs[place]
        body.outputs[place] = self._add_integers(body, real, outside)
        made = copy(conversion)
        made.inputs, made.outputs = [real], [body.outputs[place]]
        body.operators.append(made)

    def _add_integers(self, body: Any, real: int, outside: Any) -> int:
        tensor = copy(body.tensors[real])
        tensor.type, tensor.quantization = outside.type, outside.quantization
        tensor.buffer = 0
        tensor.name = body.tensors[real].name + b"_integers"
        body.tensors.append(tensor)
        return len(body.tensors) - 1


def _bodies(model: Any) -> list[int]:
    """Returns the numbers of the composites' bodies, each as often as it is used."""
    kinds = op_names(model)
    ops = [op for subgraph in model.subgraphs for op in subgraph.operators or ()]
    composites = [op for op in ops if kinds[op.opcodeIndex] == "STABLEHLO_COMPOSITE" and op.builtinOptions2 is not None]
    return [op.builtinOptions2.decompositionSubgraphIndex for op in composites]
