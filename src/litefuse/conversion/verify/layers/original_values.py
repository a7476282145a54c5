"""Reads the values of the nodes that a LiteRT model's tensors are named after, in the process with TensorFlow.

A converter names a tensor after the node that it computes, and a fusion of several nodes after all of them, ``a;b;c``
in no certain order. Where the name is taken, as by a step of the same node, it appends a number. The signature's
function is inlined into one graph and run with these nodes as further outputs.
"""

from __future__ import annotations

import importlib
import itertools
import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.layers.flat_graph import flatten
from litefuse.conversion.verify.layers.observed_copy import chunks
from litefuse.conversion.verify.original import (
    Arrays,
    Call,
    Function,
    OriginalJob,
    call_functions,
    load_functions,
    load_tensorflow,
)
from litefuse.errors import LitefuseError
from litefuse.litert.results.difference import difference, kind_of
from litefuse.support.progress.stages import Step

_NUMBER = re.compile(r"\d+$")


def value_node(name: str, depths: Mapping[str, int]) -> list[str]:
    """Returns the nodes whose value a tensor may be by its name, the likeliest first.

    Of fused nodes, the value is that of the one that is computed last.

    Args:
        name: The tensor's name.
        depths: How far each node is from the inputs, by its name.
    """
    nodes = dict.fromkeys(named_nodes(name, depths))
    return sorted(nodes, key=lambda node: -depths[node])


def named_nodes(name: str, nodes: Collection[str]) -> Iterator[str]:
    """Yields the nodes that a name lists, as far as they exist."""
    *parts, last = [part.strip() for part in name.split(";") if part.strip()] or [""]
    for part in parts:
        yield from _first([_node(part)], nodes)
    yield from _first([_node(last), *_without_number(_node(last))], nodes)


def _first(readings: Sequence[str], nodes: Collection[str]) -> Iterator[str]:
    """Yields the longest reading that is a node: a name may end with digits of its own before the appended number."""
    yield from [reading for reading in readings if reading in nodes][:1]


def _node(name: str) -> str:
    """Returns the node of a name that may be a tensor's, ``node:1``."""
    return name.partition(":")[0]


def _without_number(name: str) -> Iterator[str]:
    """Yields a name without its last digit, its last two, and so on."""
    number = _NUMBER.search(name)
    for length in range(1, len(number[0]) + 1 if number else 0):
        yield name[:-length]


def same_order(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether arrays of two shapes have their elements in the same order: one only splits dimensions of the other.

    Transposed arrays are recognized only if their shapes show it.
    """
    if 0 in shape or 0 in other:
        return 0 in shape and 0 in other
    a, b = ({*itertools.accumulate(sizes, operator.mul)} - {1} for sizes in (shape, other))
    return math.prod(shape) == math.prod(other) and (a <= b or b <= a)


# The error that running a graph as another graph may make.
_ROUNDING = 1e-3


@dataclass(frozen=True)
class Wanted:
    """A tensor of the LiteRT model.

    Attributes:
        index: Its index.
        name: Its name.
        shape: Its shape.
        kind: The kind of its dtype, as numpy has it.
        position: The index among its op's outputs.
        count: How many outputs its op has.
        steps: The indices of the tensors that are computed from it directly.
        copied: The index of the tensor whose values it has, in another shape or dtype; None if it has its own.
    """

    index: int
    name: str
    shape: tuple[int, ...]
    kind: str
    position: int
    count: int
    steps: frozenset[int]
    copied: int | None


@dataclass(frozen=True)
class OriginalObservationJob:
    """The job of the process: the nodes to read.

    Attributes:
        job: The model; of its calls, all in one round, the nodes of the last one are read.
        wanted: The tensors to find values of, in the order of computation.
        folder: Where the values are written.
    """

    job: OriginalJob
    wanted: tuple[Wanted, ...]
    folder: Path


class Candidate(NamedTuple):
    """A value that a tensor may be meant to have.

    Attributes:
        node: The name of the node, as it is in its function.
        file: The file of the value, as ``numpy.save`` writes it.
    """

    node: str
    file: Path


class Match(NamedTuple):
    """The values that a tensor is compared with.

    Attributes:
        candidates: The values; several where a function is called several times.
        certain: Whether it has to be one of them. Else it may be another step of the node.
    """

    candidates: tuple[Candidate, ...]
    certain: bool


def observe_original(job: OriginalObservationJob, announce: Callable[[str], None]) -> dict[int, Match]:
    """Runs the original, and reads the nodes of the last call.

    Returns:
        What the tensors that have a name in the original are compared with, by their indices.

    Raises:
        LitefuseError: It cannot be run, or its nodes cannot be read.
    """
    tf = load_tensorflow(announce)
    announce("look into the original")
    calls, where = job.job.rounds[0], str(job.job.model)
    expected = call_functions(tf, load_functions(tf, job.job, calls), calls, where)[-1]
    by_tensor: dict[int, _Named] = {}
    files = _Files(job.folder)
    parts = [*chunks(job.wanted, lambda tensor: 8 * math.prod(tensor.shape))]
    for number, chunk in enumerate(parts):
        announce(Step(f"look into the original: part {number + 1} of {len(parts)}", number, len(parts)))
        # Each begins with the state that the model was saved with.
        functions = load_functions(tf, job.job, calls)
        call_functions(tf, functions, calls[:-1], where)
        try:
            inside = _Inside(tf, functions[calls[-1].signature], calls[-1])
            named, outputs = inside.values(chunk, files)
        except Exception as error:  # as TensorFlow raises of a graph that it does not take
            text = str(error).strip().partition("\n")[0]
            raise LitefuseError(f"its graph cannot be inspected: {type(error).__name__}: {text}") from error
        for name, value in outputs.items():
            if not difference(value, expected[name]).error <= _ROUNDING:
                raise LitefuseError(
                    f"run a second time, it computes something else for the output {name!r}, "
                    f"as a model with random numbers does"
                )
        by_tensor.update(named)
    return _matches(job.wanted, by_tensor)


class _Named(NamedTuple):
    """The node that a tensor is named after.

    Attributes:
        node: Its name.
        calls: How often the original computes it, without outputs of the signature, which have names of their own.
        candidates: The values that the tensor may be meant to have.
        certain: Whether there is one value for each time that it is computed.
    """

    node: str
    calls: int
    candidates: tuple[Candidate, ...]
    certain: bool


class _Inside:
    """A signature's function, inlined into one graph, to run the call."""

    def __init__(self, tf: Any, function: Function, call: Call) -> None:
        registry: Any = importlib.import_module("tensorflow.python.framework.op_def_registry")
        concrete: Any = function.concrete
        self._call = call
        self._given = function.given(tf, call)
        self._flat = flatten(concrete.graph.as_graph_def(), registry.get)
        captured = list(concrete.captured_inputs)
        inner = concrete.inputs[len(concrete.inputs) - len(captured) :]

        def whole() -> None:
            capture = tf.compat.v1.get_default_graph().capture
            replaced = {tensor.name: capture(value) for tensor, value in zip(inner, captured, strict=True)}
            tf.compat.v1.import_graph_def(self._flat.definition, name="", input_map=replaced)

        self._whole = tf.compat.v1.wrap_function(whole, [])
        # The arguments, in the order of their names, as nested structures are flattened.
        arguments = concrete.inputs[: len(concrete.inputs) - len(captured)]
        self._feeds = [self._tensor(argument.name) for argument in arguments]
        self._outputs = {name: self._tensor(tensor) for name, tensor in function.outputs.items()}
        graph: Any = concrete.graph
        waited = [self._flat.ends.get(op.name, op.name) for op in getattr(graph, "control_outputs", ())]
        self._waited = [self._whole.graph.get_operation_by_name(name) for name in waited]

    def values(self, wanted: Iterable[Wanted], files: _Files) -> tuple[dict[int, _Named], Arrays]:
        """Returns the nodes that tensors may be meant to be, by the tensors' indices, and the outputs."""
        nodes = self._nodes()
        depths = {name: min(self._flat.depths[copy] for copy in of_name) for name, of_name in nodes.items()}
        named = {tensor.index: value_node(tensor.name, depths) for tensor in wanted}
        listed = dict.fromkeys(node for of_tensor in named.values() for node in of_tensor)
        operations = {node: [self._whole.graph.get_operation_by_name(copy) for copy in nodes[node]] for node in listed}
        fetched = {
            tensor.name: tensor for operation in operations.values() for op in operation for tensor in _readable(op)
        }
        pruned = self._whole.prune(self._feeds, [[*fetched.values()], self._outputs, self._waited])
        arrays, outputs, _ = pruned(*self._given)
        values = {name: np.asarray(value.numpy()) for name, value in zip(fetched, arrays, strict=True)}
        results = self._results()
        by_tensor: dict[int, _Named] = {}
        for tensor in wanted:
            for node in named[tensor.index]:
                choice = _choice(tensor, node, operations[node], values, files)
                if choice is not None:
                    # Fused nodes compute the last of them; if the shape is that of another, it is not clear which one.
                    certain = choice.certain and node == named[tensor.index][0]
                    calls = choice.calls - sum(op.name in results for op in operations[node])
                    by_tensor[tensor.index] = choice._replace(certain=certain, calls=calls)
                    break
        return by_tensor, {name: np.asarray(value.numpy()) for name, value in outputs.items()}

    def _nodes(self) -> dict[str, list[str]]:
        """Returns the nodes that have values, for each name."""
        nodes: dict[str, list[str]] = {}
        for name, of_name in self._flat.nodes.items():
            operations = [name for name in of_name if name not in self._flat.conditional]
            if operations and any(
                _readable(self._whole.graph.get_operation_by_name(operation)) for operation in operations
            ):
                nodes[name] = operations
        return nodes

    def _results(self) -> set[str]:
        """Returns the nodes that compute the outputs."""
        results: set[str] = set()
        for tensor in self._outputs.values():
            operation = tensor.op
            while operation.type == "Identity":
                operation = operation.inputs[0].op
            results.add(operation.name)
        return results

    def _tensor(self, name: str) -> Any:
        return self._whole.graph.get_tensor_by_name(self._flat.tensor(name))


class _Files:
    """Writes values to files in a folder, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[str, Path] = {}

    def of(self, tensor: str, value: npt.NDArray[Any]) -> Path:
        if tensor not in self._written:
            path = self._folder / f"{len(self._written)}.npy"
            np.save(path, value, allow_pickle=value.dtype == object)
            self._written[tensor] = path
        return self._written[tensor]


def _readable(operation: Any) -> list[Any]:
    """Returns the outputs of a node that are arrays."""
    return [
        output
        for output in operation.outputs
        if output.dtype.name not in {"resource", "variant"} and not output.dtype.name.endswith("_ref")
    ]


def _choice(
    wanted: Wanted,
    node: str,
    operations: Sequence[Any],
    values: Mapping[str, npt.NDArray[Any]],
    files: _Files,
) -> _Named | None:
    """Returns the values of a node that a tensor may be meant to have; None if it cannot be one of them."""
    chosen: list[str] = []
    certain = True
    for operation in operations:
        names = [output.name for output in operation.outputs]
        if wanted.count > 1:
            # An op with several outputs is the original's if that has as many.
            names = names[wanted.position : wanted.position + 1] if len(names) == wanted.count else []
        fitting = [name for name in names if name in values and _fits(wanted, values[name])]
        chosen += fitting
        certain &= len(fitting) <= 1
    if not chosen:
        return None
    return _Named(
        node, len(operations), tuple(Candidate(node, files.of(name, values[name])) for name in chosen), certain
    )


def _fits(wanted: Wanted, value: npt.NDArray[Any]) -> bool:
    return kind_of(value.dtype) == wanted.kind and same_order(value.shape, wanted.shape)


def _matches(wanted: Sequence[Wanted], found: Mapping[int, _Named]) -> dict[int, Match]:
    """Distinguishes the values of nodes from intermediate steps, which have the same names.

    Where there are more tensors of a name than the original computes, the last ones are the values: those that no other
    of them is computed from.
    """
    groups: dict[str, list[Wanted]] = defaultdict(list)
    for tensor in wanted:
        if tensor.index in found:
            groups[found[tensor.index].node].append(tensor)
    matches: dict[int, Match] = {}
    for group in groups.values():
        every = {tensor.index for tensor in group}
        copies = {
            tensor.index: tensor.copied for tensor in group if tensor.copied is not None and tensor.copied in every
        }
        own = [tensor for tensor in group if tensor.index not in copies]
        indices = {tensor.index for tensor in own if tensor.position == 0}
        calls = found[own[0].index].calls
        for tensor in own:
            is_step = len(indices) > calls and (bool(tensor.steps & indices) or (calls < 2 and tensor is not own[-1]))
            is_step |= calls < 1
            named = found[tensor.index]
            matches[tensor.index] = Match(named.candidates, named.certain and not is_step)
        for index in copies:
            named = found[index]
            matches[index] = Match(named.candidates, named.certain and matches[_source(index, copies)].certain)
    return matches


def _source(index: int, copies: Mapping[int, int]) -> int:
    """Returns the tensor that is copied, perhaps several times."""
    while index in copies:
        index = copies[index]
    return index
