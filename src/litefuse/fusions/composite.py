"""Composites, as fusions see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litefuse.ir.mlir import ir
from litefuse.ir.types import TensorType, tensor_type_of

__all__ = ["Composite"]


@dataclass(frozen=True)
class Composite:
    """An annotated function, with the arguments for its replacement.

    Attributes:
        name: The name in the annotation.
        attributes: The annotation's attributes as Python values: int, float, bool, str, lists of these; an attribute of
            another kind (type, shape, tensor, function) is the MLIR attribute itself.
        args: The arguments, including weights that are only read, as tensors.
        result_types: The required types of the results.
        function: The function's symbol, for messages.
    """

    name: str
    attributes: Mapping[str, Any]
    args: Sequence[ir.Value]
    result_types: Sequence[ir.Type]
    function: str

    @property
    def arg_types(self) -> list[TensorType]:
        """Dtypes and shapes of the arguments."""
        return [tensor_type_of(value) for value in self.args]

    @property
    def result_tensor_types(self) -> list[TensorType]:
        """Dtypes and shapes of the results."""
        return [tensor_type_of(kind) for kind in self.result_types]
