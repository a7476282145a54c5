"""The stages that users see, the steps that each is made of, and steps that say how much of them is done.

A conversion has some 70 steps, most of which are passes; a user sees the stages, of which it has up to ten.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, final

#: The stages, each with its steps. Where steps of one name are in several stages, they are among :data:`ANY_STAGE`.
_STEPS_OF_STAGES = {
    "Reading": "waiting for a worker, start, export, read, import, load the library",
    "Reading samples": "samples",
    "Analyzing": """
        set-input-shapes, withhold-chosen-ops, lower-for, limit-ops, lower-xla-call-module, lower-case,
        lower-conditions, lower-inplace-ops, decompose-resource-ops, lift-reads, sink-handles, check-handles,
        freeze-variables, infer-loop-types, expand-block-cells
    """,
    "Fusing": "recognize-composites, fuse-composites, name-layers",
    "Checking fusions": "self-check",
    "Translating ops": """
        initialize-variables, initialize-tables, inline, simplify, fold-branches, lower-tensor-lists, mark-branches,
        keep-generators, fold-float64, narrow-float64, hoist-projections, unroll-loops, read-reversed,
        pair-fake-quantization, rewrite-before-lowering, cut-constants, place-weights, keep-zero-operands, lower,
        type-results, check-pairs, expand-powers, fold-constants, fold-weights, multiply-matrices,
        cancel-layout-changes, copy-branch-results, emit-composite-ops, prepare-shapes, plain-signatures, compute-ids,
        initialize-states, defer-branches, fill-buffers, drop-loop-variables, outline-loops, decompose-ops,
        merge-handles, separate-activations, keep-copies, separate-reads, check-constants, emit-custom-ops,
        complex-pairs, type-static-shapes, unpack-reversals, emit-equal-ops, flatten-ids, plain-slices,
        plain-operands, lower-ranks, join-reshapes, drop-constants, call-once, name-tensors, center-first,
        drop-negations, negate-factors, scale-weights, add-masks, align-constants, select-masks
    """,
    "Writing": "write, write the outputs",
    "Quantizing": "quantize",
    "Generating kernels": "generate, find-chains, compile",
    "Checking kernels": "check-kernel, compare, watch the kernel",
    "Timing kernels": "size-composites, time-kernel, time-model",
    "Checking the file": "check-file",
    "Packing": "pack",
    "Asking targets": "check-target, ask",
    "Measuring": "measure, first call, warm up, call, call in turn, close the models",
    "Timing ops": "time the ops, time the operators of XNNPACK, time the ops one by one",
    "Calling the model": """
        verify, import the kernels, load the model, allocate the tensors, invoke, run the model, run again,
        call it on the CPU, close the model
    """,
    "Calling the original": "load TensorFlow, call the original",
    "Looking inside": "read the model, look into the model, look into the original",
    "Judging quantization": "copy the model with real numbers, judge the ops, judge the outputs",
}
STAGES: Mapping[str, tuple[str, ...]] = {
    stage: tuple(step.strip() for step in steps.split(",")) for stage, steps in _STEPS_OF_STAGES.items()
}

#: The stages whose processes print what kernels and the runtime print.
PRINTING = frozenset({"Measuring", "Timing ops", "Calling the model", "Calling the original", "Looking inside"})

#: Steps that belong to whatever stage they are in.
ANY_STAGE = frozenset({"refine-call-types", "symbol-dce", "forward-values"})

#: The stage of each step.
STEPS: Mapping[str, str] = {step: stage for stage, steps in STAGES.items() for step in steps}

_NAME = re.compile(r"[^:,]*")


def stage_of(step: str) -> str | None:
    """Returns the stage of a step; None if it is in whatever stage there is.

    Args:
        step: The step's name, which a colon or comma and a detail may follow.
    """
    return STEPS.get(_name(step))


def detail_of(step: str) -> str:
    """Returns the detail in a step, such as the sample that is run; empty if it has none."""
    return step[len(_name(step)) :].lstrip(":, ")


def _name(step: str) -> str:
    matched = _NAME.match(step)
    return matched[0] if matched else ""


@final
class Step(str):
    """The name of a step, or of a step and a detail (``ask: gpu, compile the model``), with a fraction.

    It is a string, so that it is taken wherever steps are, and can be sent from another process.

    Attributes:
        done: How many of the things that the step is about are done.
        total: How many there are; 0 if that is not known.
    """

    __slots__ = ("done", "total")

    done: int
    total: int

    def __new__(cls, text: str, done: int = 0, total: int = 0) -> Step:
        self = super().__new__(cls, text)
        self.done = done
        self.total = total
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Step, (str(self), self.done, self.total)


class StageTime(NamedTuple):
    """A stage and its time.

    Attributes:
        name: The stage.
        seconds: The time that it has taken.
        state: Whether work is in it, or in another one, or failed in it.
    """

    name: str
    seconds: float
    state: str


class Snapshot(NamedTuple):
    """The state of the work at one time.

    Attributes:
        stages: The stages so far, in the order in which they began.
        seconds: The time since the start.
        detail: What the current stage is at; may be empty.
        done: How much of it is done.
        total: How much there is; 0 if that is not known.
    """

    stages: tuple[StageTime, ...]
    seconds: float
    detail: str
    done: int
    total: int


class Tracker:
    """Follows work by its steps. It may be read in another thread.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = self._since = clock()
        self._seconds: dict[str, float] = {}
        self._stage = ""
        self._step: Step = Step("")
        self._state = "running"
        self._ended: float | None = None
        self._lock = threading.Lock()

    def step(self, text: str) -> bool:
        """Takes note of a step; returns whether a stage begins that was not there before."""
        with self._lock:
            self._step = text if isinstance(text, Step) else Step(text)
            stage = stage_of(text)
            if stage is None or stage == self._stage:
                return False
            self._count()
            self._stage = stage
            is_new = stage not in self._seconds
            self._seconds.setdefault(stage, 0.0)
            return is_new

    def end(self, *, failed: bool) -> None:
        with self._lock:
            self._count()
            self._ended = self._clock()
            self._state = "failed" if failed else "done"

    def _count(self) -> None:
        if self._stage:  # what is before the first step counts as its stage, such as the start of a process
            now = self._clock()
            self._seconds[self._stage] += now - self._since
            self._since = now

    def snapshot(self) -> Snapshot:
        """Returns the state of the work."""
        with self._lock:
            now = self._clock() if self._ended is None else self._ended
            stages = tuple(
                StageTime(name, seconds + (now - self._since if self._ended is None else 0.0), self._state)
                if name == self._stage
                else StageTime(name, seconds, "done")
                for name, seconds in self._seconds.items()
            )
            step = self._step
            return Snapshot(stages, now - self._begun, detail_of(step), step.done, step.total)
