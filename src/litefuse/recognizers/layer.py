"""What recognisers find in loops."""

from __future__ import annotations

from dataclasses import dataclass

from litefuse.engine.mlir import ir
from litefuse.recognizers.loops import StepLoop
from litefuse.recognizers.pattern import Variable

__all__ = ["RecurrentLayer", "weight"]


@dataclass(frozen=True)
class RecurrentLayer:
    """A loop that is a recurrent layer.

    Attributes:
        kind: What it is, in words: ``an LSTM``.
        name: The name of its composite.
        loop: The loop.
        states: The positions of its states among the loop variables; the first is the output.
        weights: The kernel, the recurrent kernel and, if there is one, the bias: values in the loop's body, each a
            constant or a variable that the loop keeps.
    """

    kind: str
    name: str
    loop: StepLoop
    states: tuple[int, ...]
    weights: tuple[ir.Value, ...]

    @property
    def units(self) -> int:
        """How many outputs each step has."""
        return ir.ShapedType(self.loop.argument(self.states[0]).type).shape[1]

    @property
    def steps(self) -> int | None:
        """The number of steps; None where the call decides it."""
        inputs = ir.ShapedType(self.loop.inputs.type)
        return None if not inputs.has_rank or inputs.is_dynamic_dim(0) else inputs.shape[0]


def weight(loop: StepLoop, rank: int) -> Variable:
    """The part of a pattern that is a float32 matrix (rank 2) or vector (1) and the same in every step."""

    def is_weight(value: ir.Value) -> bool:
        kind = ir.ShapedType(value.type)
        known = kind.has_rank and kind.rank == rank and kind.has_static_shape
        return loop.stays(value) and known and str(kind.element_type) == "f32"

    return Variable({1: "a bias", 2: "a kernel"}[rank], is_weight)
