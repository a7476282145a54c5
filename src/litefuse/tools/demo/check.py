"""Comparison of the converted demo with TensorFlow's results, and the kernel of its custom op."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from ai_edge_litert.interpreter import Interpreter

import litefuse
from litefuse.litert.runtime.delegate import delegate
from litefuse.litert.runtime.start_up_lines import silence_start_up_lines
from litefuse.tools.demo import REFERENCES

# Relative to the largest value, at least 1: some hundred float32 additions may be done in another order.
_TOLERANCE = 1e-5


class MyCustomFusedOp(litefuse.CustomOp):
    """``relu(input_1 + input_2) * example_option``, elementwise on float32 tensors of one shape.

    The factor is the annotation's attribute ``example_option``, which the converter stores in the op's options.

    Only ``litefuse demo`` registers it: a program may have a kernel of that name.
    """

    op_name: ClassVar[str] = "my_custom_fused_op"

    def prepare(self, input_1: litefuse.TensorSpec, input_2: litefuse.TensorSpec) -> litefuse.TensorSpec:
        if input_1.shape != input_2.shape:
            raise ValueError(f"input_1 is {input_1.shape} and input_2 {input_2.shape}; they must be alike")
        return litefuse.TensorSpec(input_1.shape, input_1.dtype)

    def invoke(self, inputs: Any, outputs: Any, *, example_option: int) -> None:
        input_1, input_2 = inputs
        outputs[0][...] = np.maximum(input_1 + input_2, 0) * np.float32(example_option)


@dataclass(frozen=True)
class Comparison:
    """One output of one call.

    Attributes:
        call: The call's number; calls follow each other in one interpreter.
        signature: The signature called.
        batch: The batch size.
        output: The output's name.
        max_error: The largest absolute difference from TensorFlow's result; infinite if they cannot be compared.
        problem: The difference; empty if there is none.
    """

    call: int
    signature: str
    batch: int
    output: str
    max_error: float
    problem: str

    @property
    def equal(self) -> bool:
        """Whether it equals TensorFlow's result up to float32 rounding."""
        return not self.problem


def compare(model: bytes) -> list[Comparison]:
    """Runs the demo's calls in the stock interpreter, one after another, and compares every output."""
    silence_start_up_lines()
    interpreter = Interpreter(model_content=model, experimental_delegates=[delegate(MyCustomFusedOp)])
    comparisons: list[Comparison] = []
    for (number, signature), (inputs, expected) in _reference_calls().items():
        outputs = interpreter.get_signature_runner(signature)(**inputs)
        batch = next(iter(inputs.values())).shape[0]
        for name, wanted in expected.items():
            error, problem = _difference(outputs.get(name), wanted)
            comparisons.append(Comparison(number + 1, signature, batch, name, error, problem))
    return comparisons


_Arrays = dict[str, npt.NDArray[Any]]


def _reference_calls() -> dict[tuple[int, str], tuple[_Arrays, _Arrays]]:
    """Returns the inputs and outputs of each call, by its number and signature, in order."""
    calls: dict[tuple[int, str], tuple[_Arrays, _Arrays]] = defaultdict(lambda: ({}, {}))
    with np.load(REFERENCES) as references:
        for key in references:  # in the order of the calls
            number, signature, role, name = key.split("/")
            calls[int(number), signature][role == "outputs"][name] = references[key]
    return calls


def _difference(output: npt.NDArray[Any] | None, wanted: npt.NDArray[Any]) -> tuple[float, str]:
    """Returns the largest absolute difference and the problem, if there is one."""
    if output is None:
        return np.inf, "it is missing"
    if (output.dtype, output.shape) != (wanted.dtype, wanted.shape):
        return np.inf, f"{output.dtype} {output.shape} instead of {wanted.dtype} {wanted.shape}"
    error = float(np.max(np.abs(output.astype(np.float64) - wanted), initial=0.0))
    exact = not np.issubdtype(wanted.dtype, np.floating)
    allowed = 0.0 if exact else _TOLERANCE * max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    # A comparison with NaN is false.
    return error, "" if error <= allowed else f"at most {allowed:.1e} is allowed"
