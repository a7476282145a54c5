"""Where a model is to run, and what follows from it for its form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

__all__ = ["TARGETS", "Target", "TargetTraits", "traits_of"]

#: Where a model is to run: ``cpu``: in LiteRT; ``gpu``: in LiteRT, on a GPU, by its accelerator; ``micro``: in
#: tflite-micro, on a microcontroller; ``ethos-u``: on an Arm Ethos-U NPU, for which Vela compiles the file.
Target: TypeAlias = Literal["cpu", "gpu", "micro", "ethos-u"]

TARGETS: tuple[Target, ...] = get_args(Target)


@dataclass(frozen=True)
class TargetTraits:
    """What a target can run.

    Attributes:
        runtime: What runs or compiles the model, for messages.
        dynamic: Whether dimensions may be known only in a call.
        loops: Whether recurrent layers may be loops; else each becomes one op, or is unrolled.
        lacking: LiteRT's ops for recurrent layers that it does not have.
        mixed: Whether it computes with float32 and smaller weights, integers or float16, in one op.
        int4: The granularities of int4 weights that it takes; None for any.
        avoided: LiteRT's ops that it lacks or leaves to a CPU, written as others where these give the same.
        complex: Whether there are complex numbers.
        flat_ids: Whether GATHER takes only ids of int32 and rank 1.
        shrinks_axes: Whether slices may drop and add axes, and be of any dtype and order.
        plain_operands: Whether SELECT_V2, BATCH_MATMUL and CUMSUM take only some operands, and ZEROS_LIKE is lacking.
        max_rank: The highest rank of what ops compute with; None for any.
    """

    runtime: str
    dynamic: bool = True
    loops: bool = True
    lacking: frozenset[str] = frozenset()
    mixed: bool = True
    int4: tuple[str, ...] | None = None
    avoided: frozenset[str] = frozenset()
    complex: bool = True
    flat_ids: bool = False
    shrinks_axes: bool = True
    plain_operands: bool = False
    max_rank: int | None = None


_LACKING = frozenset({"UNIDIRECTIONAL_SEQUENCE_RNN"})
# tflite-micro lacks these, and Vela leaves them to it.
_AVOIDED = frozenset({"REDUCE_ANY", "SELECT"})
# Their states are variable tensors, which LiteRT's CompiledModel rejects, the only way to a GPU.
_WITH_STATES = _LACKING | {"UNIDIRECTIONAL_SEQUENCE_LSTM"}

_TRAITS: dict[Target, TargetTraits] = {
    "cpu": TargetTraits("LiteRT"),
    "gpu": TargetTraits(
        "LiteRT's GPU accelerator",
        dynamic=False,
        loops=False,
        lacking=_WITH_STATES,
        complex=False,
        flat_ids=True,
        shrinks_axes=False,
        plain_operands=True,
        max_rank=4,
    ),
    # It plans its memory once, before the first call. It runs WHILE, but the integer LSTM is what CMSIS-NN has.
    "micro": TargetTraits(
        "tflite-micro",
        dynamic=False,
        loops=False,
        lacking=_LACKING,
        mixed=False,
        complex=False,
        int4=("tensor",),
        avoided=_AVOIDED,
    ),
    # Vela leaves WHILE and its subgraphs to the CPU.
    "ethos-u": TargetTraits(
        "Vela",
        dynamic=False,
        loops=False,
        lacking=_LACKING,
        mixed=False,
        complex=False,
        int4=(),
        avoided=_AVOIDED | {"REVERSE_V2", "SELECT_V2"},
    ),
}


def traits_of(target: Target) -> TargetTraits:
    """Returns what a target can run."""
    return _TRAITS[target]
