"""Loops that compute in integers: what they carry from step to step is integers of one scale, as in their bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.float_ops import BIASES
from litefuse.conversion.quantization.integer_rules import MOVING, Moving
from litefuse.conversion.quantization.moved_constants import constant_integers
from litefuse.conversion.quantization.recurrent.needless_conversions import drop_unused, join_integers
from litefuse.conversion.quantization.recurrent.quantized_forms import scale_of
from litefuse.conversion.quantization.tied_ranges import TiedRanges
from litefuse.litert.export.editor import GraphEditor, Scale, editors_of
from litefuse.litert.runtime.schema_objects import dtype_of

# What joins a state with other numbers in loops of recurrent layers.
_JOINING = frozenset({"DYNAMIC_UPDATE_SLICE", "SELECT_V2"})


def integer_bodies(model: Any, ranges: Ranges, kept: Collection[str]) -> set[int]:
    """Returns the numbers of the subgraphs that are bodies of loops, in signatures and such loops, and can be integers.

    The number of steps must not depend on what is rounded: such a loop might not end. And its steps must be those of a
    network: other loops are algorithms, such as decompositions of matrices, which need exact numbers.

    Args:
        model: The model in floating point, as the schema's objects.
        ranges: The ranges of its tensors; a loop that made no step in any call has none of its body.
        kept: The names of the results of ops that stay in floating point.
    """
    graphs = editors_of(model)
    bodies, others = set[int](), set[int]()
    pending = [int(signature.subgraphIndex) for signature in model.signatureDefs or ()]
    while pending:
        graph = graphs[pending.pop()]
        for op in (op for op in graph.ops or () if graph.kind(op) == "WHILE"):
            number = int(op.builtinOptions.bodySubgraphIndex)
            body = graphs[number]
            steps = [step for step in body.ops or () if body.kind(step) != "WHILE"]  # whose results have no ranges
            results = [int(result) for step in steps for result in step.outputs if result >= 0]
            real = [body.name(result) for result in results if body.is_type(result, "float32")]
            is_kept = any(graph.name(result) in kept for result in op.outputs)
            is_network = _is_counted(*_subgraphs(graphs, op)) and _has_layers(graphs, number)
            if is_kept or not is_network or not all(name in ranges for name in real):
                others.add(number)
            elif number not in bodies:
                bodies.add(number)
                pending.append(number)
    return bodies - others


def _is_counted(body: GraphEditor, condition: GraphEditor) -> bool:
    """Whether integers alone say how many steps a loop makes."""
    places: set[int] = set()
    pending: list[tuple[GraphEditor, int]] = [(condition, int(condition.graph.outputs[0]))]
    while pending:
        graph, index = pending.pop()
        if graph.is_type(index, "float32") and graph.constant(index) is None:
            return False
        op = graph.producer(index)
        if op is not None:
            pending += [(graph, int(operand)) for operand in op.inputs if operand >= 0 and graph.kind(op) != "SHAPE"]
        new = {place for place, taken in enumerate(graph.graph.inputs) if taken == index} - places
        pending += [(body, int(body.graph.outputs[place])) for place in new]
        places |= new
    return True


def _has_layers(graphs: list[GraphEditor], number: int) -> bool:
    """Whether a subgraph, or a loop in it, multiplies with weights."""
    graph = graphs[number]
    return any(
        _has_layers(graphs, int(op.builtinOptions.bodySubgraphIndex))
        if graph.kind(op) == "WHILE"
        else graph.kind(op) in BIASES and any(graph.is_constant(int(operand)) for operand in op.inputs)
        for op in graph.ops or ()
    )


def carried_ranges(model: Any, bodies: Collection[int], ranges: Ranges, bits: int) -> Ranges:
    """Returns ranges in which a value that a loop carries has one range, wherever it stands.

    That is as the operand of the body, as its result, and as the result of the loop; in the body, also where an op
    hands the scale of a state on. So has the value before the first step, unless it is much smaller.

    Args:
        model: The model in floating point, as the schema's objects.
        bodies: The bodies of the loops that become integers.
        ranges: The ranges of its tensors.
        bits: The bits of activations.
    """
    graphs, ties = editors_of(model), TiedRanges(ranges)
    similar: list[tuple[str, str]] = []
    for outer, op in _loops(graphs, bodies):
        body, condition = _subgraphs(graphs, op)
        for place in _real_places(body):
            name = body.name(body.graph.inputs[place])
            ties.join(name, condition.name(condition.graph.inputs[place]))
            ties.join(name, outer.name(op.outputs[place]))
            first, given = int(op.inputs[place]), int(body.graph.outputs[place])
            if (constant := body.constant(given)) is not None:
                ties.widen(name, constant)
            else:
                ties.join(name, body.name(given))
            if (constant := outer.constant(first)) is not None:
                ties.widen(name, constant)
            else:
                ties.widen(name, *ranges.get(outer.name(first), {}).values())
                similar.append((name, outer.name(first)))
    for body in (graphs[number] for number in sorted(bodies)):
        for op in body.ops:
            if len(op.outputs):
                ties.fix(body.name(op.outputs[0]), body.kind(op), bits)
            similar[:0] = _of_one_scale(body, op)
    for pair in similar:
        ties.join_similar(*pair)
    return ties.ranges()


def _loops(graphs: list[GraphEditor], bodies: Collection[int]) -> Iterator[tuple[GraphEditor, Any]]:
    """Yields the loops with these bodies, with their subgraphs."""
    for graph in graphs:
        for op in [*(graph.ops or ())]:
            if graph.kind(op) == "WHILE" and op.builtinOptions.bodySubgraphIndex in bodies:
                yield graph, op


def _subgraphs(graphs: list[GraphEditor], op: Any) -> tuple[GraphEditor, GraphEditor]:
    """Returns the body and the condition of a loop."""
    options = op.builtinOptions
    return graphs[int(options.bodySubgraphIndex)], graphs[int(options.condSubgraphIndex)]


def _real_places(body: GraphEditor) -> list[int]:
    return [place for place, index in enumerate(body.graph.inputs) if body.is_type(index, "float32")]


def _of_one_scale(graph: GraphEditor, op: Any) -> list[tuple[str, str]]:
    """Returns the pairs of an op's tensors that need one scale, or that are better off with one."""
    kind, result = graph.kind(op), int(op.outputs[0])
    moving = MOVING.get(kind)
    if moving is None or (moving.handed_on != "all" and kind not in _JOINING):
        return []
    real = [index for index in map(int, op.inputs[moving.operands]) if graph.is_type(index, "float32")]
    return [(graph.name(result), graph.name(operand)) for operand in real if graph.constant(operand) is None]


def make_loops_integer(model: Any, bodies: Collection[int], ranges: Ranges, bits: int) -> bool:
    """Has loops carry integers where their bodies compute with them::

        body: %h -> quantize -> ... -> dequantize -> %y     -->     body: %h: int8 -> ... -> %y: int8

    Args:
        model: The quantized model, as the schema's objects.
        bodies: The bodies of its loops that are to compute so.
        ranges: The ranges of its tensors, as :func:`carried_ranges` returns them.
        bits: The bits of activations.

    Returns:
        Whether it changed.
    """
    graphs = editors_of(model)
    changed = _carry_integers(graphs, bodies, bits, lambda number: _carried(graphs[number], ranges, bits))
    _join_all(model, graphs if changed else (), [graphs[number] for number in bodies])
    return changed


def make_trained_loops_integer(model: Any) -> bool:
    """Has loops carry int8 where their bodies give nothing else, as training for integers has them.

    What they carry is rounded nowhere but where they start; there, the body would have rounded it itself.

    Args:
        model: A model whose ops compute in int8, as the schema's objects.

    Returns:
        Whether it changed.
    """
    graphs = editors_of(model)
    loops = [op for graph in graphs for op in graph.ops or () if graph.kind(op) == "WHILE"]
    bodies = dict.fromkeys(int(op.builtinOptions.bodySubgraphIndex) for op in loops)
    if not _carry_integers(graphs, bodies, 8, lambda number: _given_integers(graphs, number)):
        return False
    for graph in graphs:
        _move_integers(graph)
    _join_all(model, graphs, [graphs[number] for number in bodies])
    return True


def _join_all(model: Any, graphs: Iterable[GraphEditor], bodies: Iterable[GraphEditor]) -> None:
    """Removes the conversions that cancel out, and what nothing uses then."""
    for graph in graphs:
        join_integers(graph)
    for body in bodies:
        _give_sources(body)
        _copy_carried(body)
    drop_unused(model)


def _copy_carried(body: GraphEditor) -> None:
    """Has a body copy what it takes at one place and gives at another one: LiteRT would overwrite it before."""
    for place, given in enumerate(body.graph.outputs):
        if given in {int(index) for index in body.graph.inputs} - {int(body.graph.inputs[place])}:
            name = f"{body.name(given)}_copied"
            copy = body.add_tensor(name, body.shape(given), dtype_of(body.tensor(given)), body.scale(given))
            body.add_op(None, "MAXIMUM", [given, given], [copy])
            body.graph.outputs[place] = copy


def _given_integers(graphs: list[GraphEditor], number: int) -> dict[int, Scale]:
    """Returns the places of the values that a body makes of int8 without rounding them again, with their scales."""
    body = graphs[number]
    places, taken = _real_places(body), [int(index) for index in body.graph.inputs]
    same = {place for place in places if taken[place] == int(body.graph.outputs[place])}
    operands = [(outer, op.inputs) for outer, op in _loops(graphs, {number})]
    zeros = {place for place in same if all(_is_zero(outer, int(inputs[place])) for outer, inputs in operands)}
    scales: dict[int, Scale] = {}
    for _ in places:  # a value may be made of what is carried at another place
        known = {taken[place]: scales.get(place) for place in {*scales, *zeros}}
        for place in places:
            takers = [*body.consumers(taken[place])]
            rounded = {body.scale(int(op.outputs[0])) for op in takers if body.kind(op) == "QUANTIZE"}
            sources: set[int] = set()
            if place in same:
                scale = next(iter(rounded)) if len(takers) == len(rounded) == 1 else None
            else:
                scale, sources = _scale_given(body, place, known)
            if scale is not None and rounded <= {scale}:
                scales[place] = scale
                scales |= {other: scale for other in zeros - scales.keys() if taken[other] in sources}
    return scales


def _is_zero(graph: GraphEditor, index: int) -> bool:
    """Whether all numbers of a tensor are zeros, which the integers of any scale represent."""
    maker = graph.producer(index)
    if maker is not None and graph.kind(maker) in {"BROADCAST_TO", "FILL"}:
        index = int(maker.inputs[1 if graph.kind(maker) == "FILL" else 0])
    constant = graph.constant(index)
    return constant is not None and not constant.any()


def _scale_given(body: GraphEditor, place: int, known: Mapping[int, Scale | None]) -> tuple[Scale | None, set[int]]:
    """Returns the scale of the integers that a body moves to give a value, and what it moves.

    Args:
        body: The body.
        place: The place of the value; what the body takes there may be moved, too.
        known: The scales of what it takes at other places; None for zeros, which have none yet.
    """
    own, pending = int(body.graph.inputs[place]), [int(body.graph.outputs[place])]
    scales, seen = set[Scale | None](), set[int]()
    while pending:
        index = pending.pop()
        maker = body.producer(index)
        if index in seen or index == own or body.constant(index) is not None:
            continue
        seen.add(index)
        moving = None if maker is None else MOVING.get(body.kind(maker))
        if index in known:
            scales.add(known[index])
        elif maker is not None and body.kind(maker) == "DEQUANTIZE" and body.is_type(int(maker.inputs[0]), "int8"):
            scales.add(body.scale(int(maker.inputs[0])))
        elif maker is not None and moving is not None and _keeps(body, maker, moving):
            pending += map(int, maker.inputs[moving.operands])
        else:
            return None, set()
    scales.discard(None)
    return (scales.pop() if len(scales) == 1 else None), seen


def _keeps(graph: GraphEditor, op: Any, moving: Moving) -> bool:
    """Whether an op makes no other numbers than it takes."""
    return moving.handed_on in {"all", "parts"} or graph.kind(op) in _JOINING


def _move_integers(graph: GraphEditor) -> None:
    """Has ops move integers in the place of what is made of them::

    %f = dequantize(%q)                 %r = select(%mask, %q, %0)
    %y = select(%mask, %f, %0)   -->    %y = dequantize(%r)
    """
    for op in [*(graph.ops or ())]:
        moving = MOVING.get(graph.kind(op))
        if moving is None or not _keeps(graph, op, moving):
            continue
        places = range(len(op.inputs))[moving.operands]
        makers = {place: graph.producer(int(op.inputs[place])) for place in places}
        sources = {
            place: int(maker.inputs[0])
            for place, maker in makers.items()
            if maker is not None and graph.kind(maker) == "DEQUANTIZE" and graph.is_type(int(maker.inputs[0]), "int8")
        }
        scales = {graph.scale(source) for source in sources.values()}
        scale = scales.pop() if len(scales) == 1 else None
        for place in places:
            if scale is not None and place not in sources:
                integers = constant_integers(graph, int(op.inputs[place]), scale, "int8")
                if integers is None:
                    break
                sources[place] = graph.add_constant(f"{graph.name(int(op.inputs[place]))}_int8", integers, scale)
        if scale is None or len(sources) < len(places):
            continue
        op.inputs = [sources.get(place, int(operand)) for place, operand in enumerate(op.inputs)]
        results = [int(result) for result in op.outputs]
        op.outputs = [_dequantized(graph, graph.after(op), result, scale, 8) for result in results]


def _carry_integers(
    graphs: list[GraphEditor], bodies: Collection[int], bits: int, scales_in: Callable[[int], Mapping[int, Scale]]
) -> bool:
    """Has loops carry integers of these scales, which are those of places in a body; returns whether any does."""
    changed, conditions = False, set[int]()
    for number in _inner_first(graphs, bodies):
        body = graphs[number]
        scales = scales_in(number)
        changed = changed or bool(scales)
        for outer, op in _loops(graphs, {number}):
            op.inputs, op.outputs = [*map(int, op.inputs)], [*map(int, op.outputs)]
            for place, scale in scales.items():
                op.inputs[place] = _quantized(outer, op, op.inputs[place], scale, bits)
                op.outputs[place] = _dequantized(outer, outer.after(op), op.outputs[place], scale, bits)
            if (condition := int(op.builtinOptions.condSubgraphIndex)) not in conditions:
                conditions.add(condition)
                _take_integers(graphs[condition], scales, bits)
        body.graph.outputs = [*map(int, body.graph.outputs)]
        for place, scale in scales.items():
            body.graph.outputs[place] = _quantized(body, None, body.graph.outputs[place], scale, bits)
        _take_integers(body, scales, bits)
    return changed


def _inner_first(graphs: list[GraphEditor], bodies: Collection[int]) -> list[int]:
    """Returns the bodies in an order in which those of inner loops come before those of the loops that they are in."""
    ordered: list[int] = []

    def visit(number: int) -> None:
        for op in graphs[number].ops or ():
            if graphs[number].kind(op) == "WHILE" and (inner := int(op.builtinOptions.bodySubgraphIndex)) in bodies:
                visit(inner)
        if number not in ordered:
            ordered.append(number)

    for number in bodies:
        visit(number)
    return ordered


def _take_integers(graph: GraphEditor, scales: Mapping[int, Scale], bits: int) -> None:
    """Has a body or a condition take integers, and make numbers of them for its ops."""
    graph.graph.inputs = [*map(int, graph.graph.inputs)]
    for place, scale in scales.items():
        first = graph.ops[0] if len(graph.ops or ()) else None
        graph.graph.inputs[place] = _dequantized(graph, first, graph.graph.inputs[place], scale, bits)


def _carried(body: GraphEditor, ranges: Ranges, bits: int) -> dict[int, Scale]:
    """Returns the places of the values that a body makes integers of, or makes of integers, with their scales."""
    scales: dict[int, Scale] = {}
    for place in _real_places(body):
        taken, given = int(body.graph.inputs[place]), int(body.graph.outputs[place])
        maker, range_ = body.producer(given), ranges.get(body.name(taken))
        while maker is not None and (moving := MOVING.get(body.kind(maker))) and moving.handed_on == "all":
            maker = body.producer(int(maker.inputs[0]))  # an op that becomes one of integers after the loops
        integers = [int(op.outputs[0]) for op in body.consumers(taken) if body.kind(op) == "QUANTIZE"]
        integers += [int(maker.inputs[0])] if maker is not None and body.kind(maker) == "DEQUANTIZE" else []
        low, high = (float(np.ravel(range_[end])[0]) if range_ else math.inf for end in ("min", "max"))
        if not integers or math.isinf(low) or math.isinf(high):
            continue
        scale = scale_of(low, high, bits)
        # The same scale may differ by the order of the computation.
        near = [other for other in map(body.scale, integers) if other is not None and _is_near(other, scale)]
        scales[place] = near[0] if near else scale
    return scales


def _is_near(one: Scale, other: Scale) -> bool:
    return one.zero == other.zero and math.isclose(one.scale, other.scale, rel_tol=1e-5)


def _quantized(graph: GraphEditor, before: Any | None, index: int, scale: Scale, bits: int) -> int:
    """Returns the integers of a tensor, after adding an op that makes them, or a constant."""
    name = f"{graph.name(index)}_int{bits}"
    constant = constant_integers(graph, index, scale, f"int{bits}")
    if constant is not None:
        return graph.add_constant(name, constant, scale)
    made = graph.add_tensor(name, graph.shape(index), f"int{bits}", scale)
    graph.add_op(before, "QUANTIZE", [index], [made])
    return made


def _dequantized(graph: GraphEditor, before: Any | None, index: int, scale: Scale, bits: int) -> int:
    """Returns integers that a tensor is made of from now on."""
    made = graph.add_tensor(f"{graph.name(index)}_int{bits}", graph.shape(index), f"int{bits}", scale)
    graph.add_op(before, "DEQUANTIZE", [made], [index])
    return made


def _give_sources(body: GraphEditor) -> None:
    """Has a body give integers that are of the scale already, in place of what QUANTIZE makes of them."""
    for place, given in enumerate(body.graph.outputs):
        maker = body.producer(given)
        if maker is None or body.kind(maker) != "QUANTIZE":
            continue
        source = int(maker.inputs[0])
        if body.scale(source) == body.scale(given) and dtype_of(body.tensor(source)) == dtype_of(body.tensor(given)):
            body.graph.outputs[place] = source
            if not body.is_output(given) and not any(body.consumers(given)):
                body.remove_op(maker)
