"""Composites that take and give integers, in models of integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

from litefuse.litert.export.editor import GraphEditor, Scale
from litefuse.litert.runtime.schema_objects import dtype_of

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
    changed = False
    # Loops, branches and other composites keep the types of their op.
    for number in sorted({int(signature.subgraphIndex) for signature in model.signatureDefs or ()}):
        graph = _Graph(model, number)
        for op in [*(graph.ops or ())]:
            if graph.kind(op) == "STABLEHLO_COMPOSITE" and is_taken(op.builtinOptions2.name.decode()):
                changed = graph.take_in(op) or changed
    return changed


class _Graph(GraphEditor):
    """A subgraph with composites."""

    def take_in(self, op: Any) -> bool:
        """Moves the conversions around a composite into its body; whether there are any."""
        operands = {place: made for place, index in enumerate(op.inputs) if (made := self._before(int(index)))}
        results = {place: readers for place, index in enumerate(op.outputs) if (readers := self._behind(int(index)))}
        if not operands and not results:
            return False
        body = self._own_body(op)
        op.inputs, op.outputs = [*map(int, op.inputs)], [*map(int, op.outputs)]
        for place, conversion in operands.items():
            op.inputs[place] = int(conversion.inputs[0])
            real, body.inputs[place] = (
                body.inputs[place],
                self._add_integers(body, body.inputs[place], op.inputs[place]),
            )
            body.operators.insert(0, _copied(conversion, body.inputs[place], real))
        for place, conversions in results.items():
            op.outputs[place] = int(conversions[0].outputs[0])
            real, made = body.outputs[place], self._add_integers(body, body.outputs[place], op.outputs[place])
            body.outputs[place] = made
            body.operators.append(_copied(conversions[0], real, made))
            for conversion in conversions:
                self.remove_op(conversion)
                for reader in self.consumers(int(conversion.outputs[0])):
                    self.replace_input(reader, int(conversion.outputs[0]), op.outputs[place])
        for conversion in operands.values():
            if not any(self.consumers(int(conversion.outputs[0]))):
                self.remove_op(conversion)
        return True

    def _before(self, index: int) -> Any | None:
        """Returns the op that makes an operand of integers."""
        op = self.producer(index)
        return op if op is not None and self.kind(op) == "DEQUANTIZE" and self._integers(int(op.inputs[0])) else None

    def _behind(self, index: int) -> list[Any] | None:
        """Returns the ops that make integers of a result, if nothing else reads it and they make the same ones."""
        readers = [*self.consumers(index)]
        if self.is_output(index) or any(self.kind(reader) != "QUANTIZE" for reader in readers):
            return None
        made = [int(reader.outputs[0]) for reader in readers]
        integers = {self._integers(result) for result in made}
        if len(integers) != 1 or None in integers:
            return None
        return readers if len(made) == 1 or not any(map(self.is_output, made)) else None

    def _integers(self, index: int) -> tuple[str, Scale] | None:
        """Returns the dtype and the scale of integers; None for other tensors."""
        dtype, scale = dtype_of(self.tensor(index)), self.scale(index)
        return (dtype, scale) if dtype in _INTEGERS and scale is not None else None

    def _own_body(self, op: Any) -> Any:
        """Returns the body of this composite alone."""
        options, subgraphs = op.builtinOptions2, self.model.subgraphs
        number = options.decompositionSubgraphIndex
        body = subgraphs[number]
        if sum(number == other for other in self._bodies()) > 1:
            body = copy(body)
            options.decompositionSubgraphIndex = len(subgraphs)
            subgraphs.append(body)
        body.tensors, body.operators = list(body.tensors), [copy(operator) for operator in body.operators]
        body.inputs, body.outputs = [*map(int, body.inputs)], [*map(int, body.outputs)]
        return body

    def _bodies(self) -> Iterator[int]:
        """Yields the numbers of the composites' bodies, each as often as it is used."""
        for op in (op for subgraph in self.model.subgraphs for op in subgraph.operators or ()):
            if self.kind(op) == "STABLEHLO_COMPOSITE" and op.builtinOptions2 is not None:
                yield op.builtinOptions2.decompositionSubgraphIndex

    def _add_integers(self, body: Any, real: int, outside: int) -> int:
        """Adds the integers of a tensor to a body, of the dtype and scale that they have outside of it."""
        tensor = copy(body.tensors[real])
        tensor.type, tensor.quantization = self.tensor(outside).type, self.tensor(outside).quantization
        tensor.buffer = 0
        tensor.name = body.tensors[real].name + b"_integers"
        body.tensors.append(tensor)
        return len(body.tensors) - 1


def _copied(conversion: Any, operand: int, result: int) -> Any:
    made = copy(conversion)
    made.inputs, made.outputs = [operand], [result]
    return made
