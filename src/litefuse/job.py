"""What a conversion is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from litefuse.options.forms import CompositeForms, Quantization, RnnForm
from litefuse.options.input_shapes import InputShapes
from litefuse.options.limits import Limits
from litefuse.plug_ins.entry_points import PlugIn

if TYPE_CHECKING:
    from litefuse.quantization.dataset import Samples

__all__ = ["ConversionJob"]


@dataclass(frozen=True)
class ConversionJob:
    """What to convert and how; it can be sent to another process.

    Attributes:
        source: The SavedModel's folder, or the file of a frozen graph.
        output: Where to write the model; it appears whole or not at all.
        signatures: The keys to convert; None takes all.
        tags: The tags of the meta graph; None takes the one for serving.
        input_arrays: The tensors that are a frozen graph's inputs; None takes its placeholders.
        output_arrays: The tensors that are its outputs; None takes the only one that nothing reads.
        input_shapes: The shapes that the inputs are to have.
        allow_custom_ops: Ops that LiteRT lacks become custom ops: True for any, or the names of those that may.
        builtins_only: No custom op takes the place of an op that LiteRT lacks.
        narrow: float64 becomes float32, and an op of int64 that LiteRT lacks is computed in int32.
        widen: float16 and bfloat16 become float32.
        composites: What the composites are to become.
        rnn: Which of the recurrent layers that nobody annotated are to be fused.
        require_fused: Composites that must be fused: True for all, or names.
        check_fusions: Whether a fusion is applied only when it computes what the composite computes.
        check_custom_ops: Whether that also holds for composites that their author declared custom ops.
        quantize: What weights, and what is computed, become; None leaves them as they are.
        samples: The representative dataset, for forms of quantization that need one.
        quantized_io: Whether inputs and outputs are quantized too, in these forms.
        max_error: The difference that quantization may make to the outputs; None: any.
        limits: How large the model may become on its way.
        plug_ins: What installed packages offer; None: whoever needs it looks.
        fusions: The fusions registered by the caller, pickled: a list of (names, class).
        kernels: The kernels registered by the caller, each pickled, by their ops.
        mapped_from: Weights of at least so many bytes stay in the mapped checkpoint until they are written.
        save_module_before: Only write the module as it is before this step, as MLIR bytecode, to ``output``.
    """

    source: Path
    output: Path
    signatures: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    input_arrays: tuple[str, ...] | None = None
    output_arrays: tuple[str, ...] | None = None
    input_shapes: InputShapes = field(default_factory=InputShapes)
    allow_custom_ops: bool | frozenset[str] = False
    builtins_only: bool = False
    narrow: bool = False
    widen: bool = False
    composites: CompositeForms = field(default_factory=CompositeForms)
    rnn: RnnForm = "auto"
    require_fused: bool | frozenset[str] = False
    check_fusions: bool = True
    check_custom_ops: bool = False
    quantize: Quantization | None = None
    samples: Samples | None = None
    quantized_io: bool = False
    max_error: float | None = None
    limits: Limits = field(default_factory=Limits)
    plug_ins: tuple[PlugIn, ...] | None = None
    fusions: bytes | None = None
    kernels: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    mapped_from: int = 1 << 13
    save_module_before: str | None = None
