"""The ops of a signature of a LiteRT model, and the tensors that they compute."""

from __future__ import annotations

from dataclasses import dataclass

from litefuse.errors import InterpreterError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model, Op, Tensor

__all__ = ["LayerGraph", "LayerTensor", "layer_graph"]


@dataclass(frozen=True)
class LayerTensor:
    """A tensor that an op of the main subgraph computes.

    Attributes:
        index: Its index in the subgraph.
        name: Its name in the file.
        op: The op that computes it: its name in LiteRT's schema, or that of a custom op or a composite.
        position: The index among the op's outputs.
        count: How many outputs the op has.
        operands: The indices of the op's inputs.
        dtype: Its dtype in the file.
        readable: Whether its values can be read and compared: handles and sub-byte integers cannot.
    """

    index: int
    name: str
    op: str
    position: int
    count: int
    operands: tuple[int, ...]
    dtype: str
    readable: bool


@dataclass(frozen=True)
class LayerGraph:
    """The main subgraph of a signature.

    Attributes:
        subgraph: Its index.
        outputs: The indices of its outputs.
        stored: The indices of operands of ops without results: values that are stored in variables.
        results: The names of the signature's outputs, by the indices of their tensors.
        tensors: The results of its ops, in the order in which they run.
    """

    subgraph: int
    outputs: tuple[int, ...]
    stored: frozenset[int]
    results: dict[int, str]
    tensors: tuple[LayerTensor, ...]

    @property
    def ends(self) -> frozenset[int]:
        """The indices of tensors whose values last: outputs and stored values."""
        return self.stored | frozenset(self.outputs)


def layer_graph(model: str | bytes, signature: str) -> LayerGraph:
    """Reads the main subgraph of a signature.

    Args:
        model: The model's file, or its content; it has been run.
        signature: The signature's key.

    Raises:
        InterpreterError: No such signature.
    """
    with content_of(model) as data:
        read = Model(data)
        found = read.signatures.get(signature)
        if found is None:
            raise InterpreterError(f"the file says nothing of the signature {signature!r}")
        graph = read.graphs[found.graph]
        tensors = [
            _tensor(graph.tensor(output), output, op, position)
            for op in graph.ops
            for position, output in enumerate(op.outputs)
        ]
        stored = frozenset(operand for op in graph.ops if not op.outputs for operand in op.inputs)
        # If one output has several names, the first counts.
        results = {index: name for name, index in reversed(found.outputs.items())}
        return LayerGraph(found.graph, graph.outputs, stored, results, tuple(tensors))


def _tensor(tensor: Tensor, index: int, op: Op, position: int) -> LayerTensor:
    readable = tensor.dtype is not None and not tensor.is_variable
    return LayerTensor(
        index, tensor.name, op.composite or op.name, position, len(op.outputs), op.inputs, _dtype(tensor), readable
    )


def _dtype(tensor: Tensor) -> str:
    if tensor.dtype is None:
        return "of no values"
    return "string" if tensor.dtype == object else str(tensor.dtype)
