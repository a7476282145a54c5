"""Arguments of composites that are recurrent layers, and which form of a layer is faster on a CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.targets import OWN, traits_of

if TYPE_CHECKING:
    from litefuse.fusions.composite import Composite
    from litefuse.ir.ops.dims import Shape

# The fused op is at least 1.1 times as fast as the loop, which more runtimes take, up to this many units, by the least
# number of steps, for a batch of one. Measured by
# benchmarks/recurrent.py: see docs/guides/recurrent.md. The loop's products run in XNNPACK and win as soon as they are
# large; the cost of passing a buffer of outputs between iterations grows with the square of the steps.
_LIMITS = {
    "lstm_loop": {0: 44, 60: 48, 400: 160},
    "rnn_loop": {0: 64, 60: 80, 400: 288},
}
# With a larger batch, the loop is even faster: XNNPACK computes the rows of a product together, the op one by one.
_OF_BATCH = 0.6

# An unrolled layer has XNNPACK's copy of the weights for each step: up to 4 MB it is faster than the op, from 16 MB on
# slower.
_GATES = {"lstm_loop": 4, "rnn_loop": 1}
_UNROLLED_WEIGHTS = 2**20


@dataclass(frozen=True)
class Argument:
    """An argument of a composite.

    Attributes:
        name: Its name in messages.
        shape: Its shape; None for arbitrary sizes.
        is_weight: Whether its sizes must be known.
    """

    name: str
    shape: Shape
    is_weight: bool = True


def size(composite: Composite, argument: int, axis: int) -> int:
    """Returns one size of an argument; 0 if it does not exist or is unknown."""
    kinds = composite.arg_types
    sizes = kinds[argument].sizes if argument < len(kinds) else ()
    return (sizes[axis] or 0) if axis < len(sizes) else 0


def only_last(composite: Composite) -> bool:
    """Whether a layer returns only the output of the last step."""
    return composite.result_tensor_types[0].sizes[0] == 1 and composite.arg_types[0].sizes[0] != 1


def argument_problem(composite: Composite, expected: Sequence[Argument], op: str) -> str | None:
    """Returns why a composite does not have a layer's interface ``f(inputs, states, weights) -> (outputs, states)``."""
    kinds, results = composite.arg_types, composite.result_tensor_types
    states = sum(1 for argument in expected if not argument.is_weight) - 1
    if len(kinds) != len(expected) or len(results) != 1 + states:
        return (
            f"it has {len(kinds)} arguments and {len(results)} results, not {len(expected)} "
            f"({', '.join(argument.name for argument in expected)}) and {1 + states}"
        )
    for argument, kind in zip(expected, kinds, strict=True):
        if kind.dtype != "float32" or kind.rank != len(argument.shape):
            return f"{argument.name} is {kind}; {op} takes float32, here of rank {len(argument.shape)}"
        if argument.is_weight and (None in kind.sizes or 0 in kind.sizes):
            return f"{argument.name} is {kind}; the weights' sizes must be known, and not 0"
        if any(None not in pair and pair[0] != pair[1] for pair in zip(argument.shape, kind.sizes, strict=True)):
            shown = ", ".join("?" if extent is None else str(extent) for extent in argument.shape)
            return f"{argument.name} is {kind}, which does not fit the other arguments; it should be [{shown}]"
    return None


def random_arguments(
    composite: Composite,
    expected: Sequence[Argument],
    unknown: int,
    random: np.random.Generator,
    scales: Mapping[str, float],
) -> list[npt.NDArray[Any]]:
    """Draws a layer's arguments so that they exercise all parts of it.

    Args:
        composite: The composite.
        expected: Its arguments.
        unknown: The size of unknown dimensions.
        random: The source of the values.
        scales: Standard deviations of some arguments by name. Others have 1, and kernels one that keeps products small.
    """
    inputs, *states = (kind.sizes for kind in composite.arg_types[: 1 + _states(expected)])
    batch = next((known for known in (inputs[1], *(state[0] for state in states)) if known is not None), unknown)
    values: list[npt.NDArray[Any]] = []
    for position, (argument, kind) in enumerate(zip(expected, composite.arg_types, strict=True)):
        shape = [wanted if known is None else known for known, wanted in zip(kind.sizes, argument.shape, strict=True)]
        if not argument.is_weight:
            shape[1 if position == 0 else 0] = batch
        sizes = [unknown if extent is None else extent for extent in shape]
        kernel = 1 / max(1, sizes[0]) ** 0.5 if argument.is_weight and len(sizes) == 2 else 1.0
        values.append(random.normal(0, scales.get(argument.name, kernel), sizes).astype(np.float32))
    return values


def _states(expected: Sequence[Argument]) -> int:
    return sum(1 for argument in expected if not argument.is_weight) - 1


def loop_is_faster(composite: str, units: int, steps: int | None, batch: int | None) -> bool:
    """Whether a recurrent layer runs faster as a loop than as its fused op, or as good as that.

    Args:
        composite: The name of the layer's composite, which gives its kind: ``lstm_loop``.
        units: Its units.
        steps: Its steps; None if unknown, which counts as few.
        batch: Its batch size; None if unknown, which counts as one.
    """
    return composite in _LIMITS and units > most_units(composite, steps, batch)


def most_units(composite: str, steps: int | None, batch: int | None) -> int:
    """Returns up to how many units the fused op is clearly faster than a loop; arguments: see loop_is_faster."""
    limit = max(limit for least, limit in _LIMITS[composite].items() if (steps or 0) >= least)
    return int(limit / (batch or 1) ** _OF_BATCH)


def faster_than(op: str, what: str = "the loop", above: int | None = None) -> str:
    """Says that a layer stays as it is because that is faster than an op, and how to get the op.

    Args:
        op: The op.
        what: What is faster.
        above: The number of units above which that was measured; None if it does not depend on them alone.
    """
    runs = [target for target in OWN if (traits := traits_of(target)).variables and op not in traits.lacking]
    why = f"{what} is faster than the fused op"
    if above is not None:
        why = f"above {above} units, the fused op is not 1.1 times as fast as {what}, which more runtimes take"
    return f"{why}; --rnn fused makes it one {op}, for {', '.join(runs)}"


def unrolled_is_faster(composite: str, units: int, steps: int) -> bool:
    """Whether an unrolled layer runs faster than its fused op, for a batch of one and as many inputs as units."""
    return composite in _GATES and 2 * _GATES[composite] * units**2 * steps <= _UNROLLED_WEIGHTS


#: The names of the gates by their letters.
GATE_NAMES = {"i": "input", "f": "forget", "c": "cell", "o": "output"}


def usual_gates(attributes: Mapping[str, Any], letters: str) -> str:
    """Returns the default order of the gates, if the attribute ``gates`` is missing."""
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
    leading = [
        Argument("inputs", (None, None, inputs), is_weight=False),
        Argument("the initial h", (None, outputs), is_weight=False),
        Argument("the initial c", (None, units), is_weight=False),
    ]
    count = len(letters) if per_gate else 1
    left = len(composite.args) - len(leading) - count * len(shapes) - len(others)
    biases = ["bias"] if left > 0 else []
    biases += ["second bias"] if left > 1 and not per_gate else []
    shapes |= dict.fromkeys(biases, (columns,))
    if per_gate:
        gates = [GATE_NAMES[letter] for letter in letters]
        weights = [Argument(f"the {gate} gate's {name}", shape) for name, shape in shapes.items() for gate in gates]
    else:
        weights = [Argument(f"the {name}", shape) for name, shape in shapes.items()]
    return [*leading, *weights, *others]
