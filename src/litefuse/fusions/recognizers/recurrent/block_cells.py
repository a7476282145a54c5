"""Lowers the recurrent cells that TensorFlow 1 has as single ops to other ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from litefuse.fusions.recognizers.recurrent.outlining import first_size
from litefuse.ir.attributes import attribute_value
from litefuse.ir.call_graph import free_symbol, function_symbol, functions
from litefuse.ir.constants import int32_constant, integer_constant, tensor_constant, without_copies
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_op, create_value
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.passes.tensor_lists.sizes import Sizes, Unknown


@module_pass
def expand_block_cells(module: ir.Module) -> bool:
    """Expands LSTMBlockCell, GRUBlockCell, BlockLSTM and BlockLSTMV2, the last two as loops over the steps::

        %h = tf.LSTMBlockCell(%x, %c, %h, %w, ...)  -->  %z = tf.MatMul(tf.ConcatV2(%x, %h), %w) + %b ...

    These are the ops of the block cells in ``tf.contrib.rnn``, also of its LSTMBlockFusedCell. Once expanded, they are
    recognized as layers. What each computes is in ``tensorflow/core/kernels/rnn/lstm_ops.cc`` and ``gru_ops.cc``.
    Float16 ops stay.
    """
    return visit_ops(module, dict.fromkeys(_EXPANDED, lambda op: _expanded(module, op)), nested=False)


_EXPANDED = frozenset({"tf.BlockLSTM", "tf.BlockLSTMV2", "tf.GRUBlockCell", "tf.LSTMBlockCell"})


def _is_known(op: ir.OpView) -> bool:
    kinds = [ir.ShapedType(operand.type) for operand in list(op.operands)[-6:]]
    kinds += [ir.ShapedType(result.type) for result in op.results]
    return all(kind.has_rank and kind.element_type == ir.F32Type.get() for kind in kinds)


# The results of an LSTM step, in the order of the ops' results.
_RESULTS = ("i", "cs", "f", "o", "ci", "co", "h")


def _expanded(module: ir.Module, op: ir.OpView) -> Sequence[ir.Value | None] | None:
    """Emits the ops that compute a block cell, at the current insertion point; returns None for unused results.

    Returns no results at all for a cell of another dtype than float32, or of unknown rank.
    """
    if not _is_known(op):
        return None
    operands = list(op.operands)
    if op.name == "tf.GRUBlockCell":
        return _gru(*operands)
    if op.name == "tf.LSTMBlockCell":
        x, c, h, *weights = operands
        return list(_Lstm.of(op).step(x, h, c, weights).values())
    return _loop(module, op, operands)


class _Lstm(NamedTuple):
    """The attributes of an LSTM op: the order of the gates in the weights (``g`` is the cell's), and its numbers."""

    gates: str
    forget_bias: float
    cell_clip: float
    peepholes: bool

    @staticmethod
    def of(op: ir.OpView) -> _Lstm:
        """Reads the attributes of an op."""
        second = op.name == "tf.BlockLSTMV2"
        own = {name: attribute_value(op.attributes[name]) for name in _DEFAULTS if name in op.attributes}
        values: dict[str, Any] = {**_DEFAULTS, **({"forget_bias": 0.0, "cell_clip": 0.0} if second else {}), **own}
        return _Lstm("ifgo" if second else "igfo", values["forget_bias"], values["cell_clip"], values["use_peephole"])

    def step(self, x: ir.Value, h: ir.Value, c: ir.Value, weights: Sequence[ir.Value]) -> Mapping[str, ir.Value]:
        """Emits one step; returns the values that ``_RESULTS`` names.

        Args:
            x: ``[batch, n]``.
            h: The last output ``[batch, u]``.
            c: The last cell state ``[batch, u]``.
            weights: The kernel ``[n + u, 4 u]``; the peepholes of the input, forget and output gate, if there are any;
                and the bias.
        """
        kernel, *peepholes, bias = weights
        z = dict(zip(self.gates, _split(_sum_of_products([x, h], kernel, bias), 4, c.type), strict=True))
        if self.peepholes:
            z["i"] = _add(z["i"], _op("Mul", c.type, c, peepholes[0]))
            z["f"] = _add(z["f"], _op("Mul", c.type, c, peepholes[1]))
        if self.forget_bias:
            z["f"] = _add(z["f"], _number(self.forget_bias))
        i, f, ci = _op("Sigmoid", c.type, z["i"]), _op("Sigmoid", c.type, z["f"]), _op("Tanh", c.type, z["g"])
        cs = _add(_op("Mul", c.type, ci, i), _op("Mul", c.type, c, f))
        if self.cell_clip > 0:
            below = _op("Minimum", c.type, cs, _number(self.cell_clip))
            cs = _op("Maximum", c.type, below, _number(-self.cell_clip))
        if self.peepholes:
            z["o"] = _add(z["o"], _op("Mul", c.type, cs, peepholes[2]))
        o, co = _op("Sigmoid", c.type, z["o"]), _op("Tanh", c.type, cs)
        values = {"i": i, "cs": cs, "f": f, "o": o, "ci": ci, "co": co, "h": _op("Mul", c.type, co, o)}
        return {name: values[name] for name in _RESULTS}


_DEFAULTS: dict[str, Any] = {"forget_bias": 1.0, "cell_clip": 3.0, "use_peephole": False}


def _gru(
    x: ir.Value, h: ir.Value, gates: ir.Value, candidate: ir.Value, gates_bias: ir.Value, candidate_bias: ir.Value
) -> list[ir.Value]:
    both = _op("Sigmoid", (z := _sum_of_products([x, h], gates, gates_bias)).type, z)
    r, u = _split(both, 2, h.type)
    c = _op("Tanh", h.type, _sum_of_products([x, _op("Mul", h.type, h, r)], candidate, candidate_bias))
    kept, new = _op("Mul", h.type, u, h), _op("Mul", h.type, _op("Sub", h.type, _number(1.0), u), c)
    return [r, u, c, _add(kept, new)]


def _loop(module: ir.Module, op: ir.OpView, operands: Sequence[ir.Value]) -> list[ir.Value | None]:
    """Emits a loop over the steps; the outputs of steps that are not run are zeros.

    Its variables are the step, the number of steps, a list for each used output, h, c, the inputs and the weights.
    """
    steps, x, c, h, *weights = operands
    lstm = _Lstm.of(op)
    if not lstm.peepholes:
        weights = [weights[0], weights[-1]]
    used = {name: result for name, result in zip(_RESULTS, op.results, strict=True) if list(result.uses)}
    last_states = [use.owner for use in used["cs"].uses] if "cs" in used else []
    if last_states and all(map(_is_last, last_states)) and _takes_all_steps(module, steps, x):
        del used["cs"]  # an LSTM layer gives its last state, and no others
    else:
        last_states = []
    names = [*used]
    int32 = ir.IntegerType.get_signless(32)
    inputs, state = ir.RankedTensorType(x.type), _state_type(op)
    scalar = ir.RankedTensorType.get([], int32)
    array = ir.Type.parse(f"tensor<!tf_type.variant<{state}>>")
    item = int32_constant([-1 if state.is_dynamic_dim(axis) else state.shape[axis] for axis in range(2)])
    element: dict[str, ir.Attribute] = {"element_dtype": ir.TypeAttr.get(inputs.element_type)}
    count = first_size(x)
    lists = [create_value("tf.TensorListReserve", array, [item, count], element) for _ in names]
    limit = steps if steps.type == scalar else create_value("tf.Cast", scalar, [steps])
    variables = [int32_constant(0), limit, *lists, h, c, x, *weights]
    types = [scalar, scalar, *[array] * len(names), state, state, *(value.type for value in (x, *weights))]
    role = f"{op.name}.{{}}"
    cond = _function(module, role.format("cond"), types, [ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))])
    body = _function(module, role.format("body"), types, types)
    with ir.InsertionPoint(cond.entry_block):
        step, last, *_ = cond.arguments
        func.ReturnOp([_op("Less", cond.type.results[0], step, last)])
    with ir.InsertionPoint(body.entry_block):
        step, last, *rest = body.arguments
        arrays, (h_, c_, x_, *weights_) = rest[: len(names)], rest[len(names) :]
        row_type = ir.RankedTensorType.get(list(inputs.shape)[1:], inputs.element_type)
        row = create_value("tf.GatherV2", row_type, [x_, step, int32_constant(0)])
        values = lstm.step(row, h_, c_, weights_)
        written = [
            create_value("tf.TensorListSetItem", array, [items, step, values[name]], element)
            for items, name in zip(arrays, names, strict=True)
        ]
        following = _op("AddV2", scalar, step, int32_constant(1))
        func.ReturnOp([following, last, *written, values["h"], values["cs"], x_, *weights_])
    symbols = {
        role: ir.FlatSymbolRefAttr.get(function_symbol(function)) for role, function in (("body", body), ("cond", cond))
    }
    attributes: dict[str, ir.Attribute] = {**symbols, "is_stateless": ir.BoolAttr.get(True)}
    made = ir.Operation.create("tf.While", types, variables, attributes)
    for read in last_states:
        read.results[0].replace_all_uses_with(made.results[3 + len(names)])
        read.operation.erase()
    outputs: dict[str, ir.Value] = {}
    for name, written in zip(names, list(made.results)[2:], strict=False):
        kind = op.results[_RESULTS.index(name)].type
        outputs[name] = create_value("tf.TensorListStack", kind, [written, item], element)
    return [outputs.get(name) for name in _RESULTS]


def _is_last(op: ir.OpView) -> bool:
    """Whether an op takes the last item along the first dimension: ``x[-1]``."""
    if op.name != "tf.StridedSlice" or integer_constant(without_copies(op.operands[1])) != [-1]:
        return False
    masks = {name: ir.IntegerAttr(op.attributes[f"{name}_mask"]).value for name in _MASKS}
    return masks == {**dict.fromkeys(_MASKS, 0), "shrink_axis": 1}


def _takes_all_steps(module: ir.Module, steps: ir.Value, x: ir.Value) -> bool:
    sizes = Sizes(functions(module))
    try:
        return sizes.number(steps, None) == sizes.size(x, 0)
    except Unknown:
        return False


def _state_type(op: ir.OpView) -> ir.RankedTensorType:
    """Returns the type ``[batch, u]``, as far as it is known."""
    outputs = ir.RankedTensorType(op.results[-1].type)
    return ir.RankedTensorType.get(list(outputs.shape)[1:], outputs.element_type)


_MASKS = ("begin", "ellipsis", "end", "new_axis", "shrink_axis")


def _function(module: ir.Module, symbol: str, arguments: Sequence[ir.Type], results: Sequence[ir.Type]) -> func.FuncOp:
    with ir.InsertionPoint(module.body):
        kind = ir.FunctionType.get(list(arguments), list(results))
        function = func.FuncOp(free_symbol(module, symbol), kind, visibility="private")
    function.add_entry_block()
    return function


def _sum_of_products(values: Sequence[ir.Value], kernel: ir.Value, bias: ir.Value) -> ir.Value:
    first, second = (ir.RankedTensorType(value.type) for value in values)
    weights = ir.RankedTensorType(kernel.type)
    batch = second.shape[0] if first.is_dynamic_dim(0) else first.shape[0]
    joined = ir.RankedTensorType.get([batch, weights.shape[0]], first.element_type)
    whole = ir.RankedTensorType.get([batch, weights.shape[1]], first.element_type)
    both = create_value("tf.ConcatV2", joined, [*values, int32_constant(1)])
    product = create_value("tf.MatMul", whole, [both, kernel])
    return create_value("tf.BiasAdd", whole, [product, bias])


def _split(value: ir.Value, count: int, kind: ir.Type) -> list[ir.Value]:
    return list(create_op("tf.Split", [kind] * count, [int32_constant(1), value]).results)


def _add(a: ir.Value, b: ir.Value) -> ir.Value:
    return _op("AddV2", a.type, a, b)


def _op(name: str, kind: ir.Type, *operands: ir.Value) -> ir.Value:
    return create_value(f"tf.{name}", kind, operands)


def _number(value: float) -> ir.Value:
    return tensor_constant(ir.DenseElementsAttr.get(np.array(value, np.float32)))
