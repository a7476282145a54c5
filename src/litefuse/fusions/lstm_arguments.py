"""Arguments and gates of ``lstm_loop``, the composite of recognized LSTM layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from litefuse.fusions.layer_arguments import Argument, size

if TYPE_CHECKING:
    from litefuse.fusions.composite import Composite

__all__ = ["GATE_NAMES", "gate_letters", "gate_order", "layer_arguments", "usual_gates"]

#: The names of the gates by their letters.
GATE_NAMES = {"i": "input", "f": "forget", "c": "cell", "o": "output"}


def usual_gates(attributes: Mapping[str, Any], letters: str) -> str:
    """Returns the default order of the gates, if the attribute ``gates`` is missing.

    Args:
        attributes: The composite's attributes.
        letters: The letters of the existing gates.
    """
    order = "icfo" if attributes.get("joint_kernel") else "ifco"
    return "".join(letter for letter in order if letter in letters)


def gate_letters(attributes: Mapping[str, Any]) -> str:
    """Returns the first letters of the existing gates, in LiteRT's order."""
    return "fco" if attributes.get("coupled_gates") else "ifco"


def gate_order(attributes: Mapping[str, Any]) -> str:
    """Returns the first letters of the gates, in their order in the weights."""
    return attributes.get("gates") or usual_gates(attributes, gate_letters(attributes))


def layer_arguments(composite: Composite) -> list[Argument]:
    """Returns the arguments that the composite should have according to its attributes."""
    attributes, letters = composite.attributes, gate_letters(composite.attributes)
    rows_are_outputs = bool(attributes.get("outputs_first"))
    per_gate, joint = bool(attributes.get("matrix_per_gate")), bool(attributes.get("joint_kernel"))
    columns = size(composite, 3, 0 if rows_are_outputs else 1)
    units = columns if per_gate else columns // len(letters)
    outputs = size(composite, len(composite.args) - 1, 1) if attributes.get("projection") else units
    rows = size(composite, 3, 1 if rows_are_outputs else 0)
    inputs = rows - outputs if joint else rows
    kernels = {"kernel": (rows, columns), "recurrent kernel": (outputs, columns)}
    if joint:
        del kernels["recurrent kernel"]
    shapes: dict[str, tuple[int, ...]] = {
        name: shape[::-1] if rows_are_outputs else shape for name, shape in kernels.items()
    }
    others: list[Argument] = []
    if attributes.get("peepholes"):
        gates = [GATE_NAMES[letter] for letter in letters if letter != "c"]
        others += [Argument(f"the peephole of the {gate} gate", (units,)) for gate in gates]
    if attributes.get("projection"):
        others.append(Argument("the projection", (units, outputs)))
    given = [
        Argument("inputs", (None, None, inputs), is_weight=False),
        Argument("the initial h", (None, outputs), is_weight=False),
        Argument("the initial c", (None, units), is_weight=False),
    ]
    count = len(letters) if per_gate else 1
    left = len(composite.args) - len(given) - count * len(shapes) - len(others)
    biases = ["bias"] if left > 0 else []
    biases += ["second bias"] if left > 1 and not per_gate else []
    shapes |= dict.fromkeys(biases, (columns,))
    if per_gate:
        gates = [GATE_NAMES[letter] for letter in letters]
        weights = [Argument(f"the {gate} gate's {name}", shape) for name, shape in shapes.items() for gate in gates]
    else:
        weights = [Argument(f"the {name}", shape) for name, shape in shapes.items()]
    return [*given, *weights, *others]
