"""Changes to a graph of a LiteRT model, as the schema's objects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import QuantizationError
from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS, OP_NUMBERS
from litefuse.litert.runtime.schema_objects import dtype_of, made, op_name


class Scale(NamedTuple):
    """Quantization of a tensor: a number is ``scale * (integer - zero)``."""

    scale: float
    zero: int = 0


class GraphEditor:
    """Edits one subgraph of a model.

    Args:
        model: The model, an object of the schema.
        graph: The subgraph's index.
    """

    def __init__(self, model: Any, graph: int) -> None:
        self.model = model
        self.graph: Any = model.subgraphs[graph]
        self._zeros: dict[tuple[int, ...], int] = {}

    @property
    def ops(self) -> list[Any]:
        """The ops in the order in which they run."""
        return self.graph.operators

    def kind(self, op: Any) -> str:
        """Returns an op's name in the schema; CUSTOM for custom ops."""
        return op_name(self.model.operatorCodes[op.opcodeIndex])

    def tensor(self, index: int) -> Any:
        return self.graph.tensors[index]

    def name(self, index: int) -> str:
        return self.tensor(index).name.decode(errors="backslashreplace")

    def shape(self, index: int) -> tuple[int, ...]:
        """Returns a tensor's shape; -1 for a dynamic dimension."""
        tensor = self.tensor(index)
        signature = tensor.shapeSignature
        shape: Any = tensor.shape if signature is None or not len(signature) else signature
        return () if shape is None else tuple(map(int, shape))

    def is_type(self, index: int, dtype: str) -> bool:
        return dtype_of(self.tensor(index)) == dtype

    def scale(self, index: int) -> Scale | None:
        """Returns the quantization of a tensor with one scale; None for others."""
        parameters = self.tensor(index).quantization
        if parameters is None or parameters.scale is None or len(parameters.scale) != 1:
            return None
        zeros = parameters.zeroPoint
        return Scale(float(parameters.scale[0]), 0 if zeros is None or not len(zeros) else int(zeros[0]))

    def constant(self, index: int, dtype: Any = np.float32) -> npt.NDArray[Any] | None:
        """Returns the value of a constant; None for other tensors.

        Raises:
            QuantizationError: Its data are of another size: nothing has loaded the file yet.
        """
        data = self.model.buffers[self.tensor(index).buffer].data if index >= 0 else None
        if data is None or not len(data):
            return None
        shape, kind = [max(size, 0) for size in self.shape(index)], np.dtype(dtype)
        if len(data) != math.prod(shape) * kind.itemsize:
            raise QuantizationError(
                f"the model is damaged: {self.name(index)} has {len(data)} bytes, not those of {kind}{shape}",
                hint="Is it complete? Convert or download it again.",
            )
        return np.frombuffer(bytes(data), kind).reshape(shape)

    def is_constant(self, index: int) -> bool:
        """Whether a tensor has data."""
        return index >= 0 and self.model.buffers[self.tensor(index).buffer].data is not None

    def shares_constant(self, index: int) -> bool:
        """Whether more than one operand of the model reads a constant."""
        buffer = self.tensor(index).buffer
        readers = [
            operand
            for graph in self.model.subgraphs
            for op in graph.operators or ()
            for operand in op.inputs
            if operand >= 0 and graph.tensors[operand].buffer == buffer
        ]
        return len(readers) != 1

    def producer(self, index: int) -> Any | None:
        """Returns the op that computes a tensor; None for inputs and constants."""
        return next((op for op in self.ops if index in op.outputs), None)

    def consumers(self, index: int) -> Iterator[Any]:
        """Yields the ops that take a tensor."""
        yield from [op for op in self.ops if index in op.inputs]

    def is_output(self, index: int) -> bool:
        """Whether a tensor is an output of the graph."""
        return index in self.graph.outputs

    def add_tensor(
        self, name: str, shape: Sequence[int], dtype: str, scale: Scale | None = None, *, variable: bool = False
    ) -> int:
        """Adds a tensor; returns its index.

        Args:
            name: Its name.
            shape: Its shape; -1 for a dynamic dimension.
            dtype: Its dtype.
            scale: Its quantization.
            variable: Whether it is a state that an op changes in place.
        """
        tensor = made("Tensor", name=name.encode(), type=DTYPE_NUMBERS[dtype], isVariable=variable, buffer=0)
        tensor.shape, tensor.hasRank = [1 if size < 0 else size for size in shape], True
        if any(size < 0 for size in shape):
            tensor.shapeSignature = list(shape)
        if scale is not None:
            tensor.quantization = made("QuantizationParameters", scale=[scale.scale], zeroPoint=[scale.zero])
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def add_constant(self, name: str, value: npt.NDArray[Any], scale: Scale | None = None) -> int:
        """Adds a constant; returns its index."""
        index = self.add_tensor(name, value.shape, str(value.dtype), scale)
        self.model.buffers.append(made("Buffer", data=np.frombuffer(value.tobytes(), np.uint8)))
        self.tensor(index).buffer = len(self.model.buffers) - 1
        return index

    def zeros(self, shape: tuple[int, ...]) -> int:
        """Returns an int8 constant of zeros."""
        if shape not in self._zeros:
            self._zeros[shape] = self.add_constant("zeros", np.zeros(shape, np.int8), Scale(1.0))
        return self._zeros[shape]

    def add_op(self, before: Any | None, kind: str, inputs: Sequence[int], outputs: Sequence[int]) -> Any:
        """Adds an op without options.

        Args:
            before: The op that it comes before; None for the end.
            kind: Its name in the schema.
            inputs: Its inputs.
            outputs: Its outputs.
        """
        op = made("Operator", opcodeIndex=self._opcode(kind), inputs=list(inputs), outputs=list(outputs))
        self.ops.insert(len(self.ops) if before is None else self._place(before), op)
        return op

    def remove_op(self, op: Any) -> None:
        del self.ops[self._place(op)]

    def after(self, op: Any) -> Any | None:
        """Returns the op that follows another; None for the last."""
        place = self._place(op) + 1
        return self.ops[place] if place < len(self.ops) else None

    def before(self, op: Any) -> list[Any]:
        """Returns the ops that run before another."""
        return self.ops[: self._place(op)]

    def replace_input(self, op: Any, old: int, new: int) -> None:
        op.inputs = [new if input_ == old else input_ for input_ in op.inputs]

    def set_version(self, op: Any, version: int) -> None:
        """Sets the version of one op, whose code other ops may share."""
        op.opcodeIndex = self._opcode(self.kind(op), version)

    def _place(self, op: Any) -> int:
        return next(place for place, other in enumerate(self.ops) if other is op)

    def _opcode(self, kind: str, version: int = 1) -> int:
        codes: list[Any] = self.model.operatorCodes
        for index, code in enumerate(codes):
            if op_name(code) == kind and code.version == version:
                return index
        codes.append(made("OperatorCode", builtinCode=OP_NUMBERS[kind], version=version))
        return len(codes) - 1


def editors_of(model: Any) -> list[GraphEditor]:
    """Returns an editor of each subgraph of a model."""
    return [GraphEditor(model, number) for number in range(len(model.subgraphs))]
