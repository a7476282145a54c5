"""The target ``native``: the kernels of the pack, in C++ and in numpy, through the delegate."""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from ai_edge_litert import interpreter as litert
from tests.litert.runtime.models import DTYPES, Graph, model

from fuzz.build import sanitized_environment
from fuzz.child import Ending
from fuzz.containment import is_in_litert, judge_run
from fuzz.native.call import Call
from fuzz.native.mutations import mutated
from fuzz.outcome import Outcome
from fuzz.running import judged_run
from fuzz.target import Target
from litefuse.kernels import PACK
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.tensors import are_strings

_MOST = 1 << 22  # bytes of an array
SEEDS = Path(__file__).resolve().parents[1] / "seeds" / "calls.json"
"""Calls that the tests of the kernels make."""


@functools.cache
def _seeds() -> list[list[Call]]:
    by_op: dict[str, list[Call]] = {}
    for fields in json.loads(SEEDS.read_text()):
        by_op.setdefault(fields["op"], []).append(Call.from_fields(fields))
    return [by_op[op] for op in sorted(by_op)]


class KernelTarget(Target):
    """Models of one custom op, with options, shapes, values and outputs of all kinds.

    The native kernels are those of a library that is compiled with sanitizers.
    """

    name = "native"
    suffix = ".json"
    batch = 200
    slow = Target.timeout  # a kernel in C++ looks like LiteRT from Python, and may be slow under a sanitizer

    @classmethod
    def environment(cls, *, sanitized: bool = True) -> Mapping[str, str]:
        return sanitized_environment() if sanitized else {}

    def mutant(self, number: int) -> bytes:
        draw = self.random(number)
        return mutated(draw, draw.choice(draw.choice(_seeds()))).text().encode()

    def try_out(self, content: bytes) -> Outcome:
        call = Call.from_text(content)
        return judged_run(lambda: _run_twice(call))

    def judge(self, content: bytes, ending: Ending) -> Outcome:
        call = Call.from_text(content)

        def stock() -> None:
            interpreter = litert.Interpreter(model_content=_model(call)[0])
            interpreter.allocate_tensors()

        outcome = judge_run(ending, stock)
        if outcome.kind.is_finding:
            return Outcome(outcome.kind, f"{call.op} ({call.form}): {outcome.group}", outcome.detail)
        return outcome

    def is_contained(self, ending: Ending) -> bool:
        return is_in_litert(ending)


def _model(call: Call) -> tuple[bytes, list[int], list[int]]:
    """The model, the indices of its inputs, and of the outputs that are read."""
    graph = Graph()
    places: list[int] = []
    for place, operand in enumerate(call.inputs):
        if operand is None:
            places.append(-1)
        elif operand.is_constant:
            places.append(graph.tensor(f"constant_{place}", operand.shape, operand.dtype))
            graph.tensors[-1] = (graph.tensors[-1][0], operand.data)
        else:
            places.append(graph.input(f"input_{place}", operand.shape, operand.dtype))
    results: list[int] = []
    for place, dtype in enumerate(call.outputs):
        if dtype is None:
            results.append(-1)
        elif place in call.read:
            results.append(graph.output(f"output_{place}", [], dtype))
        else:
            results.append(graph.tensor(f"output_{place}", [], dtype))
    graph.custom(call.op, places, results, call.options)
    if not graph.outputs and graph.inputs:
        graph.outputs.append(graph.inputs[0])  # a graph has an output
    return model(graph), places, [index for index in results if index in graph.outputs]


def load(call: Call) -> Callable[[], list[npt.NDArray[Any]]]:
    """Loads the model of a call.

    Returns:
        What makes the call, and gives the outputs that are read.
    """
    content, places, results = _model(call)
    interpreter = Interpreter(content, custom_ops=[PACK[call.op]] if call.form == "numpy" else None)
    for index, operand in zip(places, call.inputs, strict=True):
        if operand is not None and operand.resized is not None:
            interpreter.resize_tensor_input(index, operand.resized)
    interpreter.allocate_tensors()

    def run() -> list[npt.NDArray[Any]]:
        for index, operand in zip(places, call.inputs, strict=True):
            if operand is not None and not operand.is_constant:
                interpreter.set_tensor(index, _array(operand.dtype, operand.data, operand.resized or operand.shape))
        interpreter.invoke()
        return [interpreter.get_tensor(index) for index in results]

    return run


def _run_twice(call: Call) -> None:
    run = load(call)
    run()
    run()


def _array(dtype: str, data: bytes, shape: list[int]) -> npt.NDArray[Any]:
    """An array of a shape, of the bytes that there are, over and over; what no memory can hold is not written."""
    if dtype == "STRING":
        return _strings(data, shape)
    kind = np.dtype(DTYPES[dtype])
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count * kind.itemsize > _MOST:
        return np.zeros([0], kind)
    known = np.frombuffer(data[: len(data) // kind.itemsize * kind.itemsize], kind)
    try:
        return np.resize(known, shape) if known.size or not count else np.zeros(shape, kind)
    except ValueError:  # empty, but of sizes whose product numpy does not take
        return np.zeros([0], kind)


def _strings(data: bytes, shape: list[int]) -> npt.NDArray[Any]:
    count = int.from_bytes(data[:4], "little")
    known = [data]  # bytes that are no strings are one
    if are_strings(data, count):
        offsets: list[int] = np.frombuffer(data, "<i4", count + 1, 4).tolist()
        known = [data[start:end] for start, end in itertools.pairwise(offsets)] or [b""]
    if not shape:  # numpy's own bytes: an array of objects without an axis is not taken
        return np.array(known[0])
    if min(shape) < 0 or math.prod(shape) > _MOST // 64:
        return np.empty([0], object)
    return np.resize(np.array(known, object), shape)
