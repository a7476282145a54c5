"""The loops of scattered slices, and the calls of functions for rows."""

from __future__ import annotations

from collections.abc import Sequence

from litefuse.kernels.generator.code import Branch, Call, Scope
from litefuse.kernels.generator.emitter import Array, Emitter, Scalar, merged_position
from litefuse.kernels.generator.indices import Index
from litefuse.kernels.generator.nodes import Node, OfRows, Position, Scattered, Stored

#: For each kind: the function that combines two elements, and what there is without any.
COMBINED = {
    "SUM": ("Add", "0"),
    "PROD": ("Multiply", "1"),
    "MAX": ("Larger", "std::numeric_limits<{}>::lowest()"),
    "MIN": ("Smaller", "std::numeric_limits<{}>::max()"),
}


def scattered(emitter: Emitter, node: Scattered, position: Position) -> Scalar:
    """Returns an element of combined slices, after the loops that compute them."""
    function, start = COMBINED[node.kind]
    kind = node.cpp_type

    def fill(_: Node, name: str, axes: Sequence[int], fixed: Position) -> None:
        shape = [node.shape[axis] for axis in axes]
        behind = [axis for axis in axes if axis]

        def begin(found: Sequence[Index]) -> None:
            emitter.stack[-1].items.append(f"{emitter.element(name, shape, found).text} = {start.format(kind)};")

        def combine(place: Sequence[Index]) -> None:
            pick = emitter.pick(node.indices, tuple(place))

            def element(inner: Sequence[Index]) -> None:
                where = merged_position(fixed, [0, *behind], [pick, *inner])
                value = emitter.value(node.source, (*place, *where[1:]))
                to = emitter.element(name, shape, [where[axis] for axis in axes]).text
                emitter.stack[-1].items.append(f"{to} = {function}<{kind}>({to}, {value});")

            scope = Scope(emitter.depth + 1, is_branch=True)
            emitter.stack.append(scope)
            emitter.loops([(("slice", node.number, axis), node.shape[axis]) for axis in behind], element)
            emitter.stack.pop()
            emitter.stack[-1].items.append(Branch(f"{emitter.written(pick)} >= 0", scope, Scope(scope.level)))

        emitter.loops([(("begin", node.number, axis), node.shape[axis]) for axis in axes], begin)
        extents = [(("scatter", node.number, axis), size) for axis, size in enumerate(node.indices.shape)]
        emitter.loops(extents, combine, in_order=True)

    return emitter.of_array(node, position, {0}, fill)


def of_rows(emitter: Emitter, node: OfRows, position: Position) -> Scalar:
    """Returns an element of rows that a function makes."""
    last = len(node.shape) - 1

    def fill(_: Node, name: str, axes: Sequence[int], fixed: Position) -> None:
        outer = [axis for axis in axes if axis != last]
        shape = [node.shape[axis] for axis in axes]
        work = emitter.new_name("work")
        emitter.arrays.append(Array(work, *node.work))

        def row(found: Sequence[Index]) -> None:
            where = (*merged_position(fixed, outer, found)[:last], Index())
            source = node.source
            name_of = source.name if isinstance(source, Stored) else emitter.stored.get(source)
            if name_of is None:
                first = emitter.kept(source, where, {last})
            else:
                first = emitter.element(name_of, source.shape, where)
            to = emitter.element(name, shape, [where[axis] for axis in axes]).text
            arguments = f"&{first.text}, {source.shape[last]}, &{to}, {node.shape[last]}, {work}"
            emitter.stack[-1].items.append(Call(f"litefuse::rows::{node.function}({arguments});"))

        emitter.loops([(("row", node.number, axis), node.shape[axis]) for axis in outer], row, in_order=True)

    return emitter.of_array(node, position, {last}, fill)
