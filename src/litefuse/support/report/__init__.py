"""Report of a conversion: what was fused, what was not and why, and other findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from litefuse.support.records import Record
from litefuse.support.report.entries import (
    ChainReport,
    FormReport,
    KernelReport,
    LackingOpReport,
    LayerReport,
    LeftOutReport,
    LoopReport,
    NearLayerReport,
    RecognizerReport,
    RenamedReport,
    RetypedReport,
    TargetCheckReport,
)
from litefuse.support.report.quantized import (
    CurvePoint,
    FloatOp,
    LayerDifference,
    LayerForm,
    MixedPrecision,
    MovingRange,
    OpKinds,
    OutputDifference,
    QuantizationReport,
)
from litefuse.support.report.shown import Shown, ShownInNotebooks

__all__ = [
    "ChainReport",
    "CompositeReport",
    "CurvePoint",
    "FileCheckReport",
    "FloatOp",
    "FormReport",
    "KernelReport",
    "LackingOpReport",
    "LayerDifference",
    "LayerForm",
    "LayerReport",
    "LeftOutReport",
    "LoopReport",
    "MixedPrecision",
    "MovingRange",
    "NearLayerReport",
    "OpKinds",
    "OutputDifference",
    "QuantizationReport",
    "RecognizerReport",
    "RenamedReport",
    "Report",
    "RetypedReport",
    "TargetCheckReport",
    "VariableReport",
]


class CompositeReport(ShownInNotebooks, Record):
    """The outcome of one annotated function.

    Attributes:
        name: The composite's name, from its annotation.
        function: The annotated function.
        call_sites: The number of ops that call it, in all signatures.
        outcome: ``fused``: its body was replaced by ``fused_into``; ``inlined``: its body was kept, for ``reason``.
        fused_into: The ops that the file has for it: LiteRT ops, or the name of a custom op.
        reason: Why it was not fused.
        error: The largest relative difference between fused op and body that the self-check found.
        unchecked: Why a fused composite was not compared with its body.
        note: The first difference that the self-check found and that is not a fault, such as where the body gives NaN.
        kernel: The kernel that was generated for it.
        layers: The layers that call it, by the names of their nodes; some at least.
        better_inlined: Whether its body was kept by choice, because it is better than the fused op.
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
    layers: tuple[str, ...] = ()
    better_inlined: bool = False

    _sections_by = "litefuse.support.report.conversion_sections:section_of_composite"

    @property
    def compared(self) -> str:
        """Whether a fused composite was compared with its body: checked, with the error, or not, and why."""
        if self.kernel is not None:
            return f"with a generated kernel, checked: {self.kernel}"
        if self.error is not None:
            note = f"; different: {self.note}" if self.note else ""
            return f"checked: error {self.error:.1g}{note}"
        return f"not compared: {self.unchecked}" if self.unchecked else "not compared"


class FileCheckReport(Record):
    """The check that the written file runs.

    Attributes:
        ran: Whether LiteRT loaded it and each of its signatures was called once.
        reason: Why it could not be called here.
        seconds: How long a call took on this machine, on one thread as :func:`litefuse.benchmark` measures, by
            signature: of those that are quick enough to be called again.
    """

    ran: bool
    reason: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])


class VariableReport(Record):
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


class Report(Shown, Record):
    """The report of a conversion.

    Attributes:
        source: The model that was converted.
        signatures: The keys of its signatures.
        left_out: The signatures of the model that were not converted.
        renamed: The inputs and outputs that have other names than in the original.
        composites: Every annotated function that the signatures reach, and every recognized layer.
        chains: The chains of ops that kernels were tried for, with ``generate_kernels``; None without.
        loops: Every loop and unrolled recurrent layer that remains, outside of annotated functions.
        forms: The forms of recurrent layers that were made for tflite-micro, if there were several.
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
        package_kernels: The custom ops that installed packages have kernels for, each with its package.
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
        taken_by: The targets that take the recurrent ops in the output; empty if all do.
        size: The output's size in bytes.
        source_size: The size of the model that was converted: of its file, or of its SavedModel's graph and variables;
            0 if it is not known.
        copies: The number of MAXIMUM ops that copy their operand, around faults of the runtime.
        seconds: The seconds that the whole call took.
        timings: Seconds for each step of the conversion, in order; ``start`` is the wait for its process.
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
    forms: tuple[FormReport, ...] = ()
    recognizers: tuple[RecognizerReport, ...] = ()
    layers: tuple[LayerReport, ...] = ()
    near_layers: tuple[NearLayerReport, ...] = ()
    variables: tuple[VariableReport, ...] = ()
    op_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    custom_ops: tuple[str, ...] = ()
    runtime_ops: tuple[str, ...] = ()
    pack_kernels: tuple[str, ...] = ()
    python_kernels: tuple[str, ...] = ()
    package_kernels: Mapping[str, str] = field(default_factory=dict[str, str])
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
    taken_by: tuple[str, ...] = ()
    size: int = 0
    source_size: int = 0
    copies: int = 0
    seconds: float = 0.0
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    counts: Mapping[str, int] = field(default_factory=dict[str, int])

    _sections_by = "litefuse.support.report.conversion_sections:report_sections"

    def details(self) -> str:
        """Returns the text of the report with all details: composites, loops, variables, ops."""
        from litefuse.support.report.conversion_sections import report_sections
        from litefuse.support.report.text import sections_text

        return sections_text(report_sections(self, details=True))

    def to_json(self) -> dict[str, Any]:
        """Returns the report as dictionaries and lists for ``json.dumps``; NaN and infinities are None."""
        from litefuse.support.report.json_form import json_form  # few reports become JSON

        return json_form(self)
