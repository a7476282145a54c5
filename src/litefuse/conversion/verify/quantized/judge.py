"""Entry point of the child process that tells what quantization explains: of each op, and of each output.

Each op of the file is computed with real numbers twice, alone: of the operands that it has in the file, where only the
rounding of its result may differ, and of those that it has in the original, where only its rounded weights may. What
these explain is measured, with weights that are off by chance. How far an output may be off is measured as well, by
whole runs that round as the file does. Constants are compared with those of the model that the file was made of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.layers.model_values import Observation, values_file
from litefuse.conversion.verify.layers.original_values import Match, same_order
from litefuse.conversion.verify.model_process import ModelJob
from litefuse.conversion.verify.original import Arrays, Call
from litefuse.conversion.verify.quantized.float_copy import CUT, FloatCopy, steps_of
from litefuse.litert.differences.compared_model import ComparedModel
from litefuse.litert.differences.weights import real_numbers
from litefuse.litert.inspection.facts import StoredTensor
from litefuse.litert.results.difference import difference
from litefuse.litert.runtime.custom_op import CustomOp
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.progress.stages import Step

# Numbers that were rounded are off by 0.29 steps on average; a slice is at fault beyond this.
_CONSTANT_STEPS = 1.5
# Numbers of floating point were computed of others, and are as exact as that.
_CONSTANT_ERROR = 1e-3


def faulty_constants(side: ComparedModel, original: ComparedModel, signature: str) -> Iterator[tuple[int, float, str]]:
    """Finds ops with constants that are not those of the original, rounded.

    Ops are those of the main subgraph whose results have the same names in both, and are of the same kind.

    Args:
        side: The quantized model.
        original: The original, of float32.
        signature: The signature's key.

    Yields:
        The index of the op's first result, how far it is off in what rounding explains, and what is wrong.
    """
    graph, other = (_main_subgraph(model, signature) for model in (side, original))
    if graph is None or other is None:
        return
    known = {original.result(op): op for op in original.operators[other]}
    for op in side.operators[graph]:
        before = known.get(side.result(op)) if side.result(op) else None
        if before is None or before.name != op.name or len(before.inputs) != len(op.inputs):
            continue
        for index, wanted in zip(op.inputs, before.inputs, strict=True):
            if index < 0 or wanted < 0:
                continue
            off = _off(side, side.tensors[graph][index], original, original.tensors[other][wanted])
            if not off <= _CONSTANT_STEPS:
                name = side.tensors[graph][index].name
                yield op.outputs[0], off / _CONSTANT_STEPS, f"off by {off:.0f} steps in a slice of its constant {name}"
                break


def _main_subgraph(side: ComparedModel, signature: str) -> int | None:
    return next((entry.subgraph for entry in side.facts.signatures if entry.key == signature), None)


def _off(side: ComparedModel, constant: StoredTensor, original: ComparedModel, wanted: StoredTensor) -> float:
    """Returns how far a constant is off in the worst slice of one scale, in steps, as the root of the mean square."""
    if not (constant.is_constant and wanted.is_constant) or constant.shape != wanted.shape or wanted.dtype != "float32":
        return 0.0
    numbers, scales = real_numbers(side, constant), side.scales(constant)
    data = original.data(wanted.buffer)
    if numbers is None or scales is None or scales.block or data.nbytes != 4 * numbers[0].size or not data.size:
        return 0.0
    values, steps = numbers
    expected = data.view(np.float32).reshape(values.shape)
    allowed = np.maximum(steps, np.abs(expected) * np.float32(_CONSTANT_ERROR))
    errors = np.square((values - expected) / allowed, dtype=np.float64)
    return float(np.sqrt(_slices(errors, scales.axis if len(scales.scales) > 1 else None).max()))


def _slices(errors: npt.NDArray[np.float64], axis: int | None) -> npt.NDArray[np.float64]:
    if axis is None:
        return errors.mean(keepdims=True)
    return np.moveaxis(errors, axis, 0).reshape(errors.shape[axis], -1).mean(1)


#: The function to run in the process of a model.
JUDGE = "litefuse.conversion.verify.quantized.judge:judge"

# How often weights are drawn, for ops and for outputs.
_DRAWS = 4
_OUTPUT_DRAWS = 8
# An op is at fault beyond so many standard deviations of what its rounded weights explain, in any channel; that of a
# channel is taken to be at least a part of that of the others. Of ten million channels, none gets there by chance.
_DEVIATIONS = 12.0
_LEAST_OF_OTHERS = 0.5
# Kernels may round more than once, by so many steps of the result in all.
_ROUNDINGS = 2.5
# Those of a loop, whose later steps take what earlier ones rounded.
_ROUNDINGS_OF_LOOPS = 10.0
# What kernels of floating point differ by, relative to the largest number; and those of int16, which look functions up.
_FLOAT_ERROR = 5e-4
_TABLE_ERROR = 2.0**-8
_FINE = 2.0**-12  # a step of int16, but not of int8, is less than this part of the range
# The range of a tensor is at fault if this share of numbers, and so many, are beyond it by that part of it. Where more
# tensors than these have such numbers, the call is unlike those that ranges were measured on, which explains them.
_SHARE_BEYOND, _COUNT_BEYOND, _PART_BEYOND = 0.001, 8, 0.02
_TENSORS_BEYOND = 2
_NARROW = "narrower in its range than its numbers are"


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
        excess: How far the op is off, in what quantization explains: above 1, it is at fault.
        fault: What is wrong with it; empty if nothing is.
    """

    excess: float
    fault: str = ""


class Judged(NamedTuple):
    """Errors that quantization explains.

    Attributes:
        outputs: The error of each output that it explains, by name, as the error of an output is measured.
        clipped: The part of it that numbers beyond the ranges of the file make, which become the ends of these.
        ops: The results of ops, by the indices of the tensors.
    """

    outputs: dict[str, float]
    clipped: dict[str, float]
    ops: dict[int, OpJudgement]


def judge(job: JudgeJob, announce: Callable[[str], None]) -> Judged:
    """Judges the last call.

    Raises:
        LitefuseError: No such copy of the model, or it does not run.
    """
    custom_ops = job.job.load_kernels()
    announce("copy the model with real numbers")
    judging = _Judging(job, custom_ops)
    announce("judge the ops")
    ops = judging.ops()
    announce("judge the outputs")
    return Judged(*judging.outputs(announce), ops)


class _Judging:
    def __init__(self, job: JudgeJob, custom_ops: Sequence[type[CustomOp] | str]) -> None:
        self._job = job
        self._side = ComparedModel.of(job.job.model)
        self._graph = job.observed.graph.subgraph
        self._stored = self._side.tensors[self._graph]
        self._steps = steps_of(self._side, self._graph)
        self._custom_ops = custom_ops
        # What the tables of kernels are off by, relative to their largest results: no rounding shows it.
        self._by_tables = 0.0
        self._tensors = {tensor.index: tensor for tensor in job.observed.graph.tensors}
        signature = next(entry for entry in self._side.facts.signatures if entry.key == job.calls[-1].signature)
        self._inputs = {
            input_.index: np.asarray(job.calls[-1].inputs[input_.name])
            for input_ in signature.inputs
            if input_.index is not None
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
                candidates = [np.load(candidate.file, allow_pickle=True) for candidate in match.candidates]
            fitting = [
                candidate.reshape(own.shape).astype(np.float32)
                for candidate in candidates
                if candidate.dtype.kind == "f" and same_order(candidate.shape, own.shape)
            ]
            if fitting:
                yield index, min(fitting, key=lambda value: difference(own, value).error)

    def ops(self) -> dict[int, OpJudgement]:
        """Returns the judgement on each result that is a real number."""
        copy = self._cut(self._own)
        made = self._computed(copy, copy.content(), self._own)
        judgements = [(index, self._of_own(index, value)) for index, value in made.items() if index in self._steps]
        copy = self._cut(self._original)
        made = self._computed(copy, copy.content(), self._original)
        # An original that is trained for integers rounds, and clips, what its ops take.
        trained = {index: self._rounded(index, value) for index, value in self._original.items()}
        again = self._computed(copy, copy.content(), trained)
        clips = set[int]()
        noises: dict[int, list[npt.NDArray[Any]]] = {}
        for seed in range(_DRAWS):
            drawn = self._computed(copy, copy.content(np.random.default_rng(seed)), self._original)
            for index, value in drawn.items():
                if index in self._original:
                    noises.setdefault(index, []).append(_mean_squares(value - made[index]))
        for index in made.keys() & self._original.keys():
            exact, rounded = (self._of_weights(index, values[index], noises[index]) for values in (made, again))
            if rounded.excess < exact.excess:
                clips.update(self._tensors[index].operands)
            judgements.append((index, rounded if rounded.excess < exact.excess else exact))
        if self._job.job.is_given:
            judgements += self._narrow_ranges(clips)
        if self._job.original is not None:
            key = self._job.calls[-1].signature
            for index, excess, fault in faulty_constants(self._side, ComparedModel.of(self._job.original), key):
                judgements.append((index, OpJudgement(excess, fault)))
        worst: dict[int, OpJudgement] = {}
        for index, judged in judgements:
            if index not in worst or not judged.excess <= worst[index].excess:
                worst[index] = judged
        return worst

    def _of_own(self, index: int, made: npt.NDArray[Any]) -> OpJudgement:
        steps = self._steps[index]
        if index not in self._own or not made.size:
            return OpJudgement(0.0)
        off = np.abs(made.clip(steps.low, steps.high) - self._own[index])
        largest = float(np.abs(made).max())
        is_fine = steps.scale < _FINE * (steps.high - steps.low)
        roundings = _ROUNDINGS_OF_LOOPS if self._tensors[index].op == "WHILE" else _ROUNDINGS
        allowed = roundings * steps.scale + (_TABLE_ERROR if is_fine else _FLOAT_ERROR) * largest
        excess = float(off.max()) / allowed  # a step is more than 0
        if is_fine and excess <= 1 and off.max() > roundings * steps.scale:
            self._by_tables = max(self._by_tables, float(off.max()) / largest)
        fault = "" if excess <= 1 else f"off by {off.max() / steps.scale:.0f} steps from what it computes"
        return OpJudgement(excess, fault)

    def _of_weights(self, index: int, made: npt.NDArray[Any], noises: list[npt.NDArray[Any]]) -> OpJudgement:
        expected = self._original[index]
        if not made.size or made.shape != expected.shape:
            return OpJudgement(0.0)
        scale = self._steps[index].scale if index in self._steps else 0.0
        noise = np.sqrt(np.mean(noises, 0))
        noise = np.maximum(noise, _LEAST_OF_OTHERS * np.median(noise))
        allowed = _DEVIATIONS * noise + scale + _FLOAT_ERROR * float(np.abs(expected).max())
        off = np.sqrt(_mean_squares(made - expected))
        excess = np.divide(off, allowed, out=np.zeros_like(off), where=off != 0)
        worst = int(np.argmax(excess))
        fault = ""
        if not excess[worst] <= 1:
            fault = f"off by {off[worst]:.2g} where rounded weights explain {noise[worst]:.2g}"
        return OpJudgement(float(excess[worst]), fault)

    def _narrow_ranges(self, clips: Collection[int]) -> Iterator[tuple[int, OpJudgement]]:
        """Yields tensors whose ranges are narrower than the original's numbers, if few are; not those it clips, too."""
        ranges = [*(self._steps.keys() & self._original.keys() & self._tensors.keys() - {*clips})]
        beyond = {index: count for index in ranges if (count := self._beyond(index))}
        if len(beyond) > _TENSORS_BEYOND:
            return
        for index, count in beyond.items():
            excess = count / max(_COUNT_BEYOND, _SHARE_BEYOND * self._original[index].size)
            yield index, OpJudgement(excess, _NARROW if excess > 1 else "")

    def _beyond(self, index: int) -> int:
        steps, expected = self._steps[index], self._original[index]
        beyond = np.maximum(expected - steps.high, steps.low - expected) > _PART_BEYOND * (steps.high - steps.low)
        return int(np.count_nonzero(beyond))

    def _cut(self, values: Mapping[int, npt.NDArray[Any]]) -> FloatCopy:
        return FloatCopy(self._side, self._graph, cuts=values)

    def _computed(
        self, copy: FloatCopy, content: bytes, values: Mapping[int, npt.NDArray[Any]]
    ) -> dict[int, npt.NDArray[Any]]:
        """Returns the results of the ops of a copy that takes these values."""
        run = self._interpreter(content).get_signature_runner(CUT)
        made = run(**{str(index): values[index] for index in copy.given})
        stale = self._stale(copy)
        return {
            index: np.array(made[str(place)])
            for index, place in copy.computed.items()
            if str(place) in made and index in self._tensors and index not in stale
        }

    def _stale(self, copy: FloatCopy) -> set[int]:
        """Returns what is computed of states that earlier calls left, which the copy does not run."""
        stale: set[int] = set()
        for tensor in self._job.observed.graph.tensors if len(self._job.calls) > 1 else ():
            reads = tensor.op == "READ_VARIABLE" or any(
                self._stored[operand].is_variable for operand in tensor.operands
            )
            if reads or any(operand in stale and operand not in copy.given for operand in tensor.operands):
                stale.add(tensor.index)
        return stale

    def outputs(self, announce: Callable[[str], None]) -> tuple[dict[str, float], dict[str, float]]:
        """Returns the error of each output that quantization explains, in the last call, and that of clipping alone."""
        exact = self._called(FloatCopy(self._side, self._graph).content())
        largest = {index: float(np.abs(value).max(initial=0.0)) for index, value in self._own.items()}
        copy = FloatCopy(self._side, self._graph, rounded=True, largest=largest)
        errors: dict[str, float] = {}
        for seed in range(_OUTPUT_DRAWS):
            announce(Step(f"judge the outputs: run {seed + 1} of {_OUTPUT_DRAWS}", seed, _OUTPUT_DRAWS))
            for name, value in self._called(copy.content(np.random.default_rng(seed))).items():
                errors[name] = max(errors.get(name, 0.0), difference(value, exact[name]).error)
        free = FloatCopy(self._side, self._graph, rounded=True, clipped=False, largest=largest)
        inside, whole = self._called(copy.content()), self._called(free.content())
        clipped = {name: difference(value, whole[name]).error for name, value in inside.items()}
        return {name: error + self._by_tables for name, error in errors.items()}, clipped

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
