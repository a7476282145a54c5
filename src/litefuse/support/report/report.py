"""Facts of one conversion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from litefuse.support.options.forms import Quantization
from litefuse.support.report.json_form import json_form
from litefuse.support.report.quantized import (
    FloatOp,
    LayerDifference,
    MixedPrecision,
    MovingRange,
    OpKinds,
    OutputDifference,
)

__all__ = [
    "ChainReport",
    "CompositeReport",
    "FileCheckReport",
    "KernelReport",
    "LackingOpReport",
    "LayerReport",
    "LeftOutReport",
    "LoopReport",
    "NearLayerReport",
    "QuantizationReport",
    "RecognizerReport",
    "Report",
    "RetypedReport",
    "TargetCheckReport",
    "VariableReport",
]


@dataclass(frozen=True)
class KernelReport:
    """A kernel that was generated from a composite's body.

    Attributes:
        error: The largest relative difference from the body.
        kernel_seconds: How long a call takes with the kernel, on one thread.
        body_seconds: How long the body takes in LiteRT with XNNPACK, on one thread.
    """

    error: float
    kernel_seconds: float
    body_seconds: float

    def __str__(self) -> str:
        return (
            f"{self.body_seconds / max(self.kernel_seconds, 1e-9):.1f} times as fast as its body "
            f"({self.kernel_seconds * 1e6:,.0f} µs, not {self.body_seconds * 1e6:,.0f}), error {self.error:.1g}"
        )


@dataclass(frozen=True)
class CompositeReport:
    """The outcome of one annotated function.

    Attributes:
        name: The composite's name, from its annotation.
        function: The annotated function.
        call_sites: The number of ops that call it, in all signatures.
        outcome: ``fused``: its body was replaced by ``fused_into``; ``inlined``: its body was kept, for ``reason``.
        fused_into: The op that replaced it: a LiteRT op, or the name of a custom op.
        reason: Why it was not fused.
        error: The largest relative difference between fused op and body that the self-check found.
        unchecked: Why a fused composite was not compared with its body.
        note: The first difference that the self-check found and that is not a fault, such as where the body gives NaN.
        kernel: The kernel that was generated for it.
    """

    name: str
    function: str
    call_sites: int
    outcome: Literal["fused", "inlined"]
    fused_into: str | None = None
    reason: str | None = None
    error: float | None = None
    unchecked: str | None = None
    note: str | None = None
    kernel: KernelReport | None = None

    @property
    def compared(self) -> str:
        """Whether a fused composite was compared with its body: checked, with the error, or not, and why."""
        if self.kernel is not None:
            return f"with a generated kernel, checked: {self.kernel}"
        if self.error is not None:
            note = f"; different: {self.note}" if self.note else ""
            return f"checked: error {self.error:.1g}{note}"
        return f"not compared: {self.unchecked}" if self.unchecked else "not compared"

    def _repr_html_(self) -> str:
        from litefuse.support.report.html import sections_html
        from litefuse.support.report.sections import composite_section

        return sections_html([composite_section([self])])


@dataclass(frozen=True)
class ChainReport:
    """The outcome of a chain of ops that nobody marked, with ``generate_kernels``.

    Attributes:
        name: The name of the composite that was made of it, or was tried; chains that compute the same have one name.
        first: The name of its first op.
        last: The name of its last op.
        layer: The name of the tensor that it computes last.
        ops: The number of its ops.
        count: How many such chains there are.
        kernel: The kernel that was generated for it; None if its ops stayed as they were.
        reason: Why they did.
    """

    name: str
    first: str
    last: str
    layer: str
    ops: int
    count: int
    kernel: KernelReport | None = None
    reason: str | None = None


@dataclass(frozen=True)
class LackingOpReport:
    """The outcome of a TensorFlow op that LiteRT lacks.

    Attributes:
        op: The op's name.
        outcome: ``rewritten``: exactly, into builtin ops; ``composite``: a composite, which has such a rewriting as its
            decomposition for any LiteRT, and is faster with litefuse's kernel; ``narrowed``: into builtin ops that
            compute its int64 values in int32, as requested; ``widened``: into builtin ops that compute its float16 or
            bfloat16 values in float32, between casts; ``runtime``: a custom op that LiteRT has the kernel of;
            ``pack``: a custom op that needs the kernel of litefuse's pack; ``custom``: a custom op, as allowed, that
            needs a kernel from the user.
        reason: For a custom op, why it was not rewritten; empty without a rewriting of this op.
        count: The number of such ops.
    """

    op: str
    outcome: Literal["rewritten", "composite", "narrowed", "widened", "runtime", "pack", "custom"]
    reason: str = ""
    count: int = 0


@dataclass(frozen=True)
class LeftOutReport:
    """A signature that was not converted.

    Attributes:
        signature: Its key.
        reason: Why it was not, and how to convert it.
        usable: Whether it can be converted; otherwise the model has it, but it cannot be called.
    """

    signature: str
    reason: str
    usable: bool = True


@dataclass(frozen=True)
class LoopReport:
    """A loop that stays a loop or was unrolled, or an unrolled layer that stays unrolled.

    Attributes:
        layer: The layer's name, from the loop's node.
        reason: How it differs from layers that have a LiteRT op, or why it is a loop nevertheless.
    """

    layer: str
    reason: str


@dataclass(frozen=True)
class RetypedReport:
    """Something whose dtype was changed, as requested.

    Attributes:
        what: Its kind: an input or output of a signature, a variable, a table or an op.
        name: ``SIGNATURE:NAME`` of an input or output, otherwise the name.
        dtype: The dtype in the TensorFlow model.
        new_dtype: The dtype in the output.
        count: How many ops of that name were changed; 1 for anything else.
    """

    what: Literal["input", "output", "variable", "table", "op"]
    name: str
    dtype: str
    new_dtype: str
    count: int = 1


@dataclass(frozen=True)
class QuantizationReport:
    """The quantization of weights and activations.

    Attributes:
        form: Its form; see :data:`litefuse.support.options.forms.Quantization`.
        size_before: The output's size in bytes before quantization.
        error: The largest difference in the outputs, relative to the largest element of each; None if it was not
            measured.
        inputs: The inputs it was measured on: ``random inputs``, some for each signature, or ``samples``, the first
            ones given.
        unchecked: Why it was not measured, or which outputs did not change with the inputs, so that nothing is known
            about them.
        outputs: The difference of each output, on the same inputs.
        kinds: The number of ops by the numbers that they compute with.
        floats: The ops that stayed in floating point, and the reasons; of a form that quantizes only weights, those
            whose weights stayed so.
        moving: The tensors whose ranges still grew at the last quarter of the samples: more samples are needed.
        samples: The number of samples; 0 if there were none.
        layers: The difference of each tensor inside, if that was requested.
        mixed: With ``auto``, the curve of size against error and the form of each layer.
        weights: What was chosen for weights beyond the form; empty for nothing.
        instead: Why this form was chosen in place of the one that was asked for; empty where it was not.
    """

    form: Quantization
    size_before: int
    error: float | None
    inputs: str
    unchecked: str | None = None
    outputs: tuple[OutputDifference, ...] = ()
    kinds: OpKinds = field(default_factory=OpKinds)
    floats: tuple[FloatOp, ...] = ()
    moving: tuple[MovingRange, ...] = ()
    samples: int = 0
    layers: tuple[LayerDifference, ...] = ()
    mixed: MixedPrecision | None = None
    weights: str = ""
    instead: str = ""

    def _repr_html_(self) -> str:
        from litefuse.support.report.html import sections_html
        from litefuse.support.report.quantized_sections import quantization_sections

        return sections_html(quantization_sections(self, None))


@dataclass(frozen=True)
class FileCheckReport:
    """The check that the written file runs.

    Attributes:
        ran: Whether LiteRT loaded it and each of its signatures was called once.
        reason: Why it could not be called here.
        seconds: How long a call took on this machine, on all of its cores, by signature: of those that are quick enough
            to be called again. :func:`litefuse.benchmark` measures.
    """

    ran: bool
    reason: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class TargetCheckReport:
    """The check of the written file with the software of its target; :func:`litefuse.check` says more.

    Attributes:
        target: The target.
        verdict: ``accelerated``, ``partly``, ``refused``, ``differs``, ``inconclusive`` or ``unknown``; see
            :data:`litefuse.conversion.verify.targets.target_check.TargetVerdict`.
        text: The verdict in words.
        refused: The refused ops: each kind with its reason.
        facts: What else the software says, as names and texts.
    """

    target: str
    verdict: str
    text: str
    refused: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class RecognizerReport:
    """The findings of a recognizer that is not litefuse's own.

    Attributes:
        name: The name of the composite that it makes.
        found: How often its formula was found.
        closest: If it was not found, the closest match of its formula and the difference; None if there is none.
    """

    name: str
    found: int
    closest: str | None = None


@dataclass(frozen=True)
class LayerReport:
    """A layer that litefuse knows by name, found by what the model computes.

    Attributes:
        name: The name of its composite, such as ``odml.rms_norm``.
        kind: What it is, in words.
        layer: Where it is: the name of the model's layer, or of a node.
        became: What it became: ``inlined``: its own ops, ``STABLEHLO_COMPOSITE``, another op, or why it did not become
            what was wanted.
    """

    name: str
    kind: str
    layer: str
    became: str


@dataclass(frozen=True)
class NearLayerReport:
    """Something that is nearly a layer that litefuse knows by name.

    Attributes:
        kind: What it nearly is.
        layer: Where it is.
        reason: What differs.
    """

    kind: str
    layer: str
    reason: str


@dataclass(frozen=True)
class VariableReport:
    """The outcome of one variable.

    Attributes:
        name: Its path in the SavedModel's objects.
        dtype: Its dtype, such as ``float32``.
        shape: Its shape; None for an unknown dimension.
        verdict: ``frozen``: only read, so it is a constant; ``mutable``: a resource variable that keeps its state.
        writer: For a mutable variable, the first op that writes it, with its node and function.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    verdict: Literal["frozen", "mutable"]
    writer: str | None = None


@dataclass(frozen=True)
class RenamedReport:
    """An input or output that was given another name.

    Attributes:
        signature: The key of its signature.
        role: ``inputs`` or ``outputs``.
        original: Its name in the original.
        name: Its name in the file.
    """

    signature: str
    role: str
    original: str
    name: str

    @classmethod
    def all_of(cls, record: Mapping[str, Mapping[str, Mapping[str, str]]]) -> tuple[RenamedReport, ...]:
        """Makes them of the original names by signature, role and new name."""
        return tuple(
            cls(key, role, original, name)
            for key, roles in record.items()
            for role, names in roles.items()
            for name, original in names.items()
        )


@dataclass(frozen=True)
class Report:
    """The report of a conversion.

    Attributes:
        source: The model that was converted.
        signatures: The keys of its signatures.
        left_out: The signatures of the model that were not converted.
        renamed: The inputs and outputs that have other names than in the original.
        composites: Every annotated function that the signatures reach, and every recognized layer.
        chains: The chains of ops that kernels were tried for, with ``generate_kernels``; None without.
        loops: Every loop and unrolled recurrent layer that remains, outside of annotated functions.
        recognizers: Every recognizer of a plug-in or of the program itself.
        layers: Every layer that litefuse knows by name, with what it became.
        near_layers: What is nearly such a layer.
        variables: Every variable that the signatures capture.
        op_counts: The number of each op in the output, over all its subgraphs; custom ops by their names.
        custom_ops: The custom ops that the output needs kernels for.
        runtime_ops: The custom ops that LiteRT's interpreter or XNNPACK runs by itself.
        pack_kernels: The custom ops whose kernels are in litefuse's pack.
        python_kernels: The custom ops whose kernels in the pack are only in Python, so that they run with litefuse's
            interpreter and delegate but not on a device.
        lacking_ops: The TensorFlow ops that LiteRT lacks, and their outcomes.
        needless_custom_ops: The ops that were named as custom ops, but are not custom ops in the output.
        narrowed: What was narrowed to float32 or complex64, as requested; without a request, ops of float64 between
            integers and other dtypes. (The int64 ops that are computed in int32 are among ``lacking_ops``.)
        widened: What was widened to float32, as requested.
        target: Where the model is to run; several targets with commas.
        batch_taken: The batch size that was taken because the target takes no dynamic one, and none was given.
        quantization: The quantization; None if the model was not quantized.
        file_check: The check of the written file; None if it was not requested.
        target_checks: The checks with the software of targets other than ``cpu``, if they were requested.
        least_runtime: The first releases of LiteRT and of TensorFlow Lite that have all ops in the output.
        size: The output's size in bytes.
        source_size: The size of the model that was converted: of its file, or of its SavedModel's graph and variables;
            0 if it is not known.
        timings: Seconds for each step, in order; ``start`` is the wait for the conversion process.
        counts: Machine-independent costs: ``engine_calls``, the number of engine runs, including those for rewritings
            and self-checks; ``copied_bytes``, the bytes of constants passed to it. Weights that stay in the mapped
            checkpoint until they are written do not count.
    """

    source: str
    signatures: tuple[str, ...] = ()
    left_out: tuple[LeftOutReport, ...] = ()
    renamed: tuple[RenamedReport, ...] = ()
    composites: tuple[CompositeReport, ...] = ()
    chains: tuple[ChainReport, ...] | None = None
    loops: tuple[LoopReport, ...] = ()
    recognizers: tuple[RecognizerReport, ...] = ()
    layers: tuple[LayerReport, ...] = ()
    near_layers: tuple[NearLayerReport, ...] = ()
    variables: tuple[VariableReport, ...] = ()
    op_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    custom_ops: tuple[str, ...] = ()
    runtime_ops: tuple[str, ...] = ()
    pack_kernels: tuple[str, ...] = ()
    python_kernels: tuple[str, ...] = ()
    lacking_ops: tuple[LackingOpReport, ...] = ()
    needless_custom_ops: tuple[str, ...] = ()
    narrowed: tuple[RetypedReport, ...] = ()
    widened: tuple[RetypedReport, ...] = ()
    target: str = "cpu"
    batch_taken: int | None = None
    quantization: QuantizationReport | None = None
    file_check: FileCheckReport | None = None
    target_checks: tuple[TargetCheckReport, ...] = ()
    least_runtime: str = ""
    size: int = 0
    source_size: int = 0
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    counts: Mapping[str, int] = field(default_factory=dict[str, int])

    def to_json(self) -> dict[str, Any]:
        """Returns the report as dictionaries and lists for ``json.dumps``; NaN and infinities are None."""
        return json_form(self)

    def __str__(self) -> str:
        from litefuse.support.report.text import report_text

        return report_text(self)

    def _repr_html_(self) -> str:
        from litefuse.support.report.html import sections_html
        from litefuse.support.report.sections import report_sections

        return sections_html(report_sections(self))
