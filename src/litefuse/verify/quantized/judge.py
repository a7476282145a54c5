"""Entry point of the child process that tells what quantization explains: of each op, and of each output.

Each op of the file is computed with real numbers twice, alone: of the operands that it has in the file, where only the
rounding of its result may differ, and of those that it has in the original, where only its rounded weights may. What
these explain is measured, with weights that are off by chance. How far an output may be off is measured as well, by
whole runs that round as the file does.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.differences.side import Side
from litefuse.progress.step import Step
from litefuse.runtime.custom_op import CustomOp
from litefuse.runtime.interpreter import Interpreter
from litefuse.runtime.loading import load_kernels
from litefuse.runtime.transfer import unpickle_kernels
from litefuse.verify.difference import difference
from litefuse.verify.layers.model_side import Observation, values_file
from litefuse.verify.layers.names import same_order
from litefuse.verify.layers.original_side import Match
from litefuse.verify.model_process import ModelJob
from litefuse.verify.original import Arrays, Call
from litefuse.verify.quantized.constants import faulty_constants
from litefuse.verify.quantized.float_copy import FloatCopy, Steps, steps_of

__all__ = ["JUDGE", "JudgeJob", "Judged", "OpJudgement", "judge"]

#: The function to run in the process of a model.
JUDGE = "litefuse.verify.quantized.judge:judge"

# How often weights are drawn, for ops and for outputs.
_DRAWS = 4
_OUTPUT_DRAWS = 8
# An op is at fault beyond so many standard deviations of what its rounded weights explain, in any channel; that of a
# channel is taken to be at least a part of that of the others. Of ten million channels, none gets there by chance.
_DEVIATIONS = 12.0
_LEAST_OF_OTHERS = 0.5
# Kernels may round more than once, by so many steps of the result in all.
_ROUNDINGS = 2.5
# What kernels of floating point differ by, relative to the largest number.
_FLOAT_ERROR = 5e-4
# The range of a tensor is at fault if this share of numbers, and so many, are beyond it by that part of it. Of samples
# like those that it was measured on, one or two are.
_SHARE_BEYOND, _COUNT_BEYOND, _PART_BEYOND = 0.001, 8, 0.02


@dataclass(frozen=True)
class JudgeJob:
    """The job of the process.

    Attributes:
        job: The model, and its kernels.
        calls: The calls, from the initial state of the model; the last one is judged.
        observed: The tensors that were read in it.
        folder: Where their values are.
        matches: What they are compared with, by their indices.
        results: The original's outputs, by their names.
        original: The file of the original, or its content, if it is a LiteRT model.
    """

    job: ModelJob
    calls: tuple[Call, ...]
    observed: Observation
    folder: Path
    matches: Mapping[int, Match]
    results: Arrays
    original: str | bytes | None = None


class OpJudgement(NamedTuple):
    """The result of one op, beside what quantization explains.

    Attributes:
        own: How far it is from what the op should make of its own operands, in what rounding explains.
        weights: How far the op is off given the original's operands, in what rounded weights explain; None if the
            original's numbers are not known.
        fault: What is wrong with it; empty if nothing is.
    """

    own: float | None = None
    weights: float | None = None
    fault: str = ""


class Judged(NamedTuple):
    """What quantization explains.

    Attributes:
        outputs: The error of each output that it explains, by name, as the error of an output is measured.
        ops: The results of ops, by the indices of the tensors.
    """

    outputs: dict[str, float]
    ops: dict[int, OpJudgement]


def judge(job: JudgeJob, announce: Callable[[str], None]) -> Judged:
    """Judges the last call.

    Raises:
        LitefuseError: There is no such copy of the model, or it does not run.
    """
    unpickle_kernels(job.job.registered or {})
    load_kernels(job.job.kernel_modules)
    announce("copy the model with real numbers")
    judging = _Judging(job)
    announce("judge the ops")
    ops = judging.ops()
    announce("judge the outputs")
    return Judged(judging.outputs(announce), ops)


class _Judging:
    def __init__(self, job: JudgeJob) -> None:
        self._job = job
        self._side = Side.of(job.job.model)
        self._graph = job.observed.graph.subgraph
        self._steps = steps_of(self._side, self._graph)
        self._custom_ops: list[type[CustomOp] | str] = [
            each if isinstance(each, str) else pickle.loads(each) for each in job.job.custom_ops
        ]
        self._tensors = {each.index: each for each in job.observed.graph.tensors}
        signature = next(each for each in self._side.facts.signatures if each.key == job.calls[-1].signature)
        self._inputs = {
            each.index: np.asarray(job.calls[-1].inputs[each.name])
            for each in signature.inputs
            if each.index is not None
        }
        self._own = {**{index: self._rounded(index, value) for index, value in self._inputs.items()}, **self._read()}
        self._original = {**self._inputs, **dict(self._matched())}

    def _rounded(self, index: int, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns an input as the file has it."""
        if index not in self._steps:
            return value
        steps = self._steps[index]
        return (np.round(value / steps.scale) * steps.scale).clip(steps.low, steps.high).astype(np.float32)

    def _read(self) -> dict[int, npt.NDArray[Any]]:
        """Returns the results of the file's ops that are real numbers."""
        return {
            index: np.load(values_file(self._job.folder, index)).astype(np.float32)
            for index, seen in self._job.observed.seen.items()
            if np.dtype(seen.dtype).kind == "f"
        }

    def _matched(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yields what these are in the original, where it is certain."""
        for index, own in self._read().items():
            name = self._job.observed.graph.results.get(index, "")
            candidates = [self._job.results[name]] if name in self._job.results else []
            match = self._job.matches.get(index)
            if not candidates and match is not None and match.certain:
                candidates = [np.load(each.file, allow_pickle=True) for each in match.candidates]
            fitting = [
                each.reshape(own.shape).astype(np.float32)
                for each in candidates
                if each.dtype.kind == "f" and same_order(each.shape, own.shape)
            ]
            if fitting:
                yield index, min(fitting, key=lambda each: difference(own, each).error)

    def ops(self) -> dict[int, OpJudgement]:
        """Returns the judgement on each result that is a real number."""
        copy = self._cut(self._own)
        made = self._computed(copy, copy.content(), self._own)
        found = {index: self._of_own(index, value) for index, value in made.items() if index in self._steps}
        copy = self._cut(self._original)
        made = self._computed(copy, copy.content(), self._original)
        noises: dict[int, list[npt.NDArray[Any]]] = {}
        for seed in range(_DRAWS):
            drawn = self._computed(copy, copy.content(np.random.default_rng(seed)), self._original)
            for index, value in drawn.items():
                if index in self._original:
                    noises.setdefault(index, []).append(_mean_squares(value - made[index]))
        for index, value in made.items():
            if index in self._original:
                judged = self._of_weights(index, value, noises[index])
                found[index] = _joined(found.get(index, OpJudgement()), judged)
        if self._job.original is not None:
            key = self._job.calls[-1].signature
            for index, fault in faulty_constants(self._side, Side.of(self._job.original), key):
                found[index] = found.get(index, OpJudgement())._replace(fault=fault)
        return found

    def _of_own(self, index: int, made: npt.NDArray[Any]) -> OpJudgement:
        steps = self._steps[index]
        if index not in self._own or not made.size:
            return OpJudgement()
        off = np.abs(made.clip(steps.low, steps.high) - self._own[index])
        allowed = _ROUNDINGS * steps.scale + _FLOAT_ERROR * float(np.abs(made).max())
        excess = float(off.max()) / allowed
        fault = "" if excess <= 1 else f"off by {off.max() / steps.scale:.0f} steps from what it computes"
        return OpJudgement(own=excess, fault=fault)

    def _of_weights(self, index: int, made: npt.NDArray[Any], noises: list[npt.NDArray[Any]]) -> OpJudgement:
        expected = self._original[index]
        if not made.size or made.shape != expected.shape:
            return OpJudgement()
        scale = self._steps[index].scale if index in self._steps else 0.0
        noise = np.sqrt(np.mean(noises, 0))
        noise = np.maximum(noise, _LEAST_OF_OTHERS * np.median(noise))
        allowed = _DEVIATIONS * noise + scale + _FLOAT_ERROR * float(np.abs(expected).max())
        off = np.sqrt(_mean_squares(made - expected))
        excess = off / allowed
        worst = int(np.argmax(excess))
        fault = ""
        if not excess[worst] <= 1:
            fault = f"off by {off[worst]:.2g} where rounded weights explain {noise[worst]:.2g}"
        elif self._job.job.is_given and index in self._steps and self._is_beyond(self._steps[index], expected):
            fault = "its range is narrower than its numbers"
        return OpJudgement(weights=float(excess[worst]), fault=fault)

    def _is_beyond(self, steps: Steps, expected: npt.NDArray[Any]) -> bool:
        beyond = np.maximum(expected - steps.high, steps.low - expected) > _PART_BEYOND * (steps.high - steps.low)
        count = int(np.count_nonzero(beyond))
        return count >= _COUNT_BEYOND and count >= _SHARE_BEYOND * expected.size

    def _cut(self, values: Mapping[int, npt.NDArray[Any]]) -> FloatCopy:
        return FloatCopy(self._side, self._graph, cuts=values)

    def _computed(
        self, copy: FloatCopy, content: bytes, values: Mapping[int, npt.NDArray[Any]]
    ) -> dict[int, npt.NDArray[Any]]:
        """Returns the results of the ops of a copy that takes these values."""
        interpreter = self._interpreter(content)
        for index, place in copy.given.items():
            interpreter.resize_tensor_input(place, values[index].shape)
        interpreter.allocate_tensors()
        for index, place in copy.given.items():
            interpreter.set_tensor(place, values[index])
        interpreter.invoke()
        places = {each["index"] for each in interpreter.get_output_details()}
        return {
            index: interpreter.get_tensor(place)
            for index, place in copy.computed.items()
            if place in places and index in self._tensors
        }

    def outputs(self, announce: Callable[[str], None]) -> dict[str, float]:
        """Returns the error of each output that quantization explains, in the last call."""
        exact = self._called(FloatCopy(self._side, self._graph).content())
        largest = {index: float(np.abs(value).max(initial=0.0)) for index, value in self._own.items()}
        copy = FloatCopy(self._side, self._graph, rounded=True, largest=largest)
        found: dict[str, float] = {}
        for seed in range(_OUTPUT_DRAWS):
            announce(Step(f"judge the outputs: run {seed + 1} of {_OUTPUT_DRAWS}", seed, _OUTPUT_DRAWS))
            for name, value in self._called(copy.content(np.random.default_rng(seed))).items():
                found[name] = max(found.get(name, 0.0), difference(value, exact[name]).error)
        return found

    def _called(self, content: bytes) -> Arrays:
        interpreter = self._interpreter(content)
        outputs: Arrays = {}
        for call in self._job.calls:
            outputs = interpreter.get_signature_runner(call.signature)(**call.inputs)
        return {name: np.array(value) for name, value in outputs.items()}

    def _interpreter(self, content: bytes) -> Interpreter:
        return Interpreter(content, custom_ops=self._custom_ops or None)


def _mean_squares(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Returns the mean square of each channel, along the last axis."""
    channels = values.shape[-1] if values.ndim > 1 else 1
    return np.square(values.astype(np.float64)).reshape(-1, channels).mean(0)


def _joined(own: OpJudgement, weights: OpJudgement) -> OpJudgement:
    return OpJudgement(own.own, weights.weights, weights.fault or own.fault)
