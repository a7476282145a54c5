"""Outlines unrolled layers."""

from __future__ import annotations

from collections.abc import Sequence

from litefuse.fusions.recognizers.recurrent.chains import Chain
from litefuse.fusions.recognizers.recurrent.loops import NotRecognized
from litefuse.fusions.recognizers.regions import Region, empty_composite, region_between, value_name
from litefuse.ir.call_graph import create_call, function_symbol, update_function_type
from litefuse.ir.constants import int32_constant
from litefuse.ir.defining_ops import source
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_op, create_value

__all__ = ["chain_name", "outline_chain"]


def chain_name(chain: Chain) -> str:
    """Returns the name of a chain's layer: the common prefix of the names of its nodes."""
    names = [value_name(step.results[0]) for step in (chain.steps[0], chain.steps[-1])]
    folders = [name.split("/")[:-1] for name in names]
    common = [a for a, b in zip(*folders, strict=False) if a == b]
    return "/".join(common) or names[0]


def outline_chain(module: ir.Module, function: func.FuncOp, chain: Chain) -> None:
    """Moves an unrolled layer into an annotated function, and calls it before the first use of its outputs.

    The function has the interface of a loop's: ``f(inputs [time, batch, n], states [batch, u]..., weights...) ->
    (outputs [time, batch, u], last states...)``, or ``[1, batch, u]`` where only the last output is used.

    Raises:
        NotRecognized: A value in it has other uses, or its inputs depend on its outputs.
    """
    chain = _with_states_apart(function, chain)
    first, last = chain.steps[0], chain.steps[-1]
    given = [step.x for step in chain.steps] + [*first.states, *first.weights]
    region = region_between(function, given, last.results)
    outputs = [step.results[0] for step in chain.steps]
    place = min(_users(region, {*outputs, *last.results}), default=region.last + 1)
    if any(region.order.get(value, -1) >= place for value in given):
        raise NotRecognized("its inputs depend on its outputs, or come too late")

    every_step = any(region.users(value) for value in outputs[:-1])
    with ir.InsertionPoint(region.ops[place]), region.ops[region.last].location:
        operands = [_inputs(chain), *first.states, *first.weights]
        types = [value.type for value in operands]
        composite = empty_composite(module, chain_name(chain), first.cell.composite, first.attributes, types)
        results = _fill(composite, chain, region, every_step)
        call = create_call(function_symbol(composite), [value.type for value in results], operands)
        all_outputs, *states = call.results
        if every_step:
            _use_outputs(all_outputs, outputs, region)
    for old, new in zip(last.results, states, strict=True):
        old.replace_all_uses_with(new)
    region.erase_unused()


def _with_states_apart(function: func.FuncOp, chain: Chain) -> Chain:
    """Returns the chain with different first states: ``h = c = tf.zeros(...)`` makes both the same value.

    Outputs are operands of matrix products, and the other state, the cell state of an LSTM, is multiplied elementwise:
    the output gets a value of its own.
    """
    first = chain.steps[0]
    if len({*first.states}) == len(first.states):
        return chain
    state = first.states[0]
    ops = list(function.entry_block.operations)
    owner = state.owner
    following = ops[0] if isinstance(owner, ir.Block) else ops[ops.index(owner.opview) + 1]
    inside = region_between(function, [first.x, *first.states, *first.weights], first.results)
    with ir.InsertionPoint(following), following.location:
        output = create_value("tf.Identity", state.type, [state])
    for use in list(state.uses):
        op = use.owner
        if op.name not in {"tf.Identity", "tf.Mul"} and inside.position(op) in inside.inside:
            op.operands[use.operand_number] = output
    return Chain((first._replace(states=(output, *first.states[1:])), *chain.steps[1:]))


def _users(region: Region, allowed: set[ir.Value]) -> list[int]:
    """Returns the positions of the ops outside that use outputs and last states.

    Raises:
        NotRecognized: Another value is used.
    """
    users: list[int] = []
    for index in region.inside:
        if region.ops[index].name == "tf.Const":
            continue  # copied
        for result in region.ops[index].results:
            outside = region.users(result)
            if outside and result not in allowed:
                raise NotRecognized("something between its steps is used elsewhere")
            users += outside
    return users


def _inputs(chain: Chain) -> ir.Value:
    """Returns the inputs of all steps, time first: the tensor that they are slices of, or one packed from them."""
    values = [step.x for step in chain.steps]  # matrices
    owner = values[0].owner
    if not isinstance(owner, ir.Block) and owner.name == "tf.Unpack" and len(owner.results) == len(values):
        axis = ir.IntegerAttr(owner.attributes["axis"]).value
        whole = source(owner.operands[0])
        kind = ir.ShapedType(whole.type)
        taken = list(owner.results)
        if kind.has_rank and axis % 3 in {0, 1} and values in (taken, taken[::-1]):
            steps = whole if axis % 3 == 0 else _transposed(whole)
            return steps if values == taken else _reversed(steps)
    return _packed(values)


def _fill(composite: func.FuncOp, chain: Chain, region: Region, every_step: bool) -> list[ir.Value]:
    """Copies the ops of a chain into its function; returns the results of the function."""
    inputs, *others = composite.entry_block.arguments
    first, last = chain.steps[0], chain.steps[-1]
    copies: dict[ir.Value, ir.Value] = dict(zip([*first.states, *first.weights], others, strict=True))
    with ir.InsertionPoint(composite.entry_block):
        taken = create_op("tf.Unpack", [step.x.type for step in chain.steps], [inputs], {"num": len(chain.steps)})
        for step, value in zip(chain.steps, taken.results, strict=True):
            copies[step.x] = value
        region.copy_into(copies)
        outputs = [copies[step.results[0]] for step in (chain.steps if every_step else chain.steps[-1:])]
        results = [_packed(outputs), *(copies[value] for value in last.results)]
        func.ReturnOp(results)
    update_function_type(composite)
    return results


def _use_outputs(all_outputs: ir.Value, outputs: Sequence[ir.Value], region: Region) -> None:
    """Replaces the outputs of all steps but the last, which is a state, by those of the call."""
    for use in list(outputs[0].uses):
        op = use.owner
        if op.name == "tf.Pack" and list(op.operands) == list(outputs):
            axis = ir.IntegerAttr(op.attributes["axis"]).value % 3
            if axis < 2:
                op.results[0].replace_all_uses_with(all_outputs if axis == 0 else _transposed(all_outputs))
                op.erase()
    if any(region.users(value) for value in outputs[:-1]):
        taken = create_op("tf.Unpack", [value.type for value in outputs], [all_outputs], {"num": len(outputs)})
        for old, new in zip(outputs[:-1], list(taken.results)[:-1], strict=True):
            for use in list(old.uses):
                if region.position(use.owner) not in region.inside:
                    use.owner.operands[use.operand_number] = new


def _packed(values: Sequence[ir.Value]) -> ir.Value:
    kind = ir.ShapedType(values[0].type)
    result = ir.RankedTensorType.get([len(values), *kind.shape], kind.element_type)
    return create_value("tf.Pack", result, values)


def _transposed(value: ir.Value) -> ir.Value:
    kind = ir.ShapedType(value.type)
    result = ir.RankedTensorType.get([kind.shape[1], kind.shape[0], kind.shape[2]], kind.element_type)
    return create_value("tf.Transpose", result, [value, int32_constant([1, 0, 2])])


def _reversed(value: ir.Value) -> ir.Value:
    return create_value("tf.ReverseV2", value.type, [value, int32_constant([0])])
