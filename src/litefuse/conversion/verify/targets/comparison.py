"""The numbers that a target gives, compared with those of LiteRT on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.model_process import ModelCalls
from litefuse.conversion.verify.original import Call
from litefuse.conversion.verify.verdicts import movements
from litefuse.conversion.verify.verification import OutputVerdict
from litefuse.litert.results.difference import Difference, difference
from litefuse.litert.runtime.model_reader import Model, Tensor
from litefuse.litert.targets.question import Arrays, TargetCall

__all__ = ["Comparison"]

#: How far two implementations of integer ops may differ: each approximates activations in its own way.
_STEPS = 2


@dataclass(frozen=True)
class Comparison:
    """The calls of the CPU, and how those of a target are compared with them.

    Attributes:
        model: The model.
        ran: The calls, and the CPU's outputs as real numbers.
        tolerance: The allowed error, relative to the largest value of an output.
    """

    model: Model
    ran: ModelCalls
    tolerance: float

    @property
    def rounds(self) -> tuple[tuple[TargetCall, ...], ...]:
        """The calls as the file takes them: integers where it is quantized."""
        return tuple(tuple(self._as_stored(call) for call in calls) for calls in self.ran.rounds)

    def verdicts(self, found: Sequence[Sequence[Arrays | None]]) -> Iterator[OutputVerdict]:
        """Yields the verdict on each output; signatures that the target did not call are left out."""
        calls: list[Call] = []
        expected: list[Arrays] = []
        given: list[Arrays] = []
        for of_round, answers, outputs in zip(self.ran.rounds, self.ran.found, found, strict=True):
            for call, answer, output in zip(of_round, answers, outputs, strict=True):
                if output is not None:
                    calls.append(call)
                    expected.append(answer)
                    given.append(output)
        moves = movements(calls, [dict(each) for each in expected], self.tolerance)
        for key in dict.fromkeys(call.signature for call in calls):
            numbers = [number for number, call in enumerate(calls) if call.signature == key]
            for name in expected[numbers[0]]:
                yield self._verdict(key, name, numbers, given, expected, moves[key, name])

    def spread(self, others: Sequence[Sequence[Arrays]]) -> dict[tuple[str, str], float]:
        """Returns the largest difference of each output from the same calls elsewhere, as real numbers."""
        found: dict[tuple[str, str], float] = {}
        for calls, expected, other in zip(self.ran.rounds, self.ran.found, others, strict=True):
            for call, one, another in zip(calls, expected, other, strict=True):
                for name, value in one.items():
                    key = call.signature, name
                    found[key] = max(found.get(key, 0.0), difference(another[name], value).error)
        return found

    def _verdict(
        self,
        key: str,
        name: str,
        numbers: Sequence[int],
        given: Sequence[Arrays],
        expected: Sequence[Arrays],
        moves: Any,
    ) -> OutputVerdict:
        tensor, step = self._output(key, name)
        found = {number: _real(np.asarray(given[number][name]), tensor) for number in numbers}
        differences = {number: _difference(found[number], expected[number][name], step) for number in numbers}
        worst = max(numbers, key=lambda number: differences[number].error)
        error, problem = differences[worst]
        verdict = "equal" if error <= self.tolerance else "differs"
        if verdict == "equal" and name in self.ran.moving.get(key, frozenset()) and not moves.moved:
            verdict, problem = "inconclusive", "it did not move with the inputs"
        shape, dtype = found[worst].shape, str(tensor.dtype) if tensor.dtype is not None else ""
        return OutputVerdict(key, name, dtype, shape, error, worst + 1, problem, verdict, *moves)

    def _as_stored(self, call: Call) -> TargetCall:
        signature = self.model.signatures[call.signature]
        graph = self.model.graphs[signature.graph]
        return TargetCall(
            call.signature,
            {name: _stored(value, graph.tensor(signature.inputs[name])) for name, value in call.inputs.items()},
        )

    def _output(self, key: str, name: str) -> tuple[Tensor, float]:
        """Returns an output's tensor, and the step of its integers, or of those it is dequantized from; 0 for none."""
        signature = self.model.signatures[key]
        graph = self.model.graphs[signature.graph]
        index = signature.outputs[name]
        tensor = graph.tensor(index)
        if _is_quantized(tensor):
            return tensor, tensor.scale
        for op in graph.ops:
            if op.name == "DEQUANTIZE" and index in op.outputs:
                return tensor, graph.tensor(op.inputs[0]).scale
        return tensor, 0.0


def _is_quantized(tensor: Tensor) -> bool:
    return bool(tensor.scale) and tensor.dtype is not None and tensor.dtype.kind in "iu"


def _stored(value: npt.NDArray[Any], tensor: Tensor) -> npt.NDArray[Any]:
    if not _is_quantized(tensor) or value.dtype.kind != "f":
        return value
    assert tensor.dtype is not None
    limits = np.iinfo(tensor.dtype)
    integers: Any = np.round(np.asarray(value, np.float64) / tensor.scale) + tensor.zero
    return np.asarray(integers).clip(limits.min, limits.max).astype(tensor.dtype)


def _real(value: npt.NDArray[Any], tensor: Tensor) -> npt.NDArray[Any]:
    return (value.astype(np.float64) - tensor.zero) * tensor.scale if _is_quantized(tensor) else value


def _difference(found: npt.NDArray[Any], expected: npt.NDArray[Any], step: float) -> Difference:
    """Returns the difference; what is within some steps of integers is none."""
    told = difference(found, expected)
    if step and told.error and found.shape == expected.shape:
        steps = float(np.abs(found.astype(np.float64) - expected.astype(np.float64)).max(initial=0.0)) / step
        if steps <= _STEPS + 0.01:
            return Difference(
                0.0, f"{round(steps)} steps of its integers apart" if round(steps) != 1 else "a step apart"
            )
    return told
