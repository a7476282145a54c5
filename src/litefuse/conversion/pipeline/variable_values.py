"""The values of a model's variables, as attributes of a module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.frontends.saved_model import DataType
from litefuse.ir.importer import ImportedModule
from litefuse.ir.importer.constants import constant_parts, elements_attribute
from litefuse.ir.mlir import ir
from litefuse.passes.weights import Weights

__all__ = ["VariablePlaceholders", "VariableValues"]


@dataclass(frozen=True)
class VariableValues:
    """The variables' values as attributes: read once, from the mapped checkpoint.

    Attributes:
        imported: The module with its variables.
        weights: Holds large values that stay mapped; None if all values are needed.
    """

    imported: ImportedModule
    weights: Weights | None = None

    def __call__(self, name: str) -> ir.Attribute:
        variable = self.imported.variables[name]
        value, dtype = constant_parts(variable.read(), variable.dtype)
        if self.weights is None:
            return elements_attribute(value, dtype)
        return self.weights.attribute(value, dtype)


@dataclass(frozen=True)
class VariablePlaceholders:
    """Zeros in place of the variables' values, for analyses that need everything else: no weight is read.

    Attributes:
        imported: The module with its variables.
    """

    imported: ImportedModule

    def __call__(self, name: str) -> ir.Attribute:
        variable = self.imported.variables[name]
        if variable.dtype == DataType.STRING:
            return VariableValues(self.imported)(name)
        if variable.is_partitioned:  # reading it would assemble a copy
            shape = tuple(size for size in variable.shape or () if size is not None)
            if variable.shape is None or len(shape) != len(variable.shape):
                return VariableValues(self.imported)(name)
        else:  # a view of the mapped checkpoint, which was compared with the declaration
            shape = variable.read(verify=False).shape
        zero: npt.NDArray[Any] = np.zeros((), variable.dtype.to_numpy())
        return elements_attribute(*constant_parts(np.broadcast_to(zero, shape), variable.dtype))
