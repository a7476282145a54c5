"""Whether the values of a model's inputs, not their shapes, decide about sizes at an op."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from litefuse.litert.runtime.model_reader import Model, Op

__all__ = ["values_decide"]

# The operands whose values the sizes of results follow from, or have to agree with.
_SIZES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(["FILL", "TRANSPOSE_CONV", "CONV_3D_TRANSPOSE", "WHERE", "UNIQUE"], (0,)),
    **dict.fromkeys(["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"], (0,)),
    **dict.fromkeys(
        ["RESHAPE", "BROADCAST_TO", "TILE", "PAD", "PADV2", "MIRROR_PAD", "TRANSPOSE", "EXPAND_DIMS"], (1,)
    ),
    **dict.fromkeys(
        ["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SPLIT_V", "ONE_HOT", "TOPK_V2", "MULTINOMIAL"], (1,)
    ),
    **dict.fromkeys(["SEGMENT_SUM", "REDUCE_WINDOW"], (1,)),
    **dict.fromkeys(["SLICE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"], (1, 2)),
    **dict.fromkeys([f"UNSORTED_SEGMENT_{kind}" for kind in ("SUM", "PROD", "MIN", "MAX")], (2,)),
    **dict.fromkeys(["NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "SCATTER_ND"], (2,)),
    "SPARSE_TO_DENSE": (1,),
    "STRIDED_SLICE": (1, 2, 3),
    "RANGE": (0, 1, 2),
}
_SHAPES = {"SHAPE", "RANK"}


class _Question(NamedTuple):
    """Whether a tensor's values, or else its sizes, follow from values of inputs."""

    graph: int
    tensor: int
    of_values: bool


def values_decide(model: Model, graph: int, position: int) -> bool:
    """Whether sizes at an op follow from the values of inputs.

    With other values than the drawn ones, such an op may run: ``tf.reshape(x, shape)`` takes few shapes.

    Args:
        model: The model.
        graph: The index of the op's subgraph.
        position: The op's position in it.
    """
    search = _Search(model)
    asked = list(search.at(graph, model.graphs[graph].ops[position]))
    known = set(asked)
    while asked:
        question = asked.pop()
        if search.is_input(question):
            if question.of_values:
                return True
            continue  # its sizes are those that were tried
        new = set(search.before(question)) - known
        known |= new
        asked += new
    return False


class _Search:
    def __init__(self, model: Model) -> None:
        self._model = model
        self._producers = [
            {result: op for op in graph.ops for result in op.outputs if result >= 0} for graph in model.graphs
        ]
        # The operands that a called subgraph's inputs are.
        self._callers: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        for number, graph in enumerate(model.graphs):
            for op in graph.ops:
                operands = op.inputs[1:] if op.name == "IF" else op.inputs
                for callee in op.callees:
                    self._callers.setdefault(callee, []).append((number, operands))

    def is_input(self, question: _Question) -> bool:
        """Whether a tensor is an input of a signature, rather than one of a subgraph that an op calls."""
        return question.graph not in self._callers and question.tensor in self._model.graphs[question.graph].inputs

    def at(self, graph: int, op: Op) -> Iterator[_Question]:
        """Yields what the sizes at an op depend on: the values of some operands, the sizes of all."""
        operands = [operand for operand in op.inputs if operand >= 0]
        for operand in operands:
            yield _Question(graph, operand, of_values=False)
        for operand in operands if self._makes_sizes(graph, op) else ():
            yield _Question(graph, operand, of_values=True)
        for place in _SIZES.get(op.name, ()):
            if place < len(op.inputs) and op.inputs[place] >= 0:
                yield _Question(graph, op.inputs[place], of_values=True)

    def before(self, question: _Question) -> Iterator[_Question]:
        """Yields the questions that an answer depends on."""
        graph, tensor, of_values = question
        op = self._producers[graph].get(tensor)
        if op is None:  # a constant, or an input of a subgraph
            inputs = self._model.graphs[graph].inputs
            if tensor in inputs:
                place = inputs.index(tensor)
                for caller, operands in self._callers.get(graph, ()):
                    if place < len(operands) and operands[place] >= 0:
                        yield _Question(caller, operands[place], of_values)
        elif of_values and op.name not in _SHAPES:
            for operand in op.inputs:
                if operand >= 0:
                    yield _Question(graph, operand, of_values=True)
        else:
            yield from self.at(graph, op)

    def _makes_sizes(self, graph: int, op: Op) -> bool:
        """Whether an op that may do anything has results of dynamic sizes where its operands have none."""
        if not op.custom and op.name not in {"IF", "WHILE"}:
            return False
        tensor = self._model.graphs[graph].tensor
        dynamic = [None in tensor(index).shape for index in op.inputs if index >= 0]
        return not any(dynamic) and any(None in tensor(index).shape for index in op.outputs)
