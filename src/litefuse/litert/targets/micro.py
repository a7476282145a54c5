"""tflite-micro: microcontrollers."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from litefuse.errors import LitefuseError
from litefuse.litert.targets.op_table import CUSTOM, Limits, OpTable, refused_by_table
from litefuse.litert.targets.question import Answer, Arrays, Question, Refusal, TargetCall
from litefuse.litert.targets.target import Hint, Target, installed, logged, not_installed
from litefuse.support.options.limits import parsed_bytes
from litefuse.support.target_traits import TargetTraits

_PACKAGE = "tflite-micro"
_RUNTIME = "tflite_micro.python.tflite_micro.runtime"

_NO_OP = re.compile(r"Didn't find op for builtin opcode '(?P<op>\w+)'")
_NODE = re.compile(r"Node (?P<op>\w+) \(number [^)]*\) failed to (?P<step>\w+)")
_NO_ROOM = re.compile(r"[Ff]ailed to (?:allocate|resize|reserve)[^\n]*|Arena size is too small[^\n]*|missing: \d+")
_CUSTOM = re.compile(
    r"Didn't find op for (?:custom op|custom opcode)[^\n']*'?(?P<op>[^\n']*)|custom op '(?P<other>[^']*)'"
)
# What it says of the plan by which ``export.edited_file`` has it refuse a file, and what that means.
_NO_PLAN = "Nbr of offline buffer offsets (0)"
_FIRST_SCALE = "constants have a scale for each channel, but tflite-micro would use the first for all"
# What says nothing by itself: where in the source, and what failed because of it.
_NOISE = re.compile(r"^(?:Failed to (?:get registration|allocate tensors|starting)|AllocateTensors|\s*$)")

_SOURCE = re.compile(r"^\S+\.(?:cc|h)(?::\d+)?:? +")

_FIRST_ARENA, _LARGEST_ARENA, _STEP = 1 << 14, 1 << 28, 16

# GATHER is how functions are looked up, and TRANSPOSE has up to five dimensions, where LiteRT's has six.
_NO_INTEGERS = frozenset(
    {
        *("CUMSUM int8", "EXP int8", "GATHER bool", "LOG int8", "REDUCE_PROD int8", "RELU_N1_TO_1 int8"),
        *("TOPK_V2 int8", "ARG_MAX int16", "ARG_MIN int16", "CUMSUM int16", "DEPTH_TO_SPACE int16", "ELU int16"),
        *("EXP int16", "GATHER int16", "LOG int16", "LOG_SOFTMAX int16", "REDUCE_MAX int16", "REDUCE_MIN int16"),
        *("REDUCE_PROD int16", "SPACE_TO_DEPTH int16", "TOPK_V2 int16"),
    }
)
_QUANTIZE = "convert with --quantize int8 --quantized-io integer and --samples"

# Measured by loading a model of each op of LiteRT's schema (tflite-micro 0.dev20260101 and later, 2026-11): an op that
# it lacks is looked up, and reported, before anything else.
_ANY = """
    ABS ADD ADD_N ARG_MAX ARG_MIN ASSIGN_VARIABLE AVERAGE_POOL_2D BATCH_MATMUL BATCH_TO_SPACE_ND BROADCAST_ARGS
    CALL_ONCE CAST CEIL CONCATENATION CONV_2D COS CUMSUM DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE DIV
    DYNAMIC_UPDATE_SLICE ELU EMBEDDING_LOOKUP EQUAL EXP EXPAND_DIMS FLOOR FLOOR_DIV FLOOR_MOD FULLY_CONNECTED GATHER
    GATHER_ND GREATER GREATER_EQUAL HARD_SWISH IF L2_NORMALIZATION L2_POOL_2D LEAKY_RELU LESS LESS_EQUAL LOG
    LOGICAL_AND LOGICAL_NOT LOGICAL_OR LOGISTIC LOG_SOFTMAX MAXIMUM MAX_POOL_2D MEAN MINIMUM MIRROR_PAD MUL NEG
    NOT_EQUAL PACK PAD PADV2 PRELU QUANTIZE READ_VARIABLE REDUCE_ALL REDUCE_MAX REDUCE_MIN RELU RELU6
    RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE_V2 ROUND RSQRT SELECT_V2 SHAPE SIN SLICE SOFTMAX
    SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPLIT SPLIT_V SQRT SQUARE SQUARED_DIFFERENCE SQUEEZE STRIDED_SLICE SUB SUM SVDF
    TANH TRANSPOSE TRANSPOSE_CONV UNIDIRECTIONAL_SEQUENCE_LSTM UNPACK VAR_HANDLE WHILE ZEROS_LIKE
"""

MICRO_OPS = OpTable(
    "tflite-micro's Python package, 2026-11",
    ops={
        **{name: Limits() for name in _ANY.split()},
        # Sizes of results are planned before the first call.
        "RESHAPE": Limits(constant=(1,)),
        "FILL": Limits(constant=(0,)),
        "BROADCAST_TO": Limits(constant=(1,)),
    },
    custom=frozenset({"TFLite_Detection_PostProcess"}),
)


class Micro(Target):
    """The interpreter of microcontrollers, with the ops of its Python package."""

    name = "micro"
    # It plans its memory once, before the first call. It runs WHILE, but the integer LSTM is what CMSIS-NN has: which
    # is smaller is measured (conversion/recurrent_forms.py).
    traits = TargetTraits(
        "tflite-micro",
        dynamic=False,
        loops=False,
        left_loops="tflite-micro runs loops",
        lacking=frozenset({"UNIDIRECTIONAL_SEQUENCE_RNN"}),
        mixed=False,
        xnnpack=False,
        complex=False,
        int4=("tensor",),
        avoided=frozenset({"REDUCE_ANY", "SELECT", "TILE"}),
        names=False,
        no_integers=_NO_INTEGERS,
    )
    table = MICRO_OPS
    hints = (
        Hint("", "behind the flatbuffer", "convert with --target micro, which writes them into it"),
        Hint("", _FIRST_SCALE, "convert with --granularity tensor, or with --quantize int8 and samples"),
        Hint("", "custom op", "convert with --allow-custom-ops never", rewritten=True),
        Hint(
            "RESHAPE|FILL|BROADCAST_TO|STRIDED_SLICE|SLICE|SHAPE", "", "convert with --target micro, which fixes sizes"
        ),
        Hint("UNIDIRECTIONAL_SEQUENCE_LSTM|UNIDIRECTIONAL_SEQUENCE_RNN|WHILE", "", "convert with --target micro"),
        Hint("", "no such op", "change the layer that it is from, or leave it out of the signature"),
        Hint("", "type|Type|hybrid|[Dd]ynamic", f"convert with --target micro; for integers, {_QUANTIZE}"),
        Hint("", "arena", "make the model smaller, " + _QUANTIZE.replace("convert with", "such as with")),
    )

    #: The bytes of memory that there are for the arena; None for any number.
    memory: int | None = None

    def choose(self, variant: str) -> None:
        self.memory = parsed_bytes(variant)
        if self.memory is None:
            raise LitefuseError(
                f"the target 'micro' has no variant {variant!r}",
                hint="Behind the colon is the memory for the arena, such as micro:64K.",
            )

    def missing(self) -> str:
        return not_installed("tflite-micro", "tflite_micro", "micro")

    def ask(self, question: Question, announce: Callable[[str], None]) -> Answer:
        from litefuse.litert.runtime.model_reader import Model

        software = installed(_PACKAGE, _PACKAGE)
        content = Path(question.model).read_bytes()
        model = Model(content)
        if model.has_buffers_behind:
            why = "weights are stored behind the flatbuffer, and tflite-micro computes without them"
            return Answer(software, takes=False, refusals=(Refusal("", why),))
        runtime: Any = importlib.import_module(_RUNTIME)
        announce("find the arena's size")
        arena, problems = _smallest_arena(runtime, content, question.log)
        if arena is None:
            # It does not name them.
            custom = tuple(refusal for refusal in refused_by_table(model, self.table) if refusal.reason == CUSTOM)
            return Answer(software, takes=False, refusals=custom or problems)
        facts = [("arena", f"{arena:,} bytes, on this {64 if sys.maxsize > 1 << 32 else 32}-bit machine")]
        if self.memory is not None and arena > self.memory:
            why = f"it needs an arena of {arena:,} bytes, but there are {self.memory:,}"
            return Answer(software, takes=False, refusals=(Refusal("", why),), facts=tuple(facts), arena=arena)
        announce("run the model")
        outputs: list[tuple[Arrays | None, ...]] = []
        if left := [key for key, signature in model.signatures.items() if signature.graph]:
            facts.append(("not called", f"{', '.join(left)}: tflite-micro calls only the first subgraph"))
        with logged(question.log) as log:
            for calls in question.rounds:
                try:
                    interpreter = runtime.Interpreter.from_bytes(content, arena_size=arena)
                    outputs.append(tuple(_called(interpreter, model, call) for call in calls))
                except (RuntimeError, ValueError) as error:
                    text = log.read_text(errors="replace")
                    problems = self.refusals(text) or (Refusal("", _told(text) or str(error)),)
                    return Answer(software, takes=False, refusals=problems, facts=tuple(facts), arena=arena)
        return Answer(software, outputs=tuple(outputs), facts=tuple(facts), arena=arena)

    def refusals(self, log: str) -> tuple[Refusal, ...]:
        refused = [Refusal(match["op"], "no such op") for match in _NO_OP.finditer(log) if match["op"] != "CUSTOM"]
        refused += [Refusal(match["op"] or match["other"], CUSTOM) for match in _CUSTOM.finditer(log)]
        refused += [Refusal("", _FIRST_SCALE)] if _NO_PLAN in log else []
        for match in _NODE.finditer(log):
            why = _told(log[: match.start()])
            refused.append(Refusal(match["op"], why or f"it fails to {match['step']}"))
        return tuple(dict.fromkeys(refused))


def _told(log: str) -> str:
    """Returns the last line that says something."""
    lines = [line.strip() for line in log.splitlines() if not _NOISE.match(line)]
    return _SOURCE.sub("", lines[-1]) if lines else ""


def _smallest_arena(runtime: Any, content: bytes, log: str) -> tuple[int | None, tuple[Refusal, ...]]:
    """Returns the bytes of the smallest arena that the model is loaded in; or None, and why it is loaded in none."""
    if (text := _refused(runtime, content, _LARGEST_ARENA, log)) is not None:
        why = _told(text) or "the model cannot be loaded"
        if _NO_ROOM.search(text):
            return None, (Refusal("", f"it does not fit into an arena of {_LARGEST_ARENA:,} bytes: {why}"),)
        return None, Micro().refusals(text) or (Refusal("", why),)
    low, high = 0, _FIRST_ARENA
    while not _loads(runtime, content, high, log):
        low, high = high, min(high * 4, _LARGEST_ARENA)
    while high - low > _STEP:
        middle = (low + high) // 2 // _STEP * _STEP
        if _loads(runtime, content, middle, log):
            high = middle
        else:
            low = middle
    return high, ()


def _loads(runtime: Any, content: bytes, arena: int, log: str) -> bool:
    """Whether a model is loaded, in a process of its own: in arenas that are too small, some kernels end it."""
    child = os.fork()
    if not child:
        code = 1
        try:
            code = int(_refused(runtime, content, arena, log) is not None)
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def _refused(runtime: Any, content: bytes, arena: int, log: str) -> str | None:
    """Returns what is printed when a model does not load; None if it does."""
    with logged(log) as path:
        try:
            runtime.Interpreter.from_bytes(content, arena_size=arena)
        except (RuntimeError, ValueError) as error:
            return f"{path.read_text(errors='replace')}\n" if path.stat().st_size else f"{error}\n"
    return None


def _called(interpreter: Any, model: Any, call: TargetCall) -> Mapping[str, Any] | None:
    signature, graph = model.signatures[call.signature], model.graphs[0]
    if signature.graph:
        return None
    for name, tensor in signature.inputs.items():
        interpreter.set_input(np.ascontiguousarray(call.inputs[name]), graph.inputs.index(tensor))
    interpreter.invoke()
    return {
        name: np.array(interpreter.get_output(graph.outputs.index(tensor)))
        for name, tensor in signature.outputs.items()
    }
