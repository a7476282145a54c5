"""Numbers for the nodes of a model in Model Explorer, in its format of node data.

The format is that of Model Explorer's ``node_data_builder``: by the graph's id, ``results`` with a value for each node,
and the colors of nodes by their values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from litefuse.conversion.verify.layers.layers import Layers
from litefuse.conversion.verify.layers.observed_copy import layer_graph
from litefuse.conversion.verify.verification import Verification
from litefuse.errors import LitefuseError
from litefuse.support.files.readable import check_file, os_errors
from litefuse.support.files.whole_file import whole_file
from litefuse.tools.benchmarking.measurement import Benchmark, Measurement
from litefuse.tools.explorer.nodes import ExplorerGraph, explorer_graphs

# The colors that Model Explorer mixes from the least value to the largest; those between stay apart in gray as well.
_GRADIENT = [{"stop": 0, "bgColor": "#fff3e0"}, {"stop": 1, "bgColor": "#e65100"}]
_EQUAL, _NEAR, _FAR = "#c8e6c9", "#ffe082", "#e57373"
_NEARLY = 10.0
_LARGEST = 1.7976931348623157e308
# Model Explorer loads node data into memory at once.
_MAX_FILE = 256 << 20


@dataclass(frozen=True)
class NodeData:
    """Values of the nodes of a model.

    Attributes:
        name: The name that Model Explorer shows.
        file_name: The name of a file for it.
        graphs: By the ids of graphs, what the format says about each.
        left_out: How many values have no node of their own: their op or subgraph shares its id with another.
    """

    name: str
    file_name: str
    graphs: Mapping[str, Any]
    left_out: int = 0

    def to_json(self) -> str:
        """Returns the content of the file."""
        return json.dumps(self.graphs, allow_nan=False, ensure_ascii=True)


def node_values(
    model: Path, benchmark: Benchmark | None, verification: Verification | None, notes: list[str]
) -> list[NodeData]:
    """Returns the bytes, times and errors of a model's ops, as far as they are known.

    Args:
        model: The file.
        benchmark: Its measurement.
        verification: Its comparison with the original, with layers.
        notes: Gets what is missing, and why.

    Raises:
        InterpreterError: The file cannot be read, is not a LiteRT model, or is damaged.
    """
    data = [byte_data(model)]
    if benchmark is not None:
        seconds, unknown = op_seconds(benchmark.measurements)
        if unknown:
            notes.append(f"the time of {unknown:,} ops is not known: XNNPACK runs them in one with others")
        data.append(time_data(model, seconds))
    layers = None if verification is None else verification.layers
    if verification is not None and layers is not None and (layers.judged or not layers.problem):
        data.append(error_data(model, layers, verification.tolerance))
    elif verification is not None:
        reason = "there was no call" if layers is None else layers.problem
        notes.append(f"the layers cannot be compared: {reason}")
    notes += [
        f"{values.name}: {values.left_out:,} values are left out, because their ids are not unique"
        for values in data
        if values.left_out
    ]
    return data


def byte_data(model: Path) -> NodeData:
    """Returns the bytes of each op's constants in the file. What several ops use counts for the first of them.

    Raises:
        InterpreterError: The file cannot be read, is not a LiteRT model, or is damaged.
    """
    graphs = explorer_graphs(model)
    values = {
        (number, op): size for number, graph in enumerate(graphs) for op, size in enumerate(graph.sizes) if size > 0
    }
    return _node_data("bytes of constants", "bytes.json", graphs, values, {"gradient": _GRADIENT})


def time_data(model: Path, seconds: Mapping[tuple[int, int], float]) -> NodeData:
    """Returns the time of each op, in microseconds.

    Raises:
        InterpreterError: The file cannot be read, is not a LiteRT model, or is damaged.
        LitefuseError: A time is of an op that the file lacks: it is another file's.
    """
    graphs = explorer_graphs(model)
    values = {place: round(time * 1e6, 2) for place, time in seconds.items()}
    return _node_data("time (µs)", "time.json", graphs, values, {"gradient": _GRADIENT}, where=str(model))


def op_seconds(measurements: Iterable[Measurement]) -> tuple[dict[tuple[int, int], float], int]:
    """Returns the time of each op in a call of the model, and how many ops have none of their own.

    Args:
        measurements: Those of a benchmark, one for each signature. Of an op in several of them, the longest time
            counts.

    Returns:
        Seconds by the indices of the subgraph and the op; the number of ops of which only the time of a partition is
        known, which several ops share.
    """
    seconds: dict[tuple[int, int], float] = {}
    unknown: set[tuple[int, int]] = set()
    for measurement in measurements:
        for op in measurement.ops:
            place = (op.subgraph, op.op)
            if op.seconds is None:
                unknown.add(place)
            elif op.runs:
                seconds[place] = max(seconds.get(place, 0.0), op.seconds)
    return seconds, len(unknown - seconds.keys())


def error_data(model: Path, layers: Layers, tolerance: float) -> NodeData:
    """Returns how far the results of each op are from the original's, relative to the largest expected value.

    Of an op with several results, it is the largest error. Colors tell what is within the tolerance. For a quantized
    model, it is how far each op is off in what its quantization explains, and the tolerance is 1.

    Args:
        model: The file.
        layers: The comparison of its layers, such as ``Verification.layers``.
        tolerance: The error that is allowed.

    Raises:
        InterpreterError: The file cannot be read, is not a LiteRT model, or is damaged.
        LitefuseError: The layers are not this file's.
    """
    graphs = explorer_graphs(model)
    graph = layer_graph(str(model), layers.signature)
    if [tensor.name for tensor in graph.tensors] != [layer.tensor for layer in layers.layers]:
        raise LitefuseError("the layers that were compared are not those of this file", where=str(model))
    producers = {
        tensor: op for op, results in enumerate(graphs[graph.subgraph].results) for tensor in results if tensor >= 0
    }
    errors: dict[tuple[int, int], float] = {}
    for tensor, layer in zip(graph.tensors, layers.layers, strict=True):
        error = layer.excess if layers.judged else layer.error
        if error is None:
            continue
        place = (graph.subgraph, producers[tensor.index])
        errors[place] = _worst(errors.get(place, 0.0), float(f"{error:.3g}"))
    if layers.judged:
        tolerance = 1.0
    shown = {
        "thresholds": [
            {"value": tolerance, "bgColor": _EQUAL},
            {"value": tolerance * _NEARLY, "bgColor": _NEAR},
            {"value": _LARGEST, "bgColor": _FAR},
        ],
        # Errors do not add up.
        "hideAggregatedStats": ["sum", "avg"],
        "hideInChildrenStatsTable": True,
    }
    return _node_data("error", "error.json", graphs, errors, shown)


def _worst(error: float, other: float) -> float:
    return other if math.isnan(other) or other > error else error


def _node_data(
    name: str,
    file_name: str,
    graphs: Sequence[ExplorerGraph],
    values: Mapping[tuple[int, int], float],
    shown: Mapping[str, Any],
    *,
    where: str = "",
) -> NodeData:
    data: dict[str, Any] = {}
    left_out = 0
    for (subgraph, op), value in values.items():
        if not (0 <= subgraph < len(graphs) and 0 <= op < len(graphs[subgraph].keys)):
            raise LitefuseError(f"subgraph {subgraph} has no op {op}: the values are another file's", where=where)
        graph = graphs[subgraph]
        key = graph.keys[op]
        if graph.id is None or key is None:
            left_out += 1
            continue
        results = data.setdefault(graph.id, {"results": {}, **shown})["results"]
        results[key] = {"value": value} if math.isfinite(value) else {"value": str(value), "bgColor": _FAR}
    return NodeData(name, file_name, data, left_out)


def read_node_data(path: Path) -> NodeData:
    """Reads a file of node data, which anyone may have made.

    Raises:
        LitefuseError: It cannot be read, or is not a JSON object.
    """
    check_file(path)
    try:
        with os_errors("the file cannot be read", path):
            if path.stat().st_size > _MAX_FILE:
                raise LitefuseError(f"node data of more than {_MAX_FILE:,} bytes are not read", where=str(path))
            content: object = json.loads(path.read_bytes(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise LitefuseError(f"not valid JSON: {error}", where=str(path)) from error
    if not isinstance(content, dict):
        raise LitefuseError(
            "not node data of Model Explorer",
            where=str(path),
            hint="They are an object with the ids of graphs, or with the results of one graph.",
        )
    return NodeData(path.stem, path.name, cast("dict[str, Any]", content))


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number")


def write_node_data(folder: Path, data: Sequence[NodeData]) -> list[Path]:
    """Writes node data to files of a folder, which is made if it does not exist; replaces those of earlier calls.

    Raises:
        LitefuseError: They cannot be written.
    """
    written: list[Path] = []
    target = folder
    try:
        folder.mkdir(exist_ok=True)
        for node_data in data:
            target = folder / node_data.file_name
            with whole_file(target) as partial:
                partial.write_text(node_data.to_json() + "\n", encoding="ascii")
            written.append(target)
    except OSError as error:
        raise LitefuseError(f"node data cannot be written: {error.strerror or error}", where=str(target)) from error
    return written
