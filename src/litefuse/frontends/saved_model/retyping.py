"""Conversion of a SavedModel to float32 from float64, or from float16 and bfloat16.

The graph is changed before it is imported: the dtypes of arguments, results and attributes, and the values of
constants, variables and tables.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.captures import Capture, Constant, Table, Variable
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NodeDef, OpDef, TensorProto
from litefuse.frontends.saved_model.signatures import Signature, TensorSpec
from litefuse.frontends.saved_model.tensor_proto import tensor_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from litefuse.frontends.saved_model.model import SavedModel
    from litefuse.frontends.saved_model.op_registry import OpRegistry

#: The dtypes that wide dtypes are narrowed to.
NARROWED: Mapping[DataType, DataType] = MappingProxyType(
    {DataType.FLOAT64: DataType.FLOAT32, DataType.COMPLEX128: DataType.COMPLEX64}
)

#: The dtypes that narrow dtypes are widened to.
WIDENED: Mapping[DataType, DataType] = MappingProxyType(
    {DataType.FLOAT16: DataType.FLOAT32, DataType.BFLOAT16: DataType.FLOAT32}
)

_REFERENCE = 100  # a reference type's number is its value type's number plus this

# Ops whose results depend on the byte representation of an element.
_OF_BYTES = frozenset({"Bitcast", "DecodeRaw", "DecodePaddedRaw"})

# Numbers used as "as large or as small as possible", and their float32 equivalents.
_EXTREMES = tuple(
    (getattr(np.finfo(np.float64), name), getattr(np.finfo(np.float32), name)) for name in ("max", "min", "tiny")
)


class Retyped(NamedTuple):
    """Something whose dtype was changed.

    Attributes:
        what: Its kind: an input or output of a signature, a variable, a table or an op.
        name: ``SIGNATURE:NAME`` of an input or output; otherwise the name.
        dtype: Its original dtype.
    """

    what: Literal["input", "output", "variable", "table", "op"]
    name: str
    dtype: DataType


@dataclass
class Retyping:
    """Replaces dtypes of a model by others.

    Attributes:
        registry: The definitions of the ops.
        dtypes: The replacement of each dtype: some of ``NARROWED`` and ``WIDENED``.
        counts: How often each thing was changed. Functions are changed when they are first accessed.
    """

    registry: OpRegistry
    dtypes: Mapping[DataType, DataType]
    counts: Counter[Retyped] = field(default_factory=Counter[Retyped])

    def model(self, model: SavedModel, keys: tuple[str, ...]) -> SavedModel:
        """Returns a model in which the functions and the signatures of the given keys are changed.

        A value out of range raises a GraphError: a constant's when its function is accessed, a variable's or a table's
        when it is read.
        """
        signatures = {
            key: self._signature(signature) if key in keys else signature for key, signature in model.signatures.items()
        }
        return replace(model, functions=_Functions(model.functions, self._function), signatures=signatures)

    def _signature(self, signature: Signature) -> Signature:
        return signature._replace(
            inputs=tuple(self._spec("input", signature.key, spec) for spec in signature.inputs),
            outputs=tuple(self._spec("output", signature.key, spec) for spec in signature.outputs),
            captures=tuple(map(self._capture, signature.captures)),
        )

    def _spec(self, what: Literal["input", "output"], key: str, spec: TensorSpec) -> TensorSpec:
        if spec.dtype not in self.dtypes:
            return spec
        self.counts[Retyped(what, f"{key}:{spec.name}", spec.dtype)] = 1
        return spec._replace(dtype=self.dtypes[spec.dtype])

    def _capture(self, capture: Capture) -> Capture:
        if isinstance(capture, Variable) and capture.dtype in self.dtypes:
            self.counts[Retyped("variable", capture.name, capture.dtype)] = 1
            conversion = functools.partial(_changed_array, where=f"variable {capture.name!r}")
            return replace(capture, dtype=self.dtypes[capture.dtype], conversion=conversion)
        if isinstance(capture, Constant) and capture.dtype in self.dtypes:
            tensor = self._tensor(capture.tensor, f"constant {capture.name!r}")
            return replace(capture, dtype=self.dtypes[capture.dtype], tensor=tensor)
        if isinstance(capture, Table):
            for dtype in (capture.key_dtype, capture.value_dtype):
                if dtype in self.dtypes:
                    self.counts[Retyped("table", capture.name, dtype)] = 1
            return self._table(capture)
        return capture

    def _table(self, table: Table) -> Table:
        dtypes = (table.key_dtype, table.value_dtype)
        if not set(dtypes) & self.dtypes.keys():
            return table

        def read() -> tuple[NDArray[Any], NDArray[Any]]:
            where = f"table {table.name!r}"
            keys, values = (
                _changed_array(array, where) if dtype in self.dtypes else array
                for array, dtype in zip(table.read(), dtypes, strict=True)
            )
            return keys, values

        key_dtype, value_dtype = (self.dtypes.get(dtype, dtype) for dtype in dtypes)
        return replace(table, key_dtype=key_dtype, value_dtype=value_dtype, _read=read)

    def _function(self, function: FunctionDef) -> FunctionDef:
        result = FunctionDef()
        result.CopyFrom(function)
        where = f"function {function.signature.name}"
        for argument in (*result.signature.input_arg, *result.signature.output_arg):
            argument.type = self._number(argument.type)
        for value in result.attr.values():
            self._attribute(value, where)
        for arguments in result.arg_attr.values():
            for value in arguments.attr.values():
                self._attribute(value, where)
        for node in result.node_def:
            self._node(node, f"{where}, node {node.name} ({node.op})")
        return result

    def _node(self, node: NodeDef, where: str) -> None:
        changed = [dtype for value in node.attr.values() for dtype in self._attribute(value, where)]
        definition = self.registry.get(node.op)
        fixed = [] if definition is None else self._fixed_dtypes(definition)
        if fixed or (changed and node.op in _OF_BYTES):
            dtype = DataType(fixed[0] if fixed else changed[0])
            message = f"{node.op} of {dtype} has no form in {self.dtypes[dtype]}"
            raise GraphError(message, where=where, hint="Leave out what needs it, or convert the model as it is.")
        if changed:
            self.counts[Retyped("op", node.op, changed[0])] += 1

    def _number(self, number: int) -> int:
        """Returns the number that replaces that of a ``DataType``, which may be a reference type."""
        for old, new in self.dtypes.items():
            if number in (old, old + _REFERENCE):
                return number - old + new
        return number

    def _attribute(self, value: AttrValue, where: str) -> list[DataType]:
        """Changes an attribute in place; returns the dtypes that were replaced."""
        replaced: list[DataType] = []
        kind = value.WhichOneof("value")
        if kind == "type" and self._number(value.type) != value.type:
            replaced.append(DataType.from_proto(value.type))
            value.type = self._number(value.type)
        elif kind == "tensor" and self._number(value.tensor.dtype) != value.tensor.dtype:
            replaced.append(DataType.from_proto(value.tensor.dtype))
            value.tensor.CopyFrom(self._tensor(value.tensor, where))
        elif kind == "func":
            replaced += [dtype for inner in value.func.attr.values() for dtype in self._attribute(inner, where)]
        elif kind == "list":
            for index, number in enumerate(value.list.type):
                if self._number(number) != number:
                    replaced.append(DataType.from_proto(number))
                    value.list.type[index] = self._number(number)
            for tensor in value.list.tensor:
                if self._number(tensor.dtype) != tensor.dtype:
                    replaced.append(DataType.from_proto(tensor.dtype))
                    tensor.CopyFrom(self._tensor(tensor, where))
            for function in value.list.func:
                replaced += [dtype for inner in function.attr.values() for dtype in self._attribute(inner, where)]
        return replaced

    def _fixed_dtypes(self, definition: OpDef) -> list[int]:
        """Returns the dtypes of an op's operands and results that would change but do not depend on an attribute."""
        return [arg.type for arg in (*definition.input_arg, *definition.output_arg) if arg.type in self.dtypes]

    def _tensor(self, tensor: TensorProto, where: str) -> TensorProto:
        value = tensor_value(tensor, where)
        changed = _changed_array(value, where)
        result = TensorProto(dtype=self.dtypes[DataType.from_proto(tensor.dtype)], tensor_shape=tensor.tensor_shape)
        if value.size > 1 and not any(value.strides):  # a broadcast scalar
            changed = changed.reshape(-1)[:1]
            if changed.dtype == np.complex64:
                result.scomplex_val.extend(changed.view(np.float32).tolist())
            else:
                result.float_val.extend(changed.tolist())
        else:
            result.tensor_content = changed.tobytes()
        return result


class _Functions(Mapping[str, FunctionDef]):
    """The functions of a model, each changed on its first access."""

    def __init__(self, functions: Mapping[str, FunctionDef], change: Callable[[FunctionDef], FunctionDef]) -> None:
        self._functions = functions
        self._change = change
        self._known: dict[str, FunctionDef] = {}

    def __getitem__(self, name: str) -> FunctionDef:
        if name not in self._known:
            self._known[name] = self._change(self._functions[name])
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __contains__(self, name: object) -> bool:
        return name in self._functions


def _changed_array(values: NDArray[Any], where: str) -> NDArray[Any]:
    """Converts floating or complex numbers to float32 or complex64; raises a GraphError if one is out of range.

    The largest and the smallest normal float64 are used as "as large or as small as possible": they become those of
    float32. A single nonzero value must not become zero.
    """
    if values.dtype == np.complex128:
        parts = np.array(values, np.complex128, order="C").reshape(-1).view(np.float64)
        return _changed_array(parts, where).view(np.complex64).reshape(values.shape)
    if values.dtype != np.float64:
        return values.astype(np.float32)
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype(np.float32)
    lost = (np.isinf(narrow) & np.isfinite(values)) | ((narrow == 0) & (values != 0))
    if not np.any(lost):
        return narrow
    for wide, limit in _EXTREMES:
        narrow = np.where(values == wide, np.float32(limit), narrow)
    # Among many values a tiny one is as good as zero; a single one is there to keep something from being zero.
    lost = np.isinf(narrow) & np.isfinite(values)
    lost |= (narrow == 0) & (values != 0) & (values.size == 1)
    if np.any(lost):
        raise GraphError(
            f"the value {values[lost].flat[0]:g} is out of float32's range",
            where=where,
            hint="Narrowing computes in float32: change the value in the model.",
        )
    return narrow
