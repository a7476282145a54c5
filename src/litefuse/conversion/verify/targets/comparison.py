"""The numbers that a target gives, compared with those of LiteRT on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.model_process import ModelCalls
from litefuse.conversion.verify.original import Call
from litefuse.conversion.verify.verdicts import Evidence, verdicts
from litefuse.conversion.verify.verification import OutputVerdict
from litefuse.litert.results.difference import difference
from litefuse.litert.runtime.model_reader import Model, Tensor
from litefuse.litert.targets.question import Arrays, TargetCall


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
        """Returns the verdict on each output; signatures that the target did not call are left out."""
        calls: list[Call] = []
        expected: list[dict[str, npt.NDArray[Any]]] = []
        given: list[dict[str, npt.NDArray[Any]]] = []
        for of_round, answers, outputs in zip(self.ran.rounds, self.ran.results, found, strict=True):
            for call, answer, output in zip(of_round, answers, outputs, strict=True):
                if output is not None:
                    calls.append(call)
                    expected.append(answer)
                    tensors = {name: self._tensor(call.signature, name) for name in answer}
                    given.append({name: _real(np.asarray(output[name]), tensor) for name, tensor in tensors.items()})
        names = {(call.signature, name) for call, answer in zip(calls, expected, strict=True) for name in answer}
        dtypes = {name: str(dtype) for name in names if (dtype := self._tensor(*name).dtype) is not None}
        steps = {name: self._step(*name) for name in names}
        evidence = Evidence(self.tolerance, self.ran.moving, (), True, {}, dtypes=dtypes, steps=steps)
        return verdicts(calls, given, expected, evidence)

    def spread(self, others: Sequence[Sequence[Arrays]]) -> dict[tuple[str, str], float]:
        """Returns the largest difference of each output from the same calls elsewhere, as real numbers."""
        errors: dict[tuple[str, str], float] = {}
        for calls, expected, other in zip(self.ran.rounds, self.ran.results, others, strict=True):
            for call, one, another in zip(calls, expected, other, strict=True):
                for name, value in one.items():
                    key = call.signature, name
                    errors[key] = max(errors.get(key, 0.0), difference(another[name], value).error)
        return errors

    def _as_stored(self, call: Call) -> TargetCall:
        signature = self.model.signatures[call.signature]
        graph = self.model.graphs[signature.graph]
        return TargetCall(
            call.signature,
            {name: _stored(value, graph.tensor(signature.inputs[name])) for name, value in call.inputs.items()},
        )

    def _tensor(self, key: str, name: str) -> Tensor:
        signature = self.model.signatures[key]
        return self.model.graphs[signature.graph].tensor(signature.outputs[name])

    def _step(self, key: str, name: str) -> float:
        """Returns the step of an output's integers, or of those that it is dequantized from; 0 without any."""
        signature = self.model.signatures[key]
        graph = self.model.graphs[signature.graph]
        for op in graph.ops if not _is_quantized(self._tensor(key, name)) else ():
            if op.name == "DEQUANTIZE" and signature.outputs[name] in op.outputs:
                return graph.tensor(op.inputs[0]).scale
        return self._tensor(key, name).scale if _is_quantized(self._tensor(key, name)) else 0.0


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
