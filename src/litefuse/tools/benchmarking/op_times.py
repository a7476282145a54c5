"""The times of the ops of a file, from those of the nodes that the runtime made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from litefuse.support.report.sections import count_of
from litefuse.tools.benchmarking.file_ops import FileOps
from litefuse.tools.benchmarking.jobs import ProfiledNode
from litefuse.tools.benchmarking.measurement import Operator, OpTime, Partition
from litefuse.tools.benchmarking.node_calls import XNNPACK
from litefuse.tools.benchmarking.operators import assigned
from litefuse.tools.benchmarking.operators_alone import OpAlone

# What XNNPACK cuts off the time of each run of an operator is less than this, in seconds.
_TICK = 1e-6
# What XNNPACK's delegate may take for each run of a partition, and more for each op, in seconds.
_OVERHEAD, _OVERHEAD_OF_OP = 1e-6, 1e-7
#: The kernels that run each node of theirs on its own, although the runtime calls them delegates.
_SINGLE = frozenset({"Python", "litefuse"})


class Alone(NamedTuple):
    """XNNPACK's operators for each op by itself.

    Attributes:
        ops: By the indices of its subgraph and of the op.
        reason: Why nothing is known of them; empty if something is.
    """

    ops: Mapping[tuple[int, int], OpAlone]
    reason: str = ""


def needs_alone(nodes: Sequence[ProfiledNode]) -> dict[int, tuple[int, ...]]:
    """Returns the ops, by their subgraphs, of which it has to be known what XNNPACK makes of them alone."""
    needs: dict[int, tuple[int, ...]] = {}
    for node in nodes:
        if node.kernel == XNNPACK and len(node.ops) > 1 and node.operators:
            needs[node.subgraph] = (*needs.get(node.subgraph, ()), *node.ops)
    return needs


def op_times(
    file: FileOps, signature: str, nodes: Sequence[ProfiledNode], alone: Alone
) -> tuple[tuple[OpTime, ...], tuple[Partition, ...]]:
    """Returns the times of the ops that a signature may run, and the partitions of delegates.

    Args:
        file: The ops of the file.
        signature: The key of the signature; empty for a model without signatures.
        nodes: The nodes that were timed.
        alone: What XNNPACK makes of each op alone.
    """
    partitions: list[Partition] = []
    times_of_ops: dict[tuple[int, int], OpTime] = {}
    for node in nodes:
        if node.kernel == "LiteRT" or (node.kernel in _SINGLE and len(node.ops) == 1):
            for op in node.ops:
                times_of_ops[node.subgraph, op] = _op_time(file, node, op, node.seconds)
            continue
        partition, times = _split(file, node, alone, len(partitions))
        partitions.append(partition)
        times_of_ops.update({(node.subgraph, time.op): time for time in times})
    ordered = [
        times_of_ops.get((subgraph, op)) or _op_time(file, ProfiledNode(subgraph, (op,), "none", 0.0, 0.0), op, 0.0)
        for subgraph in file.subgraphs[signature]
        for op in range(len(file.ops[subgraph]))
    ]
    return tuple(ordered), tuple(partitions)


def _op_time(
    file: FileOps,
    node: ProfiledNode,
    op: int,
    seconds: float | None,
    partition: int | None = None,
    operators: Sequence[str] = (),
) -> OpTime:
    known = file.ops[node.subgraph][op]
    return OpTime(
        node.subgraph,
        op,
        known.kind,
        known.name,
        known.layer,
        seconds,
        node.runs,
        node.kernel,
        partition,
        tuple(operators),
    )


def _split(file: FileOps, node: ProfiledNode, alone: Alone, index: int) -> tuple[Partition, list[OpTime]]:
    """Splits the time of a partition among its ops, as far as it is certain which operators are theirs."""
    names = [name for name, _ in node.operators]
    known = [alone.ops.get((node.subgraph, op)) for op in node.ops]
    places: list[range | None] = [None] * len(node.ops)
    if len(node.ops) == 1:
        places = [range(len(names))]
    elif names:
        places = assigned(names, [None if op_alone is None else op_alone.operators for op_alone in known])
    owners = {place: position for position, own in enumerate(places) for place in own or ()}
    spent = _spent(node, places, [None if op_alone is None else op_alone.seconds for op_alone in known], owners)
    seconds = [None if own is None else sum(spent[place] for place in own) for own in places]
    if len(node.ops) == 1:
        seconds = [node.seconds]
    if not node.runs:
        seconds = [0.0] * len(node.ops)
    unknown = sum(second is None for second in seconds)
    split = not unknown
    partition = Partition(
        index,
        node.kernel,
        node.subgraph,
        tuple((node.subgraph, op) for op in node.ops),
        node.seconds,
        node.runs,
        tuple(
            Operator(name, spent[place], (owners[place],) if place in owners else ())
            for place, name in enumerate(names)
        ),
        split,
        "" if split else _reason(node, alone, unknown),
    )
    times = [
        _op_time(file, node, op, time, index, [names[place] for place in own or ()])
        for op, time, own in zip(node.ops, seconds, places, strict=True)
    ]
    return partition, times


def _spent(
    node: ProfiledNode, places: Sequence[range | None], alone: Sequence[float | None], owners: Mapping[int, int]
) -> list[float]:
    """Returns the time of each operator of a partition; together at most that of the partition.

    XNNPACK counts whole microseconds. What it cuts off is taken from the time of the op alone, as far as the time of
    the partition has room for it. It counts in other calls than those in which the partition was timed: where the
    machine was slower in some of them, the times are scaled to the partition's, but for what the delegate itself may
    take.
    """
    counted = [time for _, time in node.operators]
    tick = _TICK * node.runs
    cut: list[float] = []
    for place in range(len(counted)):
        position = owners.get(place)
        own = None if position is None else places[position]
        time = None if position is None else alone[position]
        if own is None or time is None:
            cut.append(tick / 2)
        else:
            missing = time - sum(counted[index] for index in own)
            cut.append(min(max(missing / len(own), 0.0), tick))
    room = node.seconds - sum(counted)
    if 0 <= room < sum(cut):
        return [time + more * room / sum(cut) for time, more in zip(counted, cut, strict=True)]
    times = [time + more for time, more in zip(counted, cut, strict=True)]
    whole = sum(times)
    least = node.seconds - node.runs * (_OVERHEAD + _OVERHEAD_OF_OP * len(node.ops))
    scale = min(node.seconds, max(whole, least)) / whole if whole else 1.0
    return [scale * time for time in times]


def _reason(node: ProfiledNode, alone: Alone, unknown: int) -> str:
    """Says why the times of some ops are not known."""
    if node.kernel != XNNPACK:
        return f"{node.kernel} does not report the times of its ops"
    if not node.operators:
        return "XNNPACK did not report the times of its operators"
    which = f"{unknown} of {count_of(len(node.ops), 'op')}" if unknown < len(node.ops) else "the ops"
    return alone.reason or f"it is not certain which of XNNPACK's operators are those of {which}"
