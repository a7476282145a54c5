"""Outlines recurrent layers, in loops and unrolled, into annotated functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from litefuse.fusions.recognizers.recurrent.chains import Chain
from litefuse.fusions.recognizers.recurrent.loops import LoopLayer, StepLoop
from litefuse.fusions.recognizers.regions import NotRecognized, Region, empty_composite, region_between, value_name
from litefuse.ir.call_graph import (
    ORIGINAL_NAME,
    attributes_of,
    create_call,
    free_symbol,
    function_symbol,
    original_name,
    terminator_of,
    update_function_type,
)
from litefuse.ir.constants import int32_constant
from litefuse.ir.defining_ops import is_constant, source
from litefuse.ir.locations import layer_name
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_op, create_value
from litefuse.ir.types import is_variant


def outline_loop(module: ir.Module, layer: LoopLayer) -> func.FuncOp:
    """Moves a loop into a function that is annotated with the layer's name, and calls it in the loop's place::

        f(inputs [time, batch, n], states [batch, u]..., kernel, recurrent kernel, bias if there is one)
          -> (outputs [time or 1, batch, u], last states...)

    The function contains the original loop, around copies of its body and condition that take the weights as arguments.

    Raises:
        NotRecognized: The loop uses something else of the enclosing function.
    """
    loop, step = layer.loop, layer.step
    op = loop.op
    if loop.masked:
        raise NotRecognized("its composite would have no mask")
    taken = [position for value in step.weights if (position := _argument_number(value)) is not None]
    for position in loop.kept - loop.steps - {loop.input.position, *taken}:
        if not is_constant(op.operands[position]):
            raise NotRecognized(f"it takes something that the layer does not (argument {position})")
    constants = [value for value in step.weights if _argument_number(value) is None]
    body = _with_constants_as_arguments(module, loop.body, constants)
    cond = _with_constants_as_arguments(module, loop.cond, [], [value.type for value in constants])

    with ir.InsertionPoint(op), op.location:
        weights = [_outside(loop, value) for value in step.weights]
        time_first = _with_axes_swapped(loop.inputs) if loop.time_axis else loop.inputs
        operands = [time_first, *(op.operands[position] for position in layer.states), *weights]
        function = empty_composite(
            module, layer_name(op), step.cell.composite, step.attributes, [value.type for value in operands]
        )
        inputs, *arguments = function.entry_block.arguments
        count = len(layer.states)
        inner = dict(zip(layer.states, arguments[:count], strict=True))
        own = dict(zip(step.weights, arguments[count:], strict=True))
        inner |= {position: own[loop.argument(position)] for position in taken}
        added = [own[value] for value in constants]
        with ir.InsertionPoint(function.entry_block):
            results = _loop(layer, inputs, inner, added, body, cond)
            func.ReturnOp(results)
        update_function_type(function)

        call = create_call(function_symbol(function), [value.type for value in results], operands)
        outputs, *states = call.results
        replacements: dict[int, ir.Value] = dict(zip(layer.states, states, strict=True))
        if loop.output_list is not None:
            listed = op.results[loop.output_list].type
            operands = [outputs, _item_shape(states[0])]
            replacements[loop.output_list] = create_value(
                "tf.TensorListFromTensor", listed, operands, _element_type(outputs)
            )
    replacements |= {position: op.operands[position] for position in loop.kept}
    for position, value in replacements.items():
        op.results[position].replace_all_uses_with(value)
    op.operation.erase()
    return function


def _loop(
    layer: LoopLayer,
    inputs: ir.Value,
    inner: Mapping[int, ir.Value],
    added: Sequence[ir.Value],
    body: func.FuncOp,
    cond: func.FuncOp,
) -> list[ir.Value]:
    """Emits the loop and its lists; returns the results of the function."""
    loop = layer.loop
    op = loop.op
    count = first_size(inputs)
    state = inner[layer.states[0]]
    operands = [
        inner[position] if position in inner else _starting_value(loop, position, inputs, count, state)
        for position in range(len(op.operands))
    ]
    attributes = {name: op.attributes[name] for name in op.attributes}
    for role, function in (("body", body), ("cond", cond)):
        attributes[role] = ir.FlatSymbolRefAttr.get(function_symbol(function))
    types = [*(result.type for result in op.results), *(value.type for value in added)]
    made = ir.Operation.create("tf.While", types, [*operands, *added], attributes, loc=op.location)
    states = [made.results[position] for position in layer.states]
    if loop.output_list is None:
        outputs = _with_leading_dimension(states[0])
    else:
        outputs = _stacked(loop, made.results[loop.output_list], inputs, states[0])
    return [outputs, *states]


def _starting_value(loop: StepLoop, position: int, inputs: ir.Value, count: ir.Value, state: ir.Value) -> ir.Value:
    """Returns the initial value of a loop variable that is neither a state nor a weight.

    ``inputs`` is ``[time, batch, n]``, ``state`` the initial value of the state that is the output, ``[batch, u]``.
    """
    value = loop.op.operands[position]
    if position == loop.input.position:
        if loop.input.axis is not None:
            return _with_axes_swapped(inputs) if loop.time_axis else inputs
        item = _item_shape(inputs, leading=1)
        return create_value("tf.TensorListFromTensor", value.type, [inputs, item], _element_type(inputs))
    if position == loop.output_list:
        length = count if loop.every_step else int32_constant(1)
        return create_value("tf.TensorListReserve", value.type, [_item_shape(state), length], _element_type(state))
    if position in loop.steps and not is_constant(value):
        return _cast(count, value.type)
    return _copied(value)  # a constant: an index, or a loop invariant


def _stacked(loop: StepLoop, written: ir.Value, inputs: ir.Value, state: ir.Value) -> ir.Value:
    """Stacks the list of outputs, which have the shape of a state, into a tensor [time or 1, batch, u]."""
    kind, inputs_kind = ir.ShapedType(state.type), ir.ShapedType(inputs.type)
    steps = inputs_kind.shape[0] if loop.every_step else 1
    known = not loop.every_step or not inputs_kind.is_dynamic_dim(0)
    return create_value(
        "tf.TensorListStack",
        ir.RankedTensorType.get([steps, *kind.shape], kind.element_type),
        [written, _item_shape(state)],
        {**_element_type(state), "num_elements": steps if known else -1},
    )


def _with_leading_dimension(value: ir.Value) -> ir.Value:
    """Adds a leading dimension of size 1 to a value."""
    kind = ir.ShapedType(value.type)
    whole = ir.RankedTensorType.get([1, *kind.shape], kind.element_type)
    return create_value("tf.ExpandDims", whole, [value, int32_constant(0)])


def _with_constants_as_arguments(
    module: ir.Module, function: func.FuncOp, constants: Sequence[ir.Value], types: Sequence[ir.Type] = ()
) -> func.FuncOp:
    """Copies a loop's function, with more loop variables: some of its constants, or variables that it does not use."""
    copy = function.clone(ip=ir.InsertionPoint(function))
    assert isinstance(copy, func.FuncOp)
    copy.attributes["sym_name"] = ir.StringAttr.get(free_symbol(module, f"{function_symbol(function)}.outlined"))
    copy.attributes[ORIGINAL_NAME] = ir.StringAttr.get(original_name(function))
    block = copy.entry_block
    copies = dict(zip(_results(function), _results(copy), strict=True))
    added: list[ir.Value] = []
    for value in constants:
        argument = block.add_argument(value.type, value.location)
        copies[value].replace_all_uses_with(argument)
        added.append(argument)
    for kind in types:
        block.add_argument(kind, copy.location)
    if added:
        terminator = terminator_of(block)
        returned = [*terminator.operands, *added]
        with ir.InsertionPoint(terminator), terminator.location:
            func.ReturnOp(returned)
        terminator.operation.erase()
    update_function_type(copy)
    return copy


def _results(function: func.FuncOp) -> list[ir.Value]:
    return [result for op in function.entry_block.operations for result in op.results]


def _argument_number(value: ir.Value) -> int | None:
    return ir.BlockArgument(value).arg_number if isinstance(value.owner, ir.Block) else None


def _outside(loop: StepLoop, value: ir.Value) -> ir.Value:
    """Returns a weight outside of the loop."""
    position = _argument_number(value)
    return _copied(value) if position is None else loop.op.operands[position]


def _copied(value: ir.Value) -> ir.Value:
    """Copies a constant to the insertion point."""
    owner = value.owner
    assert not isinstance(owner, ir.Block)
    return create_value("tf.Const", value.type, [], attributes_of(owner))


def _item_shape(value: ir.Value, leading: int = 0) -> ir.Value:
    """Returns the shape of a list's items, -1 for dynamic dimensions, from a type without its leading dimensions."""
    kind = ir.ShapedType(value.type)
    sizes = [-1 if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(leading, kind.rank)]
    return int32_constant(sizes)


def _element_type(value: ir.Value) -> dict[str, ir.Attribute]:
    assert not is_variant(value)
    return {"element_dtype": ir.TypeAttr.get(ir.ShapedType(value.type).element_type)}


def first_size(value: ir.Value) -> ir.Value:
    """Returns the size of the first dimension, an int32 scalar."""
    kind = ir.ShapedType(value.type)
    if not kind.is_dynamic_dim(0):
        return int32_constant(kind.shape[0])
    int32 = ir.IntegerType.get_signless(32)
    shape = create_value("tf.Shape", ir.RankedTensorType.get([kind.rank], int32), [value])
    return create_value(
        "tf.StridedSlice",
        ir.RankedTensorType.get([], int32),
        [shape, *(int32_constant([number]) for number in (0, 1, 1))],
        {"shrink_axis_mask": 1},
    )


def _with_axes_swapped(value: ir.Value) -> ir.Value:
    """Transposes the first two dimensions of a value."""
    kind = ir.ShapedType(value.type)
    order = [1, 0, *range(2, kind.rank)]
    dynamic = ir.ShapedType.get_dynamic_size()
    sizes = [dynamic if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in order]
    swapped = ir.RankedTensorType.get(sizes, kind.element_type)
    return create_value("tf.Transpose", swapped, [value, int32_constant(order)])


def _cast(value: ir.Value, kind: ir.Type) -> ir.Value:
    return value if value.type == kind else create_value("tf.Cast", kind, [value])


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
    sources = [step.x for step in chain.steps] + [*first.states, *first.weights]
    region = region_between(function, sources, last.results)
    outputs = [step.results[0] for step in chain.steps]
    place = min(_users(region, {*outputs, *last.results}), default=region.last + 1)
    if any(region.order.get(value, -1) >= place for value in sources):
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
    """Returns the places of the ops outside that use outputs and last states; raises ``NotRecognized`` for others."""
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
