"""Jobs for the process that runs a model, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy.typing as npt

from litefuse.tools.benchmarking.measurement import Input, Memory

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Inputs by their names."""


@dataclass(frozen=True)
class ModelJob:
    """A model, one of its signatures, and its calls.

    Attributes:
        model: The model's file, or its content.
        signature: The key of the signature; None for a model without signatures.
        inputs: The inputs; None for drawn ones.
        shapes: Shapes of drawn inputs by their names.
        seed: The seed of drawn inputs.
        size: The size of the dynamic dimensions of drawn inputs, besides the first.
        limit: The exclusive upper bound of drawn integers, one of ``litefuse.litert.inputs``'s levels.
        custom_ops: Kernels to use before all others: pickled classes, and paths of libraries.
        registered: The kernels that the caller registered, pickled, by their ops.
        kernel_modules: Files and modules that register more of them.
        threads: How many threads the runtime uses.
        xnnpack: Whether LiteRT may use XNNPACK.
        warm_up: The number of calls after the first that are not measured.
        calls: The largest number of calls that are measured.
        seconds: How long the measured calls may take, together; one is made at least.
    """

    model: str | bytes
    signature: str | None
    inputs: Arrays | None = None
    shapes: Mapping[str, tuple[int, ...]] | None = None
    seed: int = 0
    size: int = 1
    limit: int | None = None
    custom_ops: tuple[bytes | str, ...] = ()
    registered: Mapping[str, bytes] | None = None
    kernel_modules: tuple[str, ...] = ()
    threads: int = 1
    xnnpack: bool = True
    warm_up: int = 3
    calls: int = 1000
    seconds: float = 2.0


class PairJob(NamedTuple):
    """Two models whose calls are made in turn; each is measured as its job says, the number of calls by the first."""

    first: ModelJob
    second: ModelJob


class CallTimes(NamedTuple):
    """Time and memory that the calls of a model took.

    Attributes:
        inputs: The inputs, as they were.
        load: The seconds for loading it.
        cold: The seconds of the first call.
        warm: The seconds of each measured call.
        memory: The memory that it took.
    """

    inputs: tuple[Input, ...]
    load: float
    cold: float
    warm: list[float]
    memory: Memory


class ProfiledNode(NamedTuple):
    """A node of the runtime, timed.

    Attributes:
        subgraph: The index of its subgraph in the file.
        ops: The indices of the ops of the file that it stands for.
        kernel: What runs it, see ``OpTime``.
        seconds: Its mean time in a call, all runs together.
        runs: How often it ran in a call, on average.
        operators: The names of the operators that XNNPACK has made of it, in their order, and their mean seconds in a
            call, as XNNPACK counts them: in whole microseconds for each run. Empty for other nodes.
    """

    subgraph: int
    ops: tuple[int, ...]
    kernel: str
    seconds: float
    runs: float
    operators: tuple[tuple[str, float], ...] = ()


class NodeCalls(NamedTuple):
    """The nodes of a model, timed.

    Attributes:
        nodes: The nodes, in the order of subgraphs and of the plan.
        calls: In how many calls they were timed.
        seconds: The mean time of these calls.
        arena: The bytes of the memory that was planned for tensors.
    """

    nodes: list[ProfiledNode]
    calls: int
    seconds: float
    arena: int
