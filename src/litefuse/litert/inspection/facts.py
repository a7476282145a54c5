"""Parts of models, as an inspection finds them: plain data, which can be sent between processes and written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class TensorFacts:
    """An input or output.

    Attributes:
        name: Its name.
        dtype: Its dtype, such as ``float32``.
        shape: Its shape; None for an unknown dimension, or instead of the tuple for an unknown rank.
        scale: The scale if it is quantized: an integer represents ``scale * (integer - zero_point)``; else None.
        zero_point: See ``scale``.
        index: Its index among the tensors of its subgraph in a LiteRT model; None in a SavedModel. It does not count
            when facts are compared.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    scale: float | None = None
    zero_point: int | None = None
    index: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class SignatureFacts:
    """A signature.

    Attributes:
        key: Its name.
        inputs: Its inputs.
        outputs: Its outputs.
        subgraph: The index of its subgraph in a LiteRT model; None in a SavedModel.
    """

    key: str
    inputs: tuple[TensorFacts, ...]
    outputs: tuple[TensorFacts, ...]
    subgraph: int | None = None


@dataclass(frozen=True)
class FileFacts:
    """An asset.

    Attributes:
        name: Its name in the folder of assets.
        size: Its size in bytes; None when it is missing.
    """

    name: str
    size: int | None


@dataclass(frozen=True)
class SubgraphFacts:
    """A subgraph of a LiteRT model.

    Attributes:
        name: Its name; may be empty.
        inputs: Its inputs.
        outputs: Its outputs.
        op_count: The number of its operators.
        input_indices: The indices of its inputs among its tensors.
        output_indices: The indices of its outputs.
    """

    name: str
    inputs: tuple[TensorFacts, ...]
    outputs: tuple[TensorFacts, ...]
    op_count: int
    input_indices: tuple[int, ...] = ()
    output_indices: tuple[int, ...] = ()


@dataclass(frozen=True)
class CustomOperator:
    """Operators of one name with the same options.

    Attributes:
        name: The custom op's name, or the composite's.
        kind: ``custom``, or ``composite`` for a StableHLO composite that carries its decomposition.
        count: Their number.
        options: The decoded options; None when they are neither a flexbuffer map nor a C struct that is known.
        options_size: The size of the options in bytes.
        in_runtime: Whether LiteRT's interpreter or XNNPACK runs a custom op by itself.
    """

    name: str
    kind: Literal["custom", "composite"]
    count: int
    options: Mapping[str, Any] | None
    options_size: int
    in_runtime: bool = False


@dataclass(frozen=True)
class QuantizationFacts:
    """How a tensor is quantized: an integer represents ``scale * (integer - zero_point)``.

    Attributes:
        count: The number of scales: 1 for the tensor, or one for each slice along ``axis``, or for each block.
        scale: The least and the largest scale.
        zero_point: The least and the largest zero point.
        axis: The axis along which each slice has a scale of its own; None if there is one scale, or one for each block.
        block: How many neighbours in a row share a scale; None if scales are not for blocks.
    """

    count: int
    scale: tuple[float, float]
    zero_point: tuple[int, int]
    axis: int | None = None
    block: int | None = None


@dataclass(frozen=True)
class StoredTensor:
    """A tensor of a LiteRT model.

    Attributes:
        subgraph: The index of its subgraph.
        name: Its name.
        dtype: Its dtype in the file, such as ``int8`` or ``int4``.
        shape: Its shape; None for an unknown dimension.
        size: The bytes of its value in the file; 0 if it is not a constant. Several tensors may share one value.
        quantization: How it is quantized; None if it is not.
        index: Its index in the subgraph.
        buffer: The index of the buffer with its value; tensors with the same one share the value.
        is_constant: Whether its value is in the file, or in one that belongs to it.
        is_variable: Whether it keeps its value between calls.
    """

    subgraph: int
    name: str
    dtype: str
    shape: tuple[int | None, ...]
    size: int = 0
    quantization: QuantizationFacts | None = None
    index: int = 0
    buffer: int = 0
    is_constant: bool = False
    is_variable: bool = False


@dataclass(frozen=True)
class OperatorFacts:
    """An operator of a LiteRT model.

    Attributes:
        subgraph: The index of its subgraph.
        index: Its position in the subgraph, which is the order of execution.
        name: Its name in the schema, such as ``CONV_2D``; a custom op's own name.
        kind: ``builtin``, ``custom``, or ``composite`` for a StableHLO composite that carries its decomposition.
        composite: The name of the composite; else empty.
        inputs: The indices of its inputs among the subgraph's tensors; -1 for one that is omitted.
        outputs: The indices of its outputs.
        options: Its options by the names of the schema, enumerations by the names of their values, such as
            ``{"padding": "SAME", "fused_activation_function": "RELU"}``; those of a custom op as its kernel sees them,
            or the entry ``bytes`` alone if their format is unknown. All values are such that JSON has.
        callees: The indices of the subgraphs that it runs, in the order of its options: of a WHILE condition and body.
        layer: The layer that it is from; empty if neither its name nor those of what it reads tell.
        version: The version of the op.
    """

    subgraph: int
    index: int
    name: str
    kind: Literal["builtin", "custom", "composite"]
    composite: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, Any]
    callees: tuple[int, ...]
    layer: str
    version: int


@dataclass(frozen=True)
class LayerSize:
    """The bytes of the constants of a layer that have one dtype.

    Attributes:
        layer: The layer; empty for constants whose layer is unknown.
        dtype: The dtype, such as ``int8``.
        bytes: Their size in the file.
    """

    layer: str
    dtype: str
    bytes: int


@dataclass(frozen=True)
class FileSizes:
    """The bytes of a file. They add up to its size.

    Attributes:
        layers: The constants, the largest first. A buffer that several tensors share counts once, for the first.
        metadata: The contents of its metadata.
        unread: Buffers that belong to no tensor and no metadata.
        structure: The rest: operators, tensors, names, options, and the space between buffers.
        files: Its associated files, with the archive that they are in.
    """

    layers: tuple[LayerSize, ...]
    metadata: int
    unread: int
    structure: int
    files: int = 0

    @property
    def total(self) -> int:
        """The size of the file."""
        return sum(layer.bytes for layer in self.layers) + self.metadata + self.unread + self.structure + self.files
