"""The view of an op that decompositions get, and the replacement of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.attributes import attribute_value
from litefuse.ir.call_graph import attributes_of
from litefuse.ir.constants import DENSE_CONSTANTS, stored
from litefuse.ir.mlir import ir
from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import tensor_type_of
from litefuse.passes.legalize.lacking_ops import is_option, tensorflow_op

# Constants that determine shapes are small; a weight remains an operand.
_MAX_ELEMENTS = 1024


def tensorflow_op_of(op: ir.OpView, name: str, operands: Sequence[ir.Value]) -> TensorFlowOp:
    """Returns the view of an op that decompositions get, with ``operands`` instead of its own."""
    attributes: Mapping[str, Any] = {
        key: attribute_value(value) for key, value in attributes_of(tensorflow_op(op)).items() if is_option(key)
    }
    types = [tensor_type_of(value) for value in op.operands]
    results = [tensor_type_of(result.type) for result in op.results]
    readers = frozenset(use.owner.name for result in op.results for use in result.uses)
    return TensorFlowOp(name, attributes, [*map(Tensor, operands)], types, constant_operands(op), results, readers)


def constant_operands(op: ir.OpView) -> list[npt.NDArray[Any] | None]:
    """Returns the values of the operands that are small constants, None for the others."""
    return [None if attribute is None else _array(attribute) for attribute in map(small_constant, op.operands)]


def replace_results(op: ir.OpView, values: Sequence[ir.Value]) -> None:
    """Replaces all uses of an op's results by values."""
    for old, new in zip(op.results, values, strict=True):
        owner = new.owner
        if not isinstance(owner, ir.Block) and owner.name not in DENSE_CONSTANTS:
            new.set_type(old.type)  # its users may have been written for this type
        old.replace_all_uses_with(new)


# Numbers that numpy lacks: the bindings read those that are repeated only.
_UNREADABLE = frozenset({"bf16", "f8E4M3FN", "f8E5M2"})


def small_constant(value: ir.Value) -> ir.DenseElementsAttr | None:
    """Returns the value of a small constant of static shape; None for any other value."""
    attribute = stored(value)
    if attribute is None or not attribute.type.has_static_shape:
        return None
    element = str(attribute.type.element_type)
    if "complex" in element or np.prod(attribute.type.shape) > _MAX_ELEMENTS:
        return None
    if element in _UNREADABLE and not attribute.is_splat:  # the bindings cannot read others
        return None
    return attribute


def _array(attribute: ir.DenseElementsAttr) -> npt.NDArray[Any]:
    shape = attribute.type.shape
    if str(attribute.type.element_type) in _UNREADABLE:
        return np.full(shape, ir.FloatAttr(attribute.get_splat_value()).value, np.float32)
    return np.array(attribute).reshape(shape)
