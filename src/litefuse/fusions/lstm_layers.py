"""LSTM layers and cells that models annotate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, Inputs, count_problem, fusion
from litefuse.fusions.layer_arguments import faster_than, loop_is_faster, most_units

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.ops.dims import Shape
    from litefuse.ir.types import TensorType

# name and rank
_CELL_ARGUMENTS = (
    ("the input", 2),
    ("the weight", 2),
    ("the bias", 1),
    ("the projection", 2),
    ("the layer norm scale", 1),
)

_NORMALIZED = "LayerNormalizedLstmCellSimple"
_COUPLED = ",CoupleInputForgetGates"

# The reference sets this limit, as does the cell that the composite is named after. The new cell state is never
# greater than 1, as the old one is zero: the limit has no effect.
_CELL_CLIP = 10.0


@fusion(
    "LSTMCellSimple",
    "LSTMCellSimple,CoupleInputForgetGates",
    "LayerNormalizedLstmCellSimple",
    "LayerNormalizedLstmCellSimple,CoupleInputForgetGates",
)
class LstmCellSimple(Fusion):
    """One LSTM step from zero states becomes the builtin LSTM.

    ``f(input [batch, n_in], weight [n_in + n_out, 4 n_cell], bias [4 n_cell], projection [n_cell, n_out]) ->
    [batch, n_out]``, all float32, the gates in the order cell, input, forget, output; the weight's first rows are for
    the input, the others for the output of the step before, which is zero. ``LayerNormalizedLstmCellSimple`` has a
    fifth argument, the scale ``[4 n_cell]`` of the sums, which are normalized before the bias is added. With the suffix
    ``,CoupleInputForgetGates``, the input gate is 1 minus the forget gate, and the weights have three parts instead of
    four: cell, forget, output. ``LSTMCellSimple`` may have further arguments, which it does not use.
    """

    def verify(self, composite: Composite) -> str | None:
        arguments = composite.arg_types
        expected = _CELL_ARGUMENTS[: 5 if composite.name.startswith(_NORMALIZED) else 4]
        if len(arguments) < len(expected) or (len(expected) == 5 and len(arguments) != 5):
            return f"it has {len(arguments)} arguments, not {len(expected)} ({', '.join(name for name, _ in expected)})"
        if len(composite.result_types) != 1:
            return f"it has {len(composite.result_types)} results, not 1"
        for (name, rank), kind in zip(expected, arguments, strict=False):
            if kind.dtype != "float32" or kind.rank != rank:
                return f"{name} is {kind}; LSTM takes float32, here of rank {rank}"
            if name != "the input" and None in kind.sizes:
                return f"{name} is {kind}; the weights' sizes must be known"
        (result,) = composite.result_tensor_types
        if result.dtype != "float32" or result.rank not in {2, None}:
            return f"the result is {result}; LSTM gives float32 of rank 2"
        return _cell_size_problem(arguments[: len(expected)], result, len(_order(composite)))

    def faster_inlined(self, composite: Composite) -> str | None:
        del composite
        return "one step of its ops is faster than the fused op, whatever its size"

    def rewrite(self, composite: Composite, b: Builder) -> ir.Value:
        from litefuse.fusions.lstm import Gates, LstmWeights, lstm, split_gates

        x, weight, bias, projection = composite.args[:4]
        order = _order(composite)
        n_cell, n_out = _sizes(composite.arg_types[3])
        rows = _sizes(composite.arg_types[1])[0]
        columns = _sizes(composite.arg_types[1])[1]

        def gates(begin: int, count: int) -> Gates:
            return split_gates(b, b.slice(weight, [begin, 0], [count, columns]), order, axis=1)

        normalized = composite.name.startswith(_NORMALIZED)
        weights = LstmWeights(
            kernel=gates(0, rows - n_out),
            recurrent=gates(rows - n_out, n_out),
            bias=split_gates(b, bias, order),
            layer_norm=split_gates(b, composite.args[4], order) if normalized else None,
            projection=b.transpose(projection, (1, 0)),
        )
        h, c = (b.state(b.zeros(x, 0, [size])) for size in (n_out, n_cell))
        return lstm(b, x, weights, h, c, cell_clip=_CELL_CLIP)

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        x, weight, *others = composite.arg_types
        rows, columns = _sizes(weight)
        n_out = _sizes(others[1])[1]
        if any(kind.dtype != "float32" or kind.shape is None for kind in others):
            return None  # an unused argument
        # Scaled by the number of weights, so that the gates do not saturate.
        values = [
            random.normal(0, 1, (x.sizes[0] or size, rows - n_out)),
            random.normal(0, (rows - n_out) ** -0.5, (rows, columns)),
            *(random.normal(0, 1, [extent or size for extent in kind.sizes]) for kind in others),
        ]
        return [value.astype(np.float32) for value in values]


def _order(composite: Composite) -> str:
    return "cfo" if composite.name.endswith(_COUPLED) else "cifo"


def _sizes(kind: TensorType) -> tuple[int, int]:
    """Returns the sizes of a matrix, which were verified to be known."""
    rows, columns = (size or 0 for size in kind.sizes)
    return rows, columns


def _cell_size_problem(arguments: Sequence[TensorType], result: TensorType, gates: int) -> str | None:
    x, weight, bias, projection = arguments[:4]
    rows, columns = _sizes(weight)
    n_cell, n_out = _sizes(projection)
    if columns % gates:
        return f"the weight is {weight}: its columns are not of {gates} gates"
    if n_cell != columns // gates or not n_cell or not n_out:
        return (
            f"the projection is {projection}, the weight {weight}: "
            f"a projection of {columns // gates} cells has as many rows"
        )
    if rows <= n_out:
        return f"the weight is {weight}: it has rows for the {n_out} outputs of the projection, but none for the input"
    if x.sizes[1] not in {rows - n_out, None}:
        return f"the input is {x}; the weight {weight} has {rows - n_out} rows for it, and {n_out} for the output"
    for (name, _), kind in (
        (_CELL_ARGUMENTS[2], bias),
        *((_CELL_ARGUMENTS[4], argument) for argument in arguments[4:]),
    ):
        if kind.shape != (columns,):
            return f"{name} is {kind}; the weight has {columns} columns"
    if result.shape is not None and result.shape[1] not in {n_out, None}:
        return f"the result is {result}; the projection {projection} gives {n_out}"
    return None


# name and rank
_ARGUMENTS = (
    ("inputs", 3),
    ("the initial h", 2),
    ("the initial c", 2),
    ("the kernel", 2),
    ("the recurrent kernel", 2),
    ("the bias", 1),
)
_RESULTS = (("the last output", 2), ("outputs", 3), ("the last h", 2), ("the last c", 2), ("runtime", 0))

# Initial states are drawn from a wide range, so that a clipped cell state would show.
_STATE_SCALE = 20.0


@fusion("lstm_*", "indy_lstm_*")
class KerasLstm(Fusion):
    """The LSTM layer of Keras 2 becomes the builtin UNIDIRECTIONAL_SEQUENCE_LSTM.

    Keras itself annotates the function (``api_implements``), which is
    ``f(inputs [batch, time, n], h [batch, u], c [batch, u], kernel [n, 4 u], recurrent_kernel [u, 4 u], bias [4 u]) ->
    (last_output [batch, u], outputs [batch, time or 1, u], h [batch, u], c [batch, u], runtime [])``, all float32, the
    gates in the order input, forget, cell, output. With the attribute ``time_major``, inputs and outputs are;
    with ``go_backwards``, the steps are processed from the last to the first. In an IndyLSTM (``indy_lstm_``) each cell
    only gets its own output: the recurrent kernel is ``[u, 4]``.
    The last result is not used: in it, Keras records which of its implementations ran.
    Definition: https://github.com/keras-team/tf-keras/blob/master/tf_keras/layers/rnn/lstm.py, ``standard_lstm``.
    """

    open_results = (4,)

    def verify(self, composite: Composite) -> str | None:
        return _interface_problem(composite) or _shape_problem(
            composite.arg_types, composite.attributes["time_major"], 1 if _is_diagonal(composite) else None
        )

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.fusions.lstm import Gates, LstmWeights, lstm_layer, split_gates

        inputs, h, c, kernel, recurrent, bias = composite.args
        time_major = composite.attributes["time_major"]
        time = 0 if time_major else 1
        recurrent_gates = split_gates(b, recurrent, "ifco", axis=1)
        if _is_diagonal(composite):
            units = _known(composite.arg_types[4])[0]
            flat = [b.reshape(part, [units]) for part in recurrent_gates.operands(b)]
            recurrent_gates = Gates(*flat)
        weights = LstmWeights(split_gates(b, kernel, "ifco", axis=1), recurrent_gates, split_gates(b, bias, "ifco"))
        if composite.attributes.get("go_backwards"):
            inputs = b.reverse(inputs, time)
        outputs, last, last_cell = lstm_layer(
            b, inputs, weights, h, c, time_major=time_major, only_last=_only_last(composite, time)
        )
        return last, outputs, last, last_cell, b.constant(np.array(1, np.float32))

    def faster_inlined(self, composite: Composite) -> str | None:
        inputs, (units, _) = composite.arg_types[0].sizes, _known(composite.arg_types[4])
        batch, steps = inputs[:2][::-1] if composite.attributes["time_major"] else inputs[:2]
        if _is_diagonal(composite) or not loop_is_faster("lstm_loop", units, steps, batch):
            return None
        count = "an unknown number of" if steps is None else steps
        why = faster_than("UNIDIRECTIONAL_SEQUENCE_LSTM", above=most_units("lstm_loop", steps, batch))
        return f"an LSTM of {units} units over {count} steps: {why}"

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        return _random_layer_inputs(composite.arg_types, size, random, time_major=composite.attributes["time_major"])


def _random_layer_inputs(
    kinds: Sequence[TensorType], size: int, random: np.random.Generator, *, time_major: bool
) -> list[npt.NDArray[Any]]:
    """Draws inputs, h, c, kernel, recurrent kernel and optional bias so that they exercise all parts of the layer."""
    inputs, h, c, kernel, recurrent, *bias = (kind.sizes for kind in kinds)
    batch = inputs[1 if time_major else 0] or h[0] or c[0] or size
    steps = inputs[0 if time_major else 1] or size
    features, units = kernel[0] or 0, recurrent[0] or 0

    def normal(shape: Sequence[int | None], scale: float) -> npt.NDArray[Any]:
        return random.normal(0, scale, [extent or 0 for extent in shape]).astype(np.float32)

    # Scaled by the number of weights, so that the gates do not saturate.
    return [
        normal([steps, batch, features] if time_major else [batch, steps, features], 1),
        normal([batch, units], _STATE_SCALE / 10),
        normal([batch, units], _STATE_SCALE),
        normal(kernel, 1 / max(1, features) ** 0.5),
        normal(recurrent, 1 / max(1, units) ** 0.5),
        *(normal(shape, 1) for shape in bias),
    ]


def _is_diagonal(composite: Composite) -> bool:
    return composite.name.startswith("indy_")


def _only_last(composite: Composite, time: int) -> bool:
    """Whether the function's outputs are the last output only: the layer does not return sequences."""
    outputs = composite.result_tensor_types[1].sizes
    return outputs[time] == 1 and composite.arg_types[0].sizes[time] != 1


def _known(kind: TensorType) -> tuple[int, ...]:
    """Returns a shape that was verified to be known."""
    return tuple(size or 0 for size in kind.sizes)


def _interface_problem(composite: Composite) -> str | None:
    arguments, results, attributes = composite.arg_types, composite.result_tensor_types, composite.attributes
    names = [name for name, _ in _ARGUMENTS]
    if len(arguments) == len(names) + 1:
        return (
            f"it has 7 arguments: a mask or the sequences' lengths ({arguments[6]}) after {', '.join(names)}; "
            "UNIDIRECTIONAL_SEQUENCE_LSTM takes all steps"
        )
    if (problem := count_problem(composite, names, [name for name, _ in _RESULTS])) is not None:
        return problem
    if not isinstance(attributes.get("time_major"), bool):
        return f"it needs the function attribute time_major (a bool); it has {dict(attributes)}"
    if not isinstance(attributes.get("go_backwards", False), bool):
        return f"its function attribute go_backwards is {attributes['go_backwards']!r}, not a bool"
    for (name, rank), kind in zip((*_ARGUMENTS, *_RESULTS), (*arguments, *results), strict=True):
        if kind.dtype != "float32" or kind.rank != rank:
            return f"{name} is {kind}; UNIDIRECTIONAL_SEQUENCE_LSTM takes and gives float32, here of rank {rank}"
    return None


def _shape_problem(arguments: Sequence[TensorType], time_major: bool, recurrent_units: int | None) -> str | None:
    inputs, h, c, kernel, recurrent, bias = (kind.sizes for kind in arguments)
    for (name, _), kind in zip(_ARGUMENTS[3:], arguments[3:], strict=True):
        if None in kind.sizes:
            return f"{name} is {kind}; the weights' sizes must be known"
    units = recurrent[0]
    assert units is not None
    columns = 4 * (recurrent_units or units)
    expected = (
        (arguments[3], (None, 4 * units), _ARGUMENTS[3][0]),
        (arguments[4], (units, columns), _ARGUMENTS[4][0]),
        (arguments[5], (4 * units,), _ARGUMENTS[5][0]),
        (arguments[1], (None, units), _ARGUMENTS[1][0]),
        (arguments[2], (None, units), _ARGUMENTS[2][0]),
        (arguments[0], (None, None, kernel[0]), _ARGUMENTS[0][0]),
    )
    for kind, shape, name in expected:
        if any(None not in pair and pair[0] != pair[1] for pair in zip(kind.sizes, shape, strict=True)):
            return f"{name} is {kind}, which does not fit a layer of {units} units: {_table(arguments)}"
    batches = {inputs[1 if time_major else 0], h[0], c[0]} - {None}
    if len(batches) > 1:
        return f"the batch is of several sizes: {_table(arguments)}"
    if 0 in (*kernel, *recurrent, *bias):
        return f"it has no units or no features: {_table(arguments)}"
    return None


def _table(arguments: Sequence[TensorType]) -> str:
    return ", ".join(f"{name} {kind}" for (name, _), kind in zip(_ARGUMENTS, arguments, strict=False))


_WEIGHTS = ("kernel", "recurrent kernel", "bias")
_DIRECTIONS = ("forward", "backward")


@fusion("bidirectional_sequence_lstm")
class BidirectionalLstm(Fusion):
    """An LSTM layer in both directions becomes the builtin BIDIRECTIONAL_SEQUENCE_LSTM.

    ``f(inputs [batch, time, n], forward kernel [n, 4 u], forward recurrent kernel [u, 4 u], forward bias [4 u],
    backward kernel [n, 4 u], backward recurrent kernel [u, 4 u], backward bias [4 u]) -> [batch, time, 2 u]`` or two
    results ``[batch, time, u]``, all float32, the gates in the order input, forget, cell, output, as in Keras. The
    backward LSTM processes the steps from the last to the first; its outputs are in the order of the inputs. States
    start at zero, unless four more arguments give the initial h and c of the forward and of the backward LSTM, each
    ``[batch, u]``. With the attribute ``time_major`` (a bool, false if missing), inputs and outputs are time-major.
    """

    def verify(self, composite: Composite) -> str | None:
        arguments, results = composite.arg_types, composite.result_tensor_types
        if len(arguments) not in {7, 11}:
            return (
                f"it has {len(arguments)} arguments, not 7 (inputs and the {', '.join(_WEIGHTS)} of each direction) "
                "or 11 (with the initial h and c of each direction)"
            )
        if len(results) not in {1, 2}:
            return f"it has {len(results)} results, not 1 (both directions' outputs concatenated) or 2"
        unknown = sorted(set(composite.attributes) - {"time_major"})
        if unknown:
            return f"it has the attribute {', '.join(unknown)}; known is time_major"
        if not isinstance(composite.attributes.get("time_major", False), bool):
            return f"the attribute time_major is {composite.attributes['time_major']!r}, not a bool"
        ranks = (3, *(2, 2, 1) * 2, *(2,) * (len(arguments) - 7))
        for name, kind, rank in zip(_names(), arguments, ranks, strict=False):
            if kind.dtype != "float32" or kind.rank != rank:
                return f"{name} is {kind}; BIDIRECTIONAL_SEQUENCE_LSTM takes float32, here of rank {rank}"
        return _size_problem(arguments, _is_time_major(composite)) or _result_problem(arguments, results)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.fusions.lstm import bidirectional_sequence_lstm, keras_weights

        x = composite.args[0]
        time_major = _is_time_major(composite)
        directions = [
            keras_weights(b, kernel, recurrent, bias)
            for kernel, recurrent, bias in (composite.args[1:4], composite.args[4:7])
        ]
        initial = list(composite.args[7:]) or [
            b.zeros(x, 1 if time_major else 0, [_units(composite.arg_types)]) for _ in range(4)
        ]
        states = [b.state(value) for value in initial]
        outputs = bidirectional_sequence_lstm(b, x, directions[0], directions[1], states, time_major=time_major)
        return outputs if len(composite.result_types) == 2 else [b.concatenation(outputs, 2)]

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        time_major = _is_time_major(composite)
        inputs, *others = (kind.sizes for kind in composite.arg_types)
        batches = [inputs[1 if time_major else 0], *(shape[0] for shape in others[6:])]
        batch = next((known for known in batches if known), size)
        steps = inputs[0 if time_major else 1] or size
        features = others[0][0] or 0
        shapes = [
            (steps, batch, features) if time_major else (batch, steps, features),
            *others[:6],
            *((batch, shape[1]) for shape in others[6:]),
        ]
        # Scaled by the number of weights, so that the gates do not saturate.
        weights = [max(1, shape[0] or 0) ** -0.5 if len(shape) == 2 else 1.0 for shape in others[:6]]
        scales = [1.0, *weights, *[10.0] * 4]
        return [
            random.normal(0, scale, [extent or 0 for extent in shape]).astype(np.float32)
            for shape, scale in zip(shapes, scales, strict=False)
        ]


def _names() -> list[str]:
    weights = [f"the {direction} {name}" for direction in _DIRECTIONS for name in _WEIGHTS]
    return ["inputs", *weights, *(f"the {direction} initial {state}" for direction in _DIRECTIONS for state in "hc")]


def _is_time_major(composite: Composite) -> bool:
    return bool(composite.attributes.get("time_major", False))


def _units(arguments: Sequence[TensorType]) -> int:
    """Returns the units per direction, from the forward recurrent kernel, whose size was verified to be known."""
    return arguments[2].sizes[0] or 0


def _size_problem(arguments: Sequence[TensorType], time_major: bool) -> str | None:
    names = _names()
    for name, kind in zip(names[1:7], arguments[1:7], strict=True):
        if None in kind.sizes or 0 in kind.sizes:
            return f"{name} is {kind}; the weights' sizes must be known, and none is 0"
    units, backward_units = (arguments[index].sizes[0] for index in (2, 5))
    if units != backward_units:
        return (
            f"the forward LSTM has {units} units and the backward LSTM {backward_units}; "
            "BIDIRECTIONAL_SEQUENCE_LSTM takes as many in both"
        )
    inputs = arguments[0].sizes
    columns = 4 * _units(arguments)
    weights = [(arguments[1].sizes[0], columns), (units, columns), (columns,)]
    expected: list[Shape] = [(None, None, weights[0][0]), *weights, *weights, *[(None, units)] * 4]
    for name, kind, shape in zip(names, arguments, expected, strict=False):
        if any(None not in pair and pair[0] != pair[1] for pair in zip(kind.sizes, shape, strict=True)):
            return f"{name} is {kind}, which does not fit the others: " + ", ".join(map(str, arguments))
    batches = {inputs[1 if time_major else 0], *(kind.sizes[0] for kind in arguments[7:])} - {None}
    if len(batches) > 1:
        return "the batch is of several sizes: " + ", ".join(map(str, arguments))
    return None


def _result_problem(arguments: Sequence[TensorType], results: Sequence[TensorType]) -> str | None:
    size = _units(arguments) * (3 - len(results))
    for index, kind in enumerate(results):
        if kind.dtype != "float32" or kind.rank not in {3, None} or (kind.rank and kind.sizes[-1] not in {size, None}):
            return f"result {index} is {kind}; its last dimension is of {size} units, the rank 3, the dtype float32"
    return None
