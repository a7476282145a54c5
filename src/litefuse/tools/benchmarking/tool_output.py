"""Readers of the output and the files of LiteRT's ``benchmark_model``.

Sources of the formats: ``tflite/tools/benchmark`` and ``tflite/profiling`` of LiteRT, with the messages in
``profiling_info.proto`` and ``model_runtime_info.proto``.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from litefuse.errors import LitefuseError
from litefuse.tools.benchmarking.file_ops import FileOps
from litefuse.tools.benchmarking.job import ProfiledNode
from litefuse.tools.benchmarking.measurement import Latency
from litefuse.tools.benchmarking.node_calls import XNNPACK, kernel_of_name

__all__ = ["ToolRun", "profiled_nodes", "tool_run"]

_NUMBER = r"([\d.]+(?:e[+-]?\d+)?)"
_TIMINGS = re.compile(rf"Inference timings in us: Init: {_NUMBER}, First inference: {_NUMBER}")
_STATISTICS = re.compile(r"\bcount=(\d+)((?: \w+=[-\d.e+]+)+)")
_MEMORY = re.compile(rf"Memory footprint delta from the start of the tool \(MB\): init={_NUMBER} overall={_NUMBER}")
_NODE = re.compile(r"\[.*\]:(\d+)", re.DOTALL)
_OPERATOR = re.compile(r"Delegate/.*:(\d+)", re.DOTALL)
_MICRO = 1e-6


class ToolRun(NamedTuple):
    """One run of the tool.

    Attributes:
        load: The seconds for loading the model.
        first: The seconds of the first call.
        warm: The measured calls.
        memory: By how many bytes the tool's memory grew; None if it does not say.
        has_median: Whether the tool tells the median; otherwise ``warm`` has the mean in its place.
    """

    load: float
    first: float
    warm: Latency
    memory: int | None
    has_median: bool


def tool_run(output: str) -> ToolRun | None:
    """Reads the output of a run; None if that does not tell the times."""
    timings = _TIMINGS.search(output)
    statistics = list(_STATISTICS.finditer(output))  # of the calls before, and of those that count
    if timings is None or not statistics:
        return None
    count, values = int(statistics[-1][1]), _values(statistics[-1][2])
    mean = values.get("avg", values.get("curr"))
    if mean is None or not count:
        return None
    median, p95 = values.get("median"), values.get("p95")
    warm = Latency(
        count,
        mean,
        values.get("min", mean),
        mean if median is None else median,
        None,
        p95,
        None,
        values.get("max", mean),
        values.get("std", 0.0),
    )
    memory = _MEMORY.search(output)
    return ToolRun(
        float(timings[1]) * _MICRO,
        float(timings[2]) * _MICRO,
        warm,
        None if memory is None else round(float(memory[2]) * 2**20),
        median is not None,
    )


def _values(text: str) -> dict[str, float]:
    """Reads ``name=number`` pairs of microseconds; returns seconds."""
    found: dict[str, float] = {}
    for pair in text.split():
        name, _, number = pair.partition("=")
        try:
            found[name] = float(number) * _MICRO
        except ValueError:
            continue
    return found


def profiled_nodes(profile: bytes, runtime_info: bytes, file: FileOps) -> list[ProfiledNode]:
    """Reads the nodes and their times from the files that the tool writes.

    Args:
        profile: The serialized ``BenchmarkProfilingData``.
        runtime_info: The serialized ``ModelRuntimeDetails``.
        file: The ops of the model.

    Raises:
        ValueError: They are damaged.
        LitefuseError: The installed LiteRT cannot read them.
    """
    from google.protobuf.message import DecodeError

    try:
        data = _messages("profiling_info_pb2").BenchmarkProfilingData()
        details = _messages("model_runtime_info_pb2").ModelRuntimeDetails()
    except ImportError:
        hint = "Install a release that can: pip install -U ai-edge-litert."
        raise LitefuseError("the installed ai-edge-litert cannot read them", hint=hint) from None
    try:
        data.ParseFromString(profile)
        details.ParseFromString(runtime_info)
    except DecodeError as error:
        raise ValueError(str(error)) from error
    delegated = {
        (graph.subgraph_id, node.id): (
            node.delegate_node_details.delegate_name,
            tuple(node.delegate_node_details.tflite_node_ids_replaced),
        )
        for graph in details.subgraphs
        for node in graph.nodes
        if node.HasField("delegate_node_details")
    }
    found: list[ProfiledNode] = []
    for graph in data.runtime_profile.subgraph_profiles:
        index: int = graph.subgraph_index
        if index < len(file.ops):
            found += _nodes(graph, delegated, len(file.ops[index]))
    return _without_callees(found, file)


def _messages(module: str) -> Any:
    return importlib.import_module(f"ai_edge_litert.{module}")


_Delegated = Mapping[tuple[int, int], tuple[str, tuple[int, ...]]]


def _nodes(graph: Any, delegated: _Delegated, count: int) -> Iterator[ProfiledNode]:
    """Yields the nodes of a subgraph with so many ops in the file."""
    subgraph: int = graph.subgraph_index
    nodes: dict[int, tuple[float, float]] = {}
    operators: dict[int, tuple[str, float]] = {}
    for each in graph.per_op_profiles:
        statistics = each.inference_microseconds
        if not statistics.count:
            continue
        seconds = statistics.sum / statistics.count * each.times_called * _MICRO
        if node := _NODE.fullmatch(each.name):
            nodes[int(node[1])] = seconds, float(each.times_called)
        elif operator := _OPERATOR.fullmatch(each.name):
            operators[int(operator[1])] = each.node_type, seconds
    ordered = tuple(operators[index] for index in sorted(operators))
    kernels = {
        index: kernel_of_name(delegated[subgraph, index][0]) for index in nodes if (subgraph, index) in delegated
    }
    # The operators of several partitions are told as one list.
    alone = [index for index, kernel in kernels.items() if kernel == XNNPACK]
    for index, (seconds, runs) in sorted(nodes.items()):
        ops = tuple(each for each in _members(subgraph, index, delegated) if each < count)
        yield ProfiledNode(
            subgraph, ops, kernels.get(index, "LiteRT"), seconds, runs, ordered if alone == [index] else ()
        )


def _members(subgraph: int, index: int, delegated: _Delegated) -> Iterator[int]:
    """Yields the ops of the file that a node stands for; a delegate may replace nodes of another."""
    if (subgraph, index) not in delegated:
        yield index
        return
    for each in delegated[subgraph, index][1]:
        if each < index:
            yield from _members(subgraph, each, delegated)


def _without_callees(nodes: Sequence[ProfiledNode], file: FileOps) -> list[ProfiledNode]:
    """Takes the time of the subgraphs that a node runs from the node's own."""
    totals: dict[int, float] = {}
    for node in nodes:
        totals[node.subgraph] = totals.get(node.subgraph, 0.0) + node.seconds
    found: list[ProfiledNode] = []
    for node in nodes:
        called = {graph for op in node.ops for graph in file.ops[node.subgraph][op].callees}
        inside = sum(totals.get(graph, 0.0) for graph in called if node.kernel == "LiteRT")
        found.append(node._replace(seconds=max(0.0, node.seconds - inside)))
    return found
