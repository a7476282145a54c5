"""A copy of a quantized LiteRT model that computes with real numbers: with what the file's weights stand for.

Where the file has integers that stand for real numbers, the copy has float32, and QUANTIZE and DEQUANTIZE are gone:
each op computes what it should, without the rounding of its result. Two things can be added: this rounding, as pairs of
QUANTIZE and DEQUANTIZE with the scales of the file; and cuts, where ops take given values in place of computed ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import LitefuseError
from litefuse.litert.differences.compared_model import ComparedModel
from litefuse.litert.differences.weights import real_numbers
from litefuse.litert.inspection.facts import StoredTensor
from litefuse.litert.inspection.litert_model import stored_tensors
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS, OP_NUMBERS
from litefuse.litert.runtime.schema_objects import flatbuffer_of, made, objects_of, op_names, tensor_like

#: The key of the signature of a subgraph with cuts: its inputs and outputs are called by the numbers of their tensors.
CUT = "cut"

_FLOAT = DTYPE_NUMBERS["float32"]
# The types of computed numbers that QUANTIZE rounds to.
_ROUNDED = {dtype: DTYPE_NUMBERS[dtype] for dtype in ("int8", "uint8", "int16")}
# Steps of what is not clipped: those of int8 have 256 times their range in int16, and those of int16 are made larger.
_COARSER = {"int8": 1.0, "uint8": 1.0, "int16": 16.0}
# Where ops with weights have their bias, whose scale is the product of those of the activations and the weights.
_BIASES: dict[str, tuple[int, int]] = {
    "CONV_2D": (0, 2),
    "DEPTHWISE_CONV_2D": (0, 2),
    "FULLY_CONNECTED": (0, 2),
    "TRANSPOSE_CONV": (2, 3),
}
# With weights of integers, these quantize activations of floating point in each call.
_HYBRID = frozenset(
    {
        *("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D", "BATCH_MATMUL", "SVDF", "RNN", "LSTM"),
        *("UNIDIRECTIONAL_SEQUENCE_RNN", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM"),
    }
)
_LARGEST = 127  # int8
_MOST_BYTES = 2**31 - 2**24  # of a flatbuffer


class Steps(NamedTuple):
    """How the integers of a tensor that is computed stand for real numbers.

    Attributes:
        scale: The real number of one step.
        low: The least number that they stand for.
        high: The greatest one.
    """

    scale: float
    low: float
    high: float


def steps_of(side: ComparedModel, graph: int) -> dict[int, Steps]:
    """Returns the steps of the quantized tensors of a subgraph that are computed or given, by their indices."""
    steps: dict[int, Steps] = {}
    for tensor in side.tensors[graph]:
        if tensor.is_constant or tensor.dtype not in _ROUNDED or (scales := side.scales(tensor)) is None:
            continue
        if len(scales.scales) == 1 and 0 < scales.scales[0] < np.inf:
            scale, zero, limits = float(scales.scales[0]), float(scales.zeros[0]), np.iinfo(tensor.dtype)
            steps[tensor.index] = Steps(scale, (limits.min - zero) * scale, (limits.max - zero) * scale)
    return steps


def is_quantized_file(model: str | bytes) -> bool:
    """Whether a LiteRT model has numbers that were rounded: quantized ones, or weights of float16 or bfloat16.

    Args:
        model: Its file, or its content.
    """
    with content_of(model) as data:
        return any(
            tensor.quantization is not None or (tensor.is_constant and tensor.dtype in {"float16", "bfloat16"})
            for tensor in stored_tensors(Model(data))
        )


class _Weights(NamedTuple):
    """Constants that were quantized: the buffer of the copy, the values, and the steps."""

    buffer: int
    values: npt.NDArray[np.float32]
    steps: npt.NDArray[np.float32]


class _Parts(NamedTuple):
    """Data shared by the conversions of all subgraphs: of the file, of its copy, and of the quantized constants."""

    side: ComparedModel
    model: Any
    kinds: list[str]
    weights: dict[object, _Weights]
    clipped: bool


class FloatCopy:
    """The copy.

    Attributes:
        given: The tensors that take given values, by the indices that they have in the file.
        computed: The tensors that ops of the subgraph compute, by the indices that they have in the file.

    Args:
        side: The file.
        graph: The subgraph that is cut, or whose activations are known.
        cuts: The tensors that take given values: they become the inputs of the subgraph, and all results its outputs.
        rounded: Whether results are rounded as in the file; with cuts, those of other subgraphs are.
        clipped: Whether what is rounded is clipped to the ranges of the file, too.
        largest: The largest absolute values of tensors, by their indices: kernels that quantize activations in each
            call round by this.

    Raises:
        LitefuseError: It would be too large.
    """

    def __init__(
        self,
        side: ComparedModel,
        graph: int,
        *,
        cuts: Collection[int] = (),
        rounded: bool = False,
        clipped: bool = True,
        largest: Mapping[int, float] | None = None,
    ) -> None:
        self.given: dict[int, int] = {}
        self.computed: dict[int, int] = {}
        model = side.objects()
        parts = _Parts(side, model, op_names(model), {}, clipped)
        for number in range(len(model.subgraphs)):
            if number == graph:
                conversion = _Conversion(parts, number, cuts, rounded=rounded, largest=largest or {})
                self.given, self.computed = conversion.given, conversion.computed
            else:
                # A loop is judged as one op, whose steps round as in the file.
                conversion = _Conversion(parts, number, (), rounded=rounded or bool(cuts), largest={})
            conversion.run()
        if sum(0 if buffer.data is None else len(buffer.data) for buffer in model.buffers) > _MOST_BYTES:
            raise LitefuseError("as real numbers, its weights take more than 2 GB")
        self._weights = [*parts.weights.values()]
        self._content = flatbuffer_of(model)
        self._buffers = objects_of(self._content).buffers  # views of it

    def content(self, random: np.random.Generator | None = None) -> bytes:
        """Returns the file.

        Args:
            random: If it is given, each weight is off by up to half a step, as one that was rounded is.
        """
        for weights in self._weights:
            values = weights.values
            if random is not None:
                values = values + (random.random(values.shape, np.float32) - np.float32(0.5)) * weights.steps
            self._buffers[weights.buffer].data.view(np.float32)[:] = values.reshape(-1)
        return bytes(self._content)


class _Conversion:
    """Makes one subgraph compute with real numbers."""

    def __init__(
        self, parts: _Parts, number: int, cuts: Collection[int], *, rounded: bool, largest: Mapping[int, float]
    ) -> None:
        self.given: dict[int, int] = {}
        self.computed: dict[int, int] = {}
        self._side, self._model = parts.side, parts.model
        self._kinds, self._weights = parts.kinds, parts.weights
        self._number, self._clipped = number, parts.clipped
        self._cuts = frozenset(cuts)
        self._rounded = rounded
        self._largest = largest
        self._graph: Any = self._model.subgraphs[number]
        self._tensors: list[Any] = self._graph.tensors
        self._stored = self._side.tensors[number]
        self._steps = steps_of(self._side, number)
        self._operators: list[Any] = []
        # What takes the place of tensors.
        self._instead: dict[int, int] = {}

    def run(self) -> None:
        """Converts the subgraph."""
        graph = self._graph
        for tensor in self._stored:
            self._make_real(tensor, self._tensors[tensor.index])
        for index in self._cuts:
            self._instead[index] = self.given[index] = self._add_tensor(index)
        if self._rounded:
            for index in self._steps.keys() & {*map(int, graph.inputs)}:
                self._instead[index] = self._round(index, self._stored[index].dtype, index)
        for op in graph.operators or ():
            self._convert(op)
        graph.operators = self._operators
        if self._cuts:
            graph.inputs = [*self.given.values()]
            results = dict.fromkeys(place for place in self.computed.values() if place not in graph.inputs)
            graph.outputs = [place for place in results if self._tensors[place].type == _FLOAT]
            signature = made("SignatureDef", signatureKey=CUT, subgraphIndex=self._number)
            signature.inputs = [_named(str(index), place) for index, place in self.given.items()]
            signature.outputs = [_named(str(place), place) for place in graph.outputs]
            self._model.signatureDefs = [signature]
            return
        instead = self._instead
        graph.outputs = [instead.get(int(index), int(index)) for index in graph.outputs]
        for signature in self._model.signatureDefs or ():
            for output in (signature.outputs or ()) if signature.subgraphIndex == self._number else ():
                output.tensorIndex = instead.get(output.tensorIndex, output.tensorIndex)

    def _make_real(self, stored: StoredTensor, tensor: Any) -> None:
        if stored.is_constant:
            if not stored.size or (numbers := real_numbers(self._side, stored)) is None:
                return
            scales = self._side.scales(stored)
            key = stored.buffer, stored.dtype, stored.shape, None if scales is None else scales.scales.tobytes()
            tensor.buffer = self._add_weights(key, *numbers)
        elif stored.dtype not in {*_ROUNDED, "int32", "float16"} or (
            stored.dtype != "float16" and self._side.scales(stored) is None
        ):
            return
        tensor.type, tensor.quantization = _FLOAT, None

    def _add_weights(self, key: object, values: npt.NDArray[np.float32], steps: npt.NDArray[np.float32]) -> int:
        if key not in self._weights:
            self._model.buffers.append(made("Buffer", data=values.reshape(-1).view(np.uint8)))
            self._weights[key] = _Weights(len(self._model.buffers) - 1, values, steps)
        return self._weights[key].buffer

    def _convert(self, op: Any) -> None:
        tensors = self._tensors
        kind = self._kinds[int(op.opcodeIndex)]
        taken, outputs = _numbers(op.inputs), _numbers(op.outputs)
        inputs = [self._instead.get(index, index) for index in taken]
        if kind in {"QUANTIZE", "DEQUANTIZE"} and tensors[inputs[0]].type == tensors[outputs[0]].type == _FLOAT:
            self._set(outputs[0], inputs[0])
            return
        if kind in _BIASES:
            self._set_bias(kind, taken, inputs)
        if self._rounded and self._is_hybrid(kind, taken):
            scale = self._largest.get(taken[0], 0.0) / _LARGEST
            if scale > 0:
                inputs[0] = self._round(inputs[0], "int8", taken[0], scale)
        op.inputs, op.intermediates = inputs, None
        self._operators.append(op)
        for output in outputs:
            self._set(output, output)

    def _set(self, index: int, made: int) -> None:
        """Notes what has the value of a tensor of the file, rounded if it is."""
        self.computed[index] = made
        if index in self._cuts:
            return
        if self._rounded and index in self._steps and not self._stored[index].is_variable:
            made = self._round(made, self._stored[index].dtype, index)
        if made != index:
            self._instead[index] = made

    def _is_hybrid(self, kind: str, taken: list[int]) -> bool:
        return (
            kind in _HYBRID
            and self._stored[taken[0]].dtype == "float32"
            and any(
                index >= 0 and self._stored[index].is_constant and self._stored[index].dtype in {"int8", "int4", "int2"}
                for index in taken[1:]
            )
        )

    def _set_bias(self, kind: str, taken: list[int], inputs: list[int]) -> None:
        """Gives a bias the scale that the kernel takes it to have, in place of its own."""
        data, place = _BIASES[kind]
        if len(taken) <= place or taken[place] < 0 or taken[data] not in self._steps:
            return
        bias, scales = self._stored[taken[place]], self._side.scales(self._stored[taken[1]])
        own = self._side.scales(bias)
        if not bias.is_constant or scales is None or own is None or scales.block:
            return
        product = scales.scales * self._steps[taken[data]].scale
        if np.allclose(own.scales, product, rtol=1e-2, atol=0) or (numbers := real_numbers(self._side, bias)) is None:
            return
        ratio = (product / own.scales).astype(np.float32)
        copied = self._add_tensor(taken[place])
        key = bias.buffer, "bias", product.tobytes(), own.scales.tobytes()
        self._tensors[copied].buffer = self._add_weights(key, numbers[0] * ratio, numbers[1] * ratio)
        inputs[place] = copied

    def _round(self, source: int, dtype: str, index: int, scale: float = 0.0) -> int:
        """Adds QUANTIZE and DEQUANTIZE; returns the rounded tensor."""
        quantized, result = self._add_tensor(index), self._add_tensor(index)
        tensor = self._tensors[quantized]
        tensor.type, tensor.quantization = _ROUNDED[dtype], made("QuantizationParameters")
        tensor.quantization.scale, tensor.quantization.zeroPoint = [scale], [0]
        if not scale:
            scales = self._side.scales(self._stored[index])
            assert scales is not None
            tensor.quantization.scale = [float(scales.scales[0])]
            tensor.quantization.zeroPoint = [int(scales.zeros[0])]
            if not self._clipped:
                tensor.type, tensor.quantization.zeroPoint = _ROUNDED["int16"], [0]
                tensor.quantization.scale = [float(scales.scales[0]) * _COARSER[dtype]]
        for kind, taken, computed in (("QUANTIZE", source, quantized), ("DEQUANTIZE", quantized, result)):
            op = made("Operator", opcodeIndex=self._code(kind), inputs=[taken], outputs=[computed])
            self._operators.append(op)
        return result

    def _code(self, kind: str) -> int:
        kinds = self._kinds
        if kind not in kinds:
            number = OP_NUMBERS[kind]
            code = made("OperatorCode", builtinCode=number, deprecatedBuiltinCode=number, version=1)
            self._model.operatorCodes.append(code)
            kinds.append(kind)
        return kinds.index(kind)

    def _add_tensor(self, index: int) -> int:
        """Adds a tensor like another one, without its data."""
        self._tensors.append(tensor_like(self._tensors[index]))
        return len(self._tensors) - 1


def _named(name: str, index: int) -> Any:
    return made("TensorMap", name=name, tensorIndex=index)


def _numbers(indices: Any) -> list[int]:
    return [] if indices is None else [int(index) for index in indices]
