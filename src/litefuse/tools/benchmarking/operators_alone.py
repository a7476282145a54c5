"""Entry point of the process that finds out which operators XNNPACK makes of each op of a model.

XNNPACK takes the nodes that the plan of a subgraph has. Shown plans of one node each, it makes a partition of each
node, and reports the operators of that alone.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from ctypes import c_int, c_void_p
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from litefuse.litert.runtime import abi
from litefuse.litert.runtime.start_up_lines import silence_start_up_lines
from litefuse.tools.benchmarking.calls import warm_up
from litefuse.tools.benchmarking.file_ops import FileOp, FileOps, ops_of_file
from litefuse.tools.benchmarking.jobs import ModelJob
from litefuse.tools.benchmarking.node_times import NodeClock, TimedCall, undisturbed
from litefuse.tools.benchmarking.nodes import Node, NodeObserver
from litefuse.tools.benchmarking.opened_model import OpenedModel, import_kernels, inputs_of
from litefuse.tools.benchmarking.operator_profiler import OperatorProfiler

#: The function to run in the process.
ALONE = "litefuse.tools.benchmarking.operators_alone:operators_alone"

# The most calls in which ops are timed.
_CALLS = 200

_PREPARE = ctypes.PYFUNCTYPE(c_int, c_void_p, c_void_p)
_PLAN = ctypes.CFUNCTYPE(c_int, c_void_p, ctypes.POINTER(c_void_p))


class AloneJob(NamedTuple):
    """A model, and the ops to look at.

    Attributes:
        model: The model and its signature.
        ops: The indices of ops, by that of their subgraph.
    """

    model: ModelJob
    ops: Mapping[int, tuple[int, ...]]


class OpAlone(NamedTuple):
    """XNNPACK's operators for an op that it takes without its neighbors.

    Attributes:
        operators: The names of the operators, in the order in which they run.
        seconds: Their mean time in a call of the model, all runs together; None if that is not known where it counts.
    """

    operators: tuple[str, ...]
    seconds: float | None


def operators_alone(job: AloneJob, announce: Callable[[str], None]) -> dict[tuple[int, int], OpAlone]:
    """Returns what XNNPACK makes of each op, by the indices of its subgraph and of the op.

    Ops that XNNPACK does not take alone, or that do not run, are left out.

    Raises:
        LitefuseError: The model cannot be loaded or called.
    """
    import_kernels(job.model, announce)
    file = ops_of_file(job.model.model)
    xnnpack = _XnnpackDelegate(job.model.threads)
    operators = _called(job, file, xnnpack.address, announce) if xnnpack.address else {}
    announce("close the model")
    return operators


def _called(
    job: AloneJob, file: FileOps, delegate: int, announce: Callable[[str], None]
) -> dict[tuple[int, int], OpAlone]:
    """Calls the model with partitions of one op each."""
    ops = file.ops
    names_of_operators: dict[Node, list[str]] = {}
    clocks: list[NodeClock] = []

    def add(name: str, _microseconds: int, position: int) -> None:
        node = clocks[0].running if clocks else None
        if node is not None:
            names = names_of_operators.setdefault(node, [])
            if position == len(names):  # a loop reports them again
                names.append(name)

    profiler = OperatorProfiler(add)

    kept: list[Any] = []

    def split(context: int) -> None:
        subgraph = [index for index, _ in observer.contexts()][-1]
        wanted = job.ops.get(subgraph, ())
        kept.append(_offer_alone(context, delegate, observer.plan(context), wanted, ops[subgraph]))

    observer = NodeObserver(file.tensors, profiler=profiler.address, prepared=split)
    model = OpenedModel(replace(job.model, xnnpack=False), inputs_of(job.model), announce, [observer])
    announce("time the ops one by one")
    calls: list[TimedCall] = []
    with NodeClock(observer.nodes()) as clock:
        clocks.append(clock)
        model.set_inputs()
        model.invoke()
        observer.set_profiler(0)
        warm_up(model, job.model)
        end = time.perf_counter() + job.model.seconds
        while len(calls) < min(job.model.calls, _CALLS):
            model.set_inputs()
            calls.append(clock.call(model.invoke))
            if time.perf_counter() >= end:
                break
    counted = [calls[position] for position in undisturbed([call.seconds for call in calls])]
    seconds = {node_time.node: node_time.seconds for node_time in clock.times(counted)}
    alone = {
        (node.subgraph, node.ops[0]): OpAlone(tuple(names), seconds[node]) for node, names in names_of_operators.items()
    }
    unpacking = {
        (subgraph, op): OpAlone((), 0.0) for subgraph, of in job.ops.items() for op in of if ops[subgraph][op].unpacks
    }
    return {**unpacking, **alone}


def _offer_alone(
    context: int, delegate: int, plan: Sequence[int], wanted: Iterable[int], ops: Sequence[FileOp]
) -> list[Any]:
    """Offers a delegate nodes of a subgraph one by one; returns what has to live as long as the model."""
    known = abi.TfLiteContext.from_address(context)
    prepare = _PREPARE(abi.TfLiteDelegate.from_address(delegate).Prepare or 0)
    original = known.GetExecutionPlan
    there = frozenset(plan)
    unpacked = {output for op in ops if op.unpacks for output in op.outputs}
    with _constants(known, unpacked) as kept:
        for index in wanted:
            if index not in there or ops[index].unpacks:
                continue
            shown = abi.int_array(index)
            address = ctypes.addressof(shown)

            def show(_context: int, plan: Any, address: int = address) -> int:
                plan[0] = address
                return abi.Status.OK

            function = _PLAN(show)
            known.GetExecutionPlan = abi.address_of(function)
            try:
                prepare(context, delegate)
            finally:
                known.GetExecutionPlan = original
    return kept


@contextmanager
def _constants(context: abi.TfLiteContext, tensors: Iterable[int]) -> Generator[list[Any]]:
    """Shows tensors as constants, zeros, in the context; yields them, to live as long as what was made of them.

    XNNPACK unpacks constants for the ops that need them, but only if both are in one partition. What the values are
    makes no difference for the operators.
    """
    kept: list[Any] = []
    before: list[tuple[abi.TfLiteTensor, int, int | None, int]] = []
    size = ctypes.sizeof(abi.TfLiteTensor)
    for index in tensors:
        tensor = abi.TfLiteTensor.from_address(context.tensors + index * size)
        if tensor.type != abi.TfLiteType.FLOAT32:
            continue
        zeros = np.zeros(math.prod(abi.read_int_array(tensor.dims)), np.float32)
        kept.append(zeros)
        before.append((tensor, tensor.allocation_type, tensor.data, tensor.bytes))
        tensor.allocation_type = abi.AllocationType.MMAP_RO
        tensor.data, tensor.bytes = zeros.ctypes.data, zeros.nbytes
    try:
        yield kept
    finally:
        for tensor, kind, data, count in before:
            tensor.allocation_type, tensor.data, tensor.bytes = kind, data, count


class _XnnpackDelegate:
    """LiteRT's own XNNPACK delegate, of an interpreter of the smallest model that it takes; it lives as long as this.

    Its address is 0 if LiteRT has no XNNPACK here.
    """

    def __init__(self, threads: int) -> None:
        from ai_edge_litert.interpreter import Interpreter

        silence_start_up_lines()
        observer = NodeObserver([("x", "y")])
        self._interpreter: Any = Interpreter(
            model_content=_sum_model(), num_threads=threads, experimental_delegates=[observer]
        )
        self._observer = observer
        self._interpreter.allocate_tensors()
        self.address = next((node.delegate for node in observer.nodes()), 0)


def _sum_model() -> bytes:
    """Returns a model of one ADD of float32."""
    from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS, OP_NUMBERS
    from litefuse.litert.runtime.schema_objects import flatbuffer_of, made, set_options

    tensors = [made("Tensor", name=name, shape=[1], type=DTYPE_NUMBERS["float32"], buffer=0) for name in ("x", "y")]
    operator = made("Operator", inputs=[0, 0], outputs=[1])
    set_options(operator, made("AddOptions"))
    graph = made("SubGraph", tensors=tensors, inputs=[0], outputs=[1], operators=[operator])
    code = made("OperatorCode", builtinCode=OP_NUMBERS["ADD"], version=1)
    model = made("Model", version=3, buffers=[made("Buffer")], operatorCodes=[code], subgraphs=[graph])
    return bytes(flatbuffer_of(model))
