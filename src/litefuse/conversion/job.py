"""Definition of a conversion job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from litefuse.litert.export.runtime_versions import RuntimeLimit
from litefuse.litert.targets import traits_of
from litefuse.support.options.forms import CompositeForms, Dtypes, QuantizationForm, RequiredComposites, RnnForm
from litefuse.support.options.input_shapes import InputShapes
from litefuse.support.options.limits import SizeLimits
from litefuse.support.options.quantization import QuantizationOptions, QuantizedIo
from litefuse.support.plug_ins.entry_points import PlugIn
from litefuse.support.records import Record

if TYPE_CHECKING:
    from litefuse.conversion.quantization.dataset import Samples
    from litefuse.litert.metadata.description import Finish
    from litefuse.support.options.ir_dump import IrDump


class ConversionJob(Record):
    """A request to convert a model; it can be sent to another process.

    Attributes:
        source: The SavedModel's folder, or the file of a frozen graph.
        output: The file to write the model to, atomically.
        signatures: The keys to convert; None means all.
        tags: The tags of the meta graph; None means the one for serving.
        input_arrays: The input tensors of a frozen graph; None means its placeholders.
        output_arrays: The output tensors of a frozen graph; None means the only one that nothing reads.
        input_shapes: The shapes to set for the inputs.
        allow_custom_ops: The ops that become custom ops, or whether those that LiteRT lacks may.
        dtypes: ``narrow``: float64 becomes float32, and int64 ops that LiteRT lacks are computed in int32; ``widen``:
            float16 and bfloat16 become float32.
        composites: The forms of composites.
        rnn: The form of recurrent layers without annotation.
        target: Where the model is to run.
        unroll: Whether loops are unrolled for a target that would rather have none.
        require_fused: Composites that must be fused.
        check_fusions: Whether a fusion is applied only if it computes the same as the composite; ``thorough``: on all
            kinds of numbers, however long that takes.
        check_custom_ops: Whether to compare kernels even with bodies that look like placeholders.
        quantize: The form of weights and activations; None leaves them unquantized.
        samples: The representative dataset, for forms of quantization that need one.
        quantized_io: Whether inputs and outputs are quantized too, in these forms, and to which integers.
        quantization: What users choose of the quantization beyond its form.
        require_integer: Whether it is an error if an op does not compute in integers, in these forms.
        measure_layers: Whether the difference from quantization is measured inside the model, too.
        max_error: The maximum difference in the outputs from quantization; None: any.
        min_runtime: The oldest release that has to run the file; None: any.
        tensor_names: Whether a file has the names of tensors inside the model though its target needs none.
        finish: Metadata, associated files and other names of inputs and outputs for the written file; None: none.
        limits: The limits on the model's size during conversion.
        plug_ins: The entry points of installed packages; None: they are found when needed.
        fusions: The fusions registered by the caller, pickled: a list of (names, class).
        kernels: The kernels registered by the caller, each pickled, by their ops.
        fatal_kernels: Kernels that the process died of as they were compared, and how it died.
        mapped_from: Weights of at least this many bytes stay in the mapped checkpoint until they are written.
        dump_ir: The modules to write as text; None: none.
        save_module_before: Only write the module as it is before this step, as MLIR bytecode, to ``output``.
    """

    source: Path
    output: Path
    signatures: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    input_arrays: tuple[str, ...] | None = None
    output_arrays: tuple[str, ...] | None = None
    input_shapes: InputShapes = field(default_factory=InputShapes)
    allow_custom_ops: bool | Literal["never"] | frozenset[str] = False
    dtypes: Dtypes = "keep"
    composites: CompositeForms = field(default_factory=CompositeForms)
    rnn: RnnForm = "auto"
    target: tuple[str, ...] = ("cpu",)
    unroll: bool = True
    require_fused: RequiredComposites = field(default_factory=RequiredComposites)
    check_fusions: bool | Literal["thorough"] = True
    check_custom_ops: bool = False
    quantize: QuantizationForm | None = None
    samples: Samples | None = None
    quantized_io: QuantizedIo = False
    quantization: QuantizationOptions = field(default_factory=QuantizationOptions)
    require_integer: bool = False
    measure_layers: bool = False
    max_error: float | None = None
    min_runtime: RuntimeLimit | None = None
    tensor_names: bool = False
    finish: Finish | None = None
    limits: SizeLimits = field(default_factory=SizeLimits)
    plug_ins: tuple[PlugIn, ...] | None = None
    fusions: bytes | None = None
    kernels: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    fatal_kernels: Mapping[str, str] = field(default_factory=dict[str, str])
    mapped_from: int = 1 << 13
    dump_ir: IrDump | None = None
    save_module_before: str | None = None

    @property
    def chosen_ops(self) -> frozenset[str]:
        """The ops that become custom ops in any case."""
        return self.allow_custom_ops if isinstance(self.allow_custom_ops, frozenset) else frozenset()

    @property
    def micro_targets(self) -> tuple[str, ...]:
        """The variants of tflite-micro among the targets."""
        return tuple(target for target in self.target if target.partition(":")[0] == "micro")

    @property
    def chooses_form(self) -> bool:
        """Whether the form of recurrent layers is that which is the smallest in tflite-micro."""
        others = tuple(target for target in self.target if target not in self.micro_targets)
        return self.rnn == "auto" and len(self.micro_targets) == 1 and traits_of(others or ("cpu",)).loops

    @property
    def loops(self) -> bool:
        """Whether loops stay loops."""
        return traits_of(self.target).loops or self.rnn == "loop" or not self.unroll

    @property
    def rnn_form(self) -> RnnForm:
        """The form of recurrent layers: where loops are as good, quantized ones are smaller and faster on a CPU."""
        if self.rnn != "auto":
            return self.rnn
        traits = traits_of(self.target)
        if not traits.variables:
            return "loop"
        return "fused" if not traits.loops else "loop" if self.quantize else "auto"
