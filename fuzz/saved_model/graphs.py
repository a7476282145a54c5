"""Changes of a SavedModel's message that know what it means: nodes, attributes, shapes, functions, objects."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

from fuzz.messages import change_message
from fuzz.values import FLOATS, INTEGERS, STRINGS, hostile_integer
from litefuse.frontends.saved_model.messages import (
    AttrValue,
    FunctionDef,
    NameAttrList,
    NodeDef,
    SavedModel,
    TensorShapeProto,
)
from litefuse.frontends.saved_model.op_registry import op_registry

_TYPES = (*range(30), 64, 100, 101, 103, 120, -1, 2**31 - 1)


def change_model(draw: random.Random, model: SavedModel) -> None:
    """Makes one to six changes."""
    for _ in range(draw.choice((1, 1, 2, 2, 3, 4, 6))):
        if not model.meta_graphs:
            return
        if draw.random() < 0.35:
            change_message(draw, _part(draw, model))
        else:
            draw.choice(_CHANGES)(draw, model)


def _part(draw: random.Random, model: Any) -> Any:
    """A part to change: small ones are not to be lost among all the nodes."""
    meta_graph = model.meta_graphs[0]
    graph = meta_graph.graph_def
    functions = list(graph.library.function)
    signatures = meta_graph.signature_def
    parts = [model, meta_graph.object_graph_def, graph.library, *(signatures[key] for key in sorted(signatures))]
    if functions:
        parts += [draw.choice(functions)] * 3
    if graph.node:
        parts.append(draw.choice(graph.node))
    parts += [meta_graph.saver_def, meta_graph.meta_info_def, *meta_graph.asset_file_def]
    return draw.choice(parts)


@functools.cache
def _ops() -> list[str]:
    return [*op_registry()]


def _nodes(draw: random.Random, model: Any) -> Any:
    """The nodes of the graph or of a function, most often of one that has any."""
    graph = model.meta_graphs[0].graph_def
    bodies = [function.node_def for function in graph.library.function if function.node_def]
    if not bodies or draw.random() < 0.2:
        return graph.node
    return draw.choice(bodies)


def _node(draw: random.Random, model: Any) -> Any:
    nodes = _nodes(draw, model)
    return draw.choice(nodes) if nodes else NodeDef()


def _functions(model: Any) -> Any:
    return model.meta_graphs[0].graph_def.library.function


def _change_op(draw: random.Random, model: Any) -> None:
    node = _node(draw, model)
    node.op = draw.choice(_ops()) if draw.random() < 0.8 else draw.choice(["", "NoSuchOp", "Placeholder", "_Arg"])
    if draw.random() < 0.7:  # with the attributes that it must have
        definition = op_registry().get(node.op)
        for attr in definition.attr if definition else ():
            if attr.name not in node.attr and not attr.HasField("default_value"):
                node.attr[attr.name].CopyFrom(_attribute(draw, attr.type, model))


def _change_inputs(draw: random.Random, model: Any) -> None:
    nodes = _nodes(draw, model)
    node = draw.choice(nodes) if nodes else NodeDef()
    sources = [name for each in nodes for name in (*each.input, f"{each.name}:output:0", each.name, f"^{each.name}")]
    if not sources:
        return
    source = draw.choice(sources)
    if draw.random() < 0.2:
        source = draw.choice(
            [
                source + ":1",
                source.rpartition(":")[0] + ":-1",
                f"{source}:99999999999",
                draw.choice(STRINGS).decode("latin-1"),
            ]
        )
    if node.input and draw.random() < 0.7:
        node.input[draw.randrange(len(node.input))] = source
    else:
        node.input.append(source)


def _attribute(draw: random.Random, kind: str, model: Any) -> AttrValue:
    """A hostile value of a kind, as op definitions call it."""
    names = [function.signature.name for function in _functions(model)] or [""]
    if kind.startswith("list("):
        made, values = AttrValue(), [_attribute(draw, kind[5:-1], model) for _ in range(draw.randrange(4))]
        made.list.SetInParent()
        for value in values:
            filled = value.WhichOneof("value")
            if filled in {"s", "i", "f", "b", "type"}:
                getattr(made.list, filled).append(getattr(value, filled))
            elif filled in {"shape", "tensor", "func"}:
                getattr(made.list, filled).add().CopyFrom(getattr(value, filled))
        return made
    match kind:
        case "int":
            return AttrValue(i=hostile_integer(draw))
        case "float":
            value = draw.choice(FLOATS)
            return AttrValue(f=value if abs(value) < 3e38 else float("inf"))
        case "bool":
            return AttrValue(b=draw.random() < 0.5)
        case "string":
            return AttrValue(s=draw.choice(STRINGS))
        case "type":
            return AttrValue(type=draw.choice(_TYPES))  # pyright: ignore[reportArgumentType]
        case "shape":
            return AttrValue(shape=_hostile_shape(draw))
        case "tensor":
            return _tensor(draw)
        case _:
            return AttrValue(func=NameAttrList(name=draw.choice(names)))


def _hostile_shape(draw: random.Random) -> TensorShapeProto:
    if draw.random() < 0.2:
        return TensorShapeProto(unknown_rank=True)
    rank = draw.choice((0, 1, 2, 3, 4, 8, 300))
    sizes = [draw.choice(INTEGERS) if draw.random() < 0.5 else draw.choice((-1, 0, 1, 2)) for _ in range(rank)]
    sizes = [min(max(size, -(2**63)), 2**63 - 1) for size in sizes]
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _tensor(draw: random.Random) -> AttrValue:
    made = AttrValue()
    made.tensor.dtype = draw.choice(_TYPES)
    made.tensor.tensor_shape.CopyFrom(_hostile_shape(draw))
    match draw.randrange(4):
        case 0:
            made.tensor.tensor_content = draw.choice(STRINGS)
        case 1:
            made.tensor.int_val.append(hostile_integer(draw, 32))
        case 2:
            made.tensor.float_val.append(1.5)
        case _:
            made.tensor.string_val.append(draw.choice(STRINGS))
    return made


_KINDS = ("int", "float", "bool", "string", "type", "shape", "tensor", "func", "list(int)", "list(type)", "list(shape)")


def _change_attribute(draw: random.Random, model: Any) -> None:
    node = _node(draw, model)
    definition = op_registry().get(node.op)
    kinds = {attr.name: attr.type for attr in definition.attr} if definition else {}
    known = sorted({*kinds, *node.attr})
    if not known:
        return
    name = draw.choice(known)
    if draw.random() < 0.1:
        node.attr.pop(name, None)
        return
    kind = kinds.get(name, "int") if draw.random() < 0.8 else draw.choice(_KINDS)
    node.attr[name].CopyFrom(_attribute(draw, kind, model))


def _change_constant(draw: random.Random, model: Any) -> None:
    constants = [node for node in _nodes(draw, model) if node.op == "Const" and "value" in node.attr]
    if not constants:
        return
    tensor = draw.choice(constants).attr["value"].tensor
    match draw.randrange(4):
        case 0:
            tensor.tensor_shape.CopyFrom(_hostile_shape(draw))
        case 1:
            tensor.dtype = draw.choice(_TYPES)  # pyright: ignore[reportAttributeAccessIssue]
        case 2 if tensor.int_val:
            tensor.int_val[draw.randrange(len(tensor.int_val))] = hostile_integer(draw, 32)
        case 2 if tensor.tensor_content:
            content = bytearray(tensor.tensor_content)
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
            tensor.tensor_content = bytes(content)
        case _:
            tensor.tensor_content = draw.choice(STRINGS)


def _change_callee(draw: random.Random, model: Any) -> None:
    """Another function is called: a missing one, itself, one of another arity."""
    names = [function.signature.name for function in _functions(model)]
    callers = [
        node
        for function in (*_functions(model), model.meta_graphs[0].graph_def)
        for node in (function.node_def if isinstance(function, FunctionDef) else function.node)
        if any(value.HasField("func") for value in node.attr.values())
    ]
    if not callers or not names:
        return
    node = draw.choice(callers)
    attr = draw.choice([name for name, value in sorted(node.attr.items()) if value.HasField("func")])
    node.attr[attr].func.name = draw.choice(names) if draw.random() < 0.85 else "no_such_function"


def _double_calls(draw: random.Random, model: Any) -> None:
    """Functions that each call the one before twice: what they hold together has no end."""
    functions = _functions(model)
    plain = [each for each in functions if len(each.signature.input_arg) == len(each.signature.output_arg) == 1]
    if not plain:
        return
    last = draw.choice(plain)
    for depth in range(draw.choice((3, 30, 200))):
        made = FunctionDef()
        made.signature.CopyFrom(last.signature)
        made.signature.name = f"doubled_{depth}"
        argument, result = made.signature.input_arg[0].name, made.signature.output_arg[0].name
        source = argument
        for name in ("first", "second"):
            node = made.node_def.add(name=name, op="PartitionedCall", input=[source])
            node.attr["f"].func.name = last.signature.name
            for attr, arguments in (("Tin", made.signature.input_arg), ("Tout", made.signature.output_arg)):
                node.attr[attr].list.type.append(arguments[0].type)
            source = f"{name}:output:0"
        made.ret[result] = source
        functions.add().CopyFrom(made)
        last = made
    _call(draw, model, last.signature.name)


def _call(draw: random.Random, model: Any, name: str) -> None:
    for node in model.meta_graphs[0].graph_def.node:
        if "f" in node.attr and draw.random() < 0.8:
            node.attr["f"].func.name = name
    for concrete in model.meta_graphs[0].object_graph_def.concrete_functions:
        if draw.random() < 0.3:
            _functions(model)[-1].signature.name = concrete
            return


def _change_nodes(draw: random.Random, model: Any) -> None:
    nodes = _nodes(draw, model)
    if not nodes:
        return
    place = draw.randrange(len(nodes))
    match draw.randrange(3):
        case 0:
            del nodes[place]
        case 1:
            nodes.add().CopyFrom(nodes[place])
        case _:
            nodes[place].name = draw.choice(nodes).name


def _change_objects(draw: random.Random, model: Any) -> None:
    """Bound inputs, children and kinds of objects become wrong ones; a cycle, now and then."""
    objects = model.meta_graphs[0].object_graph_def
    count = len(objects.nodes)
    numbers = (*range(count), -1, count, 2**31 - 1, -(2**31))
    concrete = [objects.concrete_functions[name] for name in sorted(objects.concrete_functions)]
    match draw.randrange(4):
        case 0 if concrete:
            function = draw.choice(concrete)
            if function.bound_inputs and draw.random() < 0.7:
                function.bound_inputs[draw.randrange(len(function.bound_inputs))] = draw.choice(numbers)
            else:
                function.bound_inputs.append(draw.choice(numbers))
        case 1 if count:
            children = draw.choice(objects.nodes).children
            if children:
                draw.choice(children).node_id = draw.choice(numbers)
        case 2 if count > 1:
            draw.choice(objects.nodes).CopyFrom(draw.choice(objects.nodes))
        case _ if count:
            change_message(draw, draw.choice(objects.nodes))
        case _:
            return


def _change_signature(draw: random.Random, model: Any) -> None:
    signatures = model.meta_graphs[0].signature_def
    if not signatures:
        return
    signature = signatures[draw.choice(sorted(signatures))]
    for _ in range(draw.randint(1, 2)):
        change_message(draw, signature)


_CHANGES: tuple[Callable[[random.Random, Any], None], ...] = (
    *(_change_op, _change_op, _change_inputs, _change_inputs, _change_attribute, _change_attribute, _change_attribute),
    *(_change_constant, _change_constant, _change_callee, _change_nodes, _change_objects, _change_signature),
    _double_calls,
)
