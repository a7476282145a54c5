"""The facts of one conversion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from litefuse.options.forms import Quantization

__all__ = [
    "CompositeReport",
    "FileCheckReport",
    "LackingOpReport",
    "LeftOutReport",
    "LoopReport",
    "QuantizationReport",
    "RecognizerReport",
    "Report",
    "RetypedReport",
    "VariableReport",
]


@dataclass(frozen=True)
class CompositeReport:
    """What became of one annotated function.

    Attributes:
        name: The composite's name, from its annotation.
        function: The function that carries the annotation.
        call_sites: How many ops call it, in all signatures.
        outcome: ``fused``: its body was replaced by ``fused_into``; ``inlined``: its body was kept, for ``reason``.
        fused_into: The op that replaced it: a LiteRT op, or the name of a custom op.
        reason: Why it was not fused.
        error: The largest relative difference between fused op and body that the self-check found.
        unchecked: Why there was no self-check of a fused composite.
    """

    name: str
    function: str
    call_sites: int
    outcome: Literal["fused", "inlined"]
    fused_into: str | None = None
    reason: str | None = None
    error: float | None = None
    unchecked: str | None = None


@dataclass(frozen=True)
class LackingOpReport:
    """What became of a TensorFlow op that LiteRT lacks.

    Attributes:
        op: The op's name.
        outcome: ``rewritten``: exactly, into builtin ops; ``composite``: a composite, which runs by such a rewriting in
            any LiteRT and faster with litefuse's kernel; ``narrowed``: into builtin ops that compute its int64 values
            in int32, as asked for; ``widened``: into builtin ops that compute its float16 or bfloat16 values in
            float32, between casts; ``pack``: a custom op that needs the kernel of litefuse's pack; ``custom``: a
            custom op, as allowed, that needs a kernel of the user's.
        reason: For a custom op, why it was not rewritten; empty if there is no rewriting of this op.
        count: How many such ops there are.
    """

    op: str
    outcome: Literal["rewritten", "composite", "narrowed", "widened", "pack", "custom"]
    reason: str = ""
    count: int = 0


@dataclass(frozen=True)
class LeftOutReport:
    """A signature that was not converted.

    Attributes:
        signature: Its key.
        reason: Why, and how it would be.
    """

    signature: str
    reason: str


@dataclass(frozen=True)
class LoopReport:
    """A loop that stays a loop, or an unrolled layer that stays unrolled.

    Attributes:
        layer: The layer's name, from the loop's node.
        reason: What of it is not as in a layer that has an op of its own, or why it is a loop nevertheless.
    """

    layer: str
    reason: str


@dataclass(frozen=True)
class RetypedReport:
    """Something that has another dtype than in the model, as asked for.

    Attributes:
        what: An input or output of a signature, a variable, a table, or an op.
        name: ``SIGNATURE:NAME`` of an input or output, otherwise the name.
        dtype: The dtype in the TensorFlow model.
        new_dtype: The dtype in the output.
        count: How often an op of that name is changed; 1 for anything else.
    """

    what: Literal["input", "output", "variable", "table", "op"]
    name: str
    dtype: str
    new_dtype: str
    count: int = 1


@dataclass(frozen=True)
class QuantizationReport:
    """What became of the weights, and of what is computed.

    Attributes:
        form: What they became; see :data:`litefuse.options.forms.Quantization`.
        size_before: The output's size in bytes before.
        error: The largest difference that it makes to the outputs, in units of the largest element of each; None if
            that was not measured.
        inputs: On what: ``random inputs``, one for each signature, or ``samples``, the first of those that were given.
        unchecked: Why not, or which outputs stood still, so that nothing is known of them.
    """

    form: Quantization
    size_before: int
    error: float | None
    inputs: str
    unchecked: str | None = None


@dataclass(frozen=True)
class FileCheckReport:
    """Whether the file that was written runs.

    Attributes:
        ran: Whether LiteRT loaded it, and each of its signatures was called once.
        reason: Why it could not be called here.
    """

    ran: bool
    reason: str | None = None


@dataclass(frozen=True)
class RecognizerReport:
    """What a recognizer found that litefuse does not have itself.

    Attributes:
        name: The name of the composite that it makes.
        found: How often its formula was found.
        closest: Where it was not found, what came closest to its formula, and what differs there; None if nothing did.
    """

    name: str
    found: int
    closest: str | None = None


@dataclass(frozen=True)
class VariableReport:
    """What became of one variable.

    Attributes:
        name: Its path in the SavedModel's objects.
        dtype: Its dtype, such as ``float32``.
        shape: Its shape; None for an unknown dimension.
        verdict: ``frozen``: read only, so it is a constant; ``mutable``: a resource variable that keeps its state.
        writer: For a mutable variable, the first op that writes it, with its node and function.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    verdict: Literal["frozen", "mutable"]
    writer: str | None = None


@dataclass(frozen=True)
class Report:
    """What a conversion did.

    Attributes:
        source: The model that was converted.
        signatures: The keys of its signatures.
        left_out: The signatures of the model that were not converted.
        composites: Every annotated function that the signatures reach, and every layer that was recognized.
        loops: Every loop, and every unrolled recurrent layer, that stays one, outside of annotated functions.
        recognizers: Every recognizer of a plug-in or of the program itself.
        variables: Every variable that the signatures capture.
        op_counts: How often each op stands in the output, over all its subgraphs; custom ops by their names.
        custom_ops: The custom ops that the output needs kernels for.
        pack_kernels: Those of them whose kernels are in litefuse's pack.
        python_kernels: Those of these whose kernels are in Python only, so that they run with litefuse's interpreter
            and delegate but not on a device.
        lacking_ops: The TensorFlow ops that LiteRT lacks, and what became of them.
        needless_custom_ops: The ops that were allowed as custom ops by name, and are none in the output.
        narrowed: What was narrowed to float32 or complex64, as asked for. (The ops of int64 that are computed in int32
            are among ``lacking_ops``.)
        widened: What was widened to float32, as asked for.
        quantization: What became of the weights; None if they are as they were.
        file_check: Whether the file runs; None if that was not asked for.
        size: The output's size in bytes.
        timings: Seconds for each step, in order; ``start`` is the wait for the process that converts.
        counts: What does not depend on the machine: ``engine_calls``, how often the engine was run, for rewritings and
            self-checks too; ``copied_bytes``, how many bytes of constants it was given. Weights that stay in the mapped
            checkpoint until they are written do not count.
    """

    source: str
    signatures: tuple[str, ...] = ()
    left_out: tuple[LeftOutReport, ...] = ()
    composites: tuple[CompositeReport, ...] = ()
    loops: tuple[LoopReport, ...] = ()
    recognizers: tuple[RecognizerReport, ...] = ()
    variables: tuple[VariableReport, ...] = ()
    op_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    custom_ops: tuple[str, ...] = ()
    pack_kernels: tuple[str, ...] = ()
    python_kernels: tuple[str, ...] = ()
    lacking_ops: tuple[LackingOpReport, ...] = ()
    needless_custom_ops: tuple[str, ...] = ()
    narrowed: tuple[RetypedReport, ...] = ()
    widened: tuple[RetypedReport, ...] = ()
    quantization: QuantizationReport | None = None
    file_check: FileCheckReport | None = None
    size: int = 0
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    counts: Mapping[str, int] = field(default_factory=dict[str, int])

    def to_json(self) -> dict[str, Any]:
        """The report as plain dictionaries and lists, ready for ``json.dumps``."""
        return asdict(self)

    def __str__(self) -> str:
        from litefuse.report.text import report_text

        return report_text(self)
