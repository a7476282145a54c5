"""Recurrent cells: the computation of one step of a recurrent layer, and the plainest of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from litefuse.fusions.recognizers.matching import Match
from litefuse.fusions.recognizers.pattern import Function, Pattern, Place, Variable, concat, matmul
from litefuse.ir.defining_ops import constant_number, same
from litefuse.ir.mlir import ir


@dataclass(frozen=True, eq=False)
class Activations:
    """A function in a cell that may be any.

    Attributes:
        function: Its place in the formula.
        names: The functions that LiteRT's op supports: by the name in TensorFlow, the value of the composite's
            attribute. The first one is the default, which has no attribute.
    """

    function: Function
    names: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Cell:
    """One way to write a step of a recurrent layer.

    Attributes:
        kind: The kind of the layer in a word: ``LSTM``.
        composite: The name of the composite that a layer of it becomes.
        op: LiteRT's op for it; None if there is none.
        x: The step's input.
        states: The states before the step; the first is the output of the previous step.
        weights: The values that are the same in every step, in the order of the composite's arguments. Optional parts
            of the formula are omitted where a model lacks them.
        results: The states after the step; the first is the step's output.
        attributes: The composite's attributes.
        numbers: Those attributes that are constants of the graph; omitted where the formula lacks them.
        activations: Those that are functions.
        signs: Those that are true if the match has one of some parts.
        together: Groups of parts of which a match has all or none.
        gates: The places of the gates, by their letters in the attribute ``gates``, which gives their order.
        usual_gates: The order that has no attribute, given the other attributes.
        is_consistent: A further condition on a match.
    """

    kind: str
    composite: str
    op: str | None
    x: Variable
    states: tuple[Variable, ...]
    weights: tuple[Variable, ...]
    results: tuple[Pattern, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    numbers: Mapping[str, Variable] = field(default_factory=dict[str, Variable])
    activations: Mapping[str, Activations] = field(default_factory=dict[str, Activations])
    signs: Mapping[str, Sequence[Pattern]] = field(default_factory=dict[str, Sequence[Pattern]])
    together: Sequence[Sequence[Pattern]] = ()
    gates: Mapping[str, Place] = field(default_factory=dict[str, Place])
    usual_gates: Callable[[Mapping[str, Any]], str] = lambda _: ""
    is_consistent: Callable[[Match], bool] = lambda _: True

    def is_constant(self, variable: Variable) -> bool:
        """Whether a variable is the same in every step."""
        return variable is not self.x and variable not in self.states


class Step(NamedTuple):
    """One step of a layer in a model.

    Attributes:
        cell: The way in which it is written.
        x: The step's input.
        states: The states before the step.
        results: The states after it.
        weights: The weights.
        variables: The variables of the cell that the weights are bound to.
        attributes: The composite's attributes.
        lacking: The activations that LiteRT's op does not support.
        computed: The values that it computes.
    """

    cell: Cell
    x: ir.Value
    states: tuple[ir.Value, ...]
    results: tuple[ir.Value, ...]
    weights: tuple[ir.Value, ...]
    variables: tuple[Variable, ...]
    attributes: Mapping[str, Any]
    lacking: tuple[str, ...]
    computed: tuple[ir.Value, ...]

    def is_like(self, other: Step) -> bool:
        """Whether another step has the same formula and the same weights."""
        return (
            self.cell is other.cell
            and self.attributes == other.attributes
            and self.variables == other.variables
            and all(same(mine, its) for mine, its in zip(self.weights, other.weights, strict=True))
        )


def matrix(name: str) -> Variable:
    """Returns a variable for a weight that is a matrix."""
    return Variable(name, lambda value: _is_float32(value, 2))


def vector(name: str) -> Variable:
    """Returns a variable for a weight that is a vector."""
    return Variable(name, lambda value: _is_float32(value, 1))


def number(name: str) -> Variable:
    """Returns a variable for a constant number."""
    return Variable(name, lambda value: constant_number(value) is not None)


def _is_float32(value: ir.Value, rank: int) -> bool:
    kind = ir.ShapedType(value.type)
    return kind.has_rank and kind.rank == rank and kind.has_static_shape and str(kind.element_type) == "f32"


def read_step(cell: Cell, found: Match) -> Step | None:
    """Returns the parts of a step where it was found; None if they do not go together."""
    torn = any(len({part in found.values for part in group}) > 1 for group in cell.together)
    if torn or not cell.is_consistent(found):
        return None
    present = tuple(weight for weight in cell.weights if weight in found.values)
    attributes = dict(cell.attributes)
    for name, variable in cell.numbers.items():
        if variable in found.values:
            value = constant_number(found[variable])
            assert value is not None
            attributes[name] = value
    attributes |= {name: True for name, some in cell.signs.items() if any(part in found.values for part in some)}
    letters = {found.places[place]: letter for letter, place in cell.gates.items() if place in found.places}
    order = "".join(letters[index] for index in sorted(letters))
    if len(order) < len(cell.gates):
        return None  # one part is bound to two gates
    if order and order != cell.usual_gates(attributes):
        attributes["gates"] = order
    lacking: list[str] = []
    for name, activations in cell.activations.items():
        function = found.functions[activations.function]
        default = next(iter(activations.names))
        if function not in activations.names:
            lacking.append(function or "none")
        if function != default:
            attributes[name] = activations.names.get(function, function.lower() or "linear")
    return Step(
        cell,
        found[cell.x],
        tuple(found[state] for state in cell.states),
        tuple(found[result] for result in cell.results),
        tuple(found[weight] for weight in present),
        present,
        attributes,
        tuple(lacking),
        tuple(value for part, value in found.values.items() if not isinstance(part, Variable)),
    )


def simple_rnn_cells() -> Iterator[Cell]:
    """Yields the SimpleRNNs of Keras, Flax, Haiku and PyTorch, and the BasicRNNCell of TensorFlow 1.

    Definitions: https://keras.io/api/layers/recurrent_layers/simple_rnn/, ``SimpleRNNCell.call``; ``BasicRNNCell`` in
    https://github.com/keras-team/tf-keras/blob/master/tf_keras/layers/rnn/legacy_cells.py.
    """
    for biases in (1, 0, 2):
        yield _cell(biases)
    for biases in (1, 0):
        yield _cell(biases, joint_kernel=True)
    for biases in (1, 0, 2):
        yield _cell(biases, outputs_first=True)


def _cell(biases: int, *, joint_kernel: bool = False, outputs_first: bool = False) -> Cell:
    x, h = Variable("the step's input"), Variable("the last output")
    kernel, recurrent = matrix("a kernel"), matrix("a kernel")
    activation = Function("the activation")
    if joint_kernel:
        z = matmul(concat([x, h]), kernel)
    else:
        z = matmul(x, kernel, transpose_b=outputs_first) + matmul(h, recurrent, transpose_b=outputs_first)
    added = [vector("a bias") for _ in range(biases)]
    return Cell(
        kind="SimpleRNN",
        composite="rnn_loop",
        op="UNIDIRECTIONAL_SEQUENCE_RNN",
        x=x,
        states=(h,),
        weights=(kernel, *([] if joint_kernel else [recurrent]), *added),
        results=(activation(sum(added, z)),),
        attributes={"joint_kernel": True} if joint_kernel else {"outputs_first": True} if outputs_first else {},
        activations={"activation": Activations(activation, {"Tanh": "tanh", "Relu": "relu", "Relu6": "relu6"})},
    )
