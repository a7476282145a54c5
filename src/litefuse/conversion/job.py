"""Definition of a conversion job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from litefuse.litert.targets import traits_of
from litefuse.support.options.conversion import Conversion
from litefuse.support.options.forms import RnnForm
from litefuse.support.plug_ins.entry_points import PlugIn
from litefuse.support.records import Record

if TYPE_CHECKING:
    from litefuse.conversion.quantization.dataset import Samples
    from litefuse.litert.metadata.description import Finish


class ConversionJob(Record):
    """A request to convert a model; it can be sent to another process.

    Attributes:
        source: The SavedModel's folder, or the file of a frozen graph.
        output: The file to write the model to, atomically.
        options: What users choose, without what runs in their process.
        samples: The representative dataset, for forms of quantization that need one.
        finish: Metadata, associated files and other names of inputs and outputs for the written file; None: none.
        plug_ins: The entry points of installed packages; None: they are found when needed.
        registered: The fusions registered by the caller, pickled: a list of (names, class).
        kernels: The kernels registered by the caller, each pickled, by their ops.
        fatal_kernels: Kernels that the process died of as they were compared, and how it died.
        mapped_from: Weights of at least this many bytes stay in the mapped checkpoint until they are written.
        save_module_before: Only write the module as it is before this step, as MLIR bytecode, to ``output``.
    """

    source: Path
    output: Path
    options: Conversion = field(default_factory=Conversion)
    samples: Samples | None = None
    finish: Finish | None = None
    plug_ins: tuple[PlugIn, ...] | None = None
    registered: bytes | None = None
    kernels: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    fatal_kernels: Mapping[str, str] = field(default_factory=dict[str, str])
    mapped_from: int = 1 << 13
    save_module_before: str | None = None

    @property
    def rnn_form(self) -> RnnForm:
        """The form of recurrent layers: where loops are as good, quantized ones are smaller and faster on a CPU."""
        if self.options.rnn != "auto":
            return self.options.rnn
        traits = traits_of(self.options.target)
        if not traits.variables:
            return "loop"
        return "fused" if not traits.loops else "loop" if self.options.quantize.scheme else "auto"
