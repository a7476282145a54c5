"""The functions of a kernel: one for each group of outputs of the same shape."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from litefuse.kernels.generator.emitter import Array, Emitter
from litefuse.kernels.generator.graph import NotGenerated
from litefuse.kernels.generator.indices import Index
from litefuse.kernels.generator.loops import Again, Plan
from litefuse.kernels.generator.nodes import Computed, Node, Reduction
from litefuse.kernels.generator.reductions import collected
from litefuse.kernels.generator.sizes import ONE, Size, Sizes
from litefuse.kernels.generator.writer import Writer

# The emission begins anew at most so often, and writes at most so many lines.
_MOST_ATTEMPTS = 60
_MOST_LINES = 2000


@dataclass(frozen=True)
class Stage:
    """A function.

    Attributes:
        lines: The lines of its body.
        arrays: The arrays that it needs.
        sizes: The named sizes that it uses.
        shape: The shape of what it computes.
    """

    lines: tuple[str, ...]
    arrays: tuple[Array, ...]
    sizes: tuple[str, ...]
    shape: tuple[Size, ...]


def stage(
    outputs: Sequence[tuple[Node, str]], sizes: Sizes, prefix: str, stored: Mapping[Node, str] | None = None
) -> Stage:
    """Writes the loops for outputs of the same shape.

    Args:
        outputs: The outputs, each with the name of its memory.
        sizes: The sizes of the kernel.
        prefix: Makes the names of the arrays unique in the kernel.
        stored: The names of tensors that have been computed before.

    Raises:
        NotGenerated: There is too much of it.
    """
    shape = outputs[0][0].shape
    stored = stored or {}
    nodes = reachable([node for node, _ in outputs], stored)
    shared, kept = _shared([node for node, _ in outputs], stored)
    plan = Plan(shared=shared, kept=kept)
    uses: dict[Node, int] = {}
    for node in nodes:
        for operand in () if node in stored else node.operands:
            uses[operand] = uses.get(operand, 0) + 1
    for _ in range(_MOST_ATTEMPTS):
        emitter = Emitter(sizes, plan, collected=collected, stored=stored, uses=uses)

        def element(position: Sequence[Index], emitter: Emitter = emitter) -> None:
            for node, name in outputs:
                value = emitter.value(node, tuple(position))
                to = emitter.element(name, shape, position).text
                emitter.stack[-1].items.append(f"{to} = {_bare(value)};")

        try:
            emitter.loops([(("output", axis), size) for axis, size in enumerate(shape)], element)
        except Again:
            continue
        except RecursionError:
            raise NotGenerated("its expressions are nested too deep") from None
        writer = Writer(emitter.positions, emitter.types)
        writer.write(emitter.stack[0], 1)
        break
    else:
        raise NotGenerated("its indices are too involved")
    if len(writer.lines) > _MOST_LINES:
        raise NotGenerated(f"its loops would take {len(writer.lines):,} lines of C++")
    renamed = {array.name: f"{prefix}{array.name}" for array in emitter.arrays}
    lines = tuple(_renamed(line, renamed) for line in writer.lines)
    arrays = tuple(replace_name(array, renamed[array.name]) for array in emitter.arrays)
    words = {word for line in lines for word in re.findall(r"\w+", line)}
    return Stage(lines, arrays, tuple(name for name in sizes.definitions if name in words), shape)


def replace_name(array: Array, name: str) -> Array:
    """Returns an array under another name."""
    return array._replace(name=name)


def _renamed(line: str, names: dict[str, str]) -> str:
    return re.sub(r"\w+", lambda match: names.get(match[0], match[0]), line) if names else line


def _bare(text: str) -> str:
    """Returns an expression without parentheses around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 else text
    return text


def reachable(nodes: Iterable[Node], stored: Collection[Node]) -> list[Node]:
    """Returns tensors and all that they are computed from, but not what stored ones have been computed from."""
    reached: dict[Node, None] = {}
    waiting = [*nodes]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached[node] = None
            waiting += () if node in stored else node.operands
    return list(reached)


def _shared(outputs: Sequence[Node], stored: Collection[Node]) -> tuple[set[Node], dict[Node, int]]:
    """Returns the costly tensors that reductions need and something else as well.

    Those of which rows are needed at a time, by reductions of rows; and those of which more is needed, each with the
    first axis along which it is.
    """
    regions: dict[Node, set[Node | None]] = {}
    waiting: list[tuple[Node, Node | None]] = [(node, None) for node in outputs]
    while waiting:
        node, region = waiting.pop()
        if region in regions.setdefault(node, set()):
            continue
        regions[node].add(region)
        if node in stored:
            continue
        inside = node if node.is_array() else region
        waiting += [(operand, inside) for operand in node.operands]

    rows: set[Node] = set()
    more: dict[Node, int] = {}
    for node, within in regions.items():
        if not isinstance(node, Computed) or not node.is_costly or len(within) < 2 or not node.shape:
            continue
        firsts = [_first_axis(region, node) for region in within if region is not None]
        last = len(node.shape) - 1
        if None in firsts or node.shape[last] == ONE:
            continue
        first = min(axis for axis in firsts if axis is not None)
        if first == last:
            rows.add(node)
        else:
            more[node] = first
    return rows, more


def _first_axis(region: Node, node: Node) -> int | None:
    """Returns the first axis that a reduction reduces a tensor along; None if it is of other axes."""
    if isinstance(region, Reduction) and region.source.shape == node.shape:
        return min(region.axes)
    return None
