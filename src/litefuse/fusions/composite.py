"""A composite, as conversion code sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litefuse.ir.mlir import ir
from litefuse.ir.types import TensorType, tensor_type_of

__all__ = ["Composite"]


@dataclass(frozen=True)
class Composite:
    """An annotated function, and the arguments that its replacement computes from.

    Attributes:
        name: The name in the annotation.
        attributes: The annotation's attributes as Python values: int, float, bool, str, lists of them; an attribute of
            another kind (type, shape, tensor, function) is the MLIR attribute itself.
        args: The arguments; weights that are only read are among them as tensors.
        result_types: The types that the results must have.
        function: The function's symbol, for messages.
    """

    name: str
    attributes: Mapping[str, Any]
    args: Sequence[ir.Value]
    result_types: Sequence[ir.Type]
    function: str

    @property
    def arg_types(self) -> list[TensorType]:
        """The arguments' dtypes and shapes."""
        return [tensor_type_of(value) for value in self.args]

    @property
    def result_tensor_types(self) -> list[TensorType]:
        """The results' dtypes and shapes."""
        return [tensor_type_of(kind) for kind in self.result_types]
