"""Lowers hash tables to the kinds that the runtime supports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import GraphError
from litefuse.frontends.saved_model import DataType, Table
from litefuse.ir.call_graph import all_operations
from litefuse.ir.importer.constants import element_type, elements_attribute
from litefuse.ir.locations import node_text
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_like, create_op, create_value
from litefuse.ir.purity import replace_op
from litefuse.ir.types import ranked_type
from litefuse.passes.variables.freeze_variables import initializer

_MAKER = "tf.HashTableV2"
_FINDER = "tf.LookupTableFindV2"
_WORDPIECES = "tf.WordpieceTokenizeWithOffsets"
_NOT_FOUND = -1  # what a key's value must not be for the tokenizer
_STRING, _INT64 = DataType.STRING, DataType.INT64
# Key and value dtypes of the tables that the runtime supports.
_KINDS = frozenset({(_STRING, _INT64), (_INT64, _STRING)})
_INTEGERS = frozenset({DataType.INT8, DataType.UINT8, DataType.INT16, DataType.INT32, _INT64})

_Array = npt.NDArray[Any]


@dataclass(frozen=True)
class InitializeTables:
    """Lowers lookups to tables of strings to int64 or int64 to strings, which the runtime supports, and fills these.

    TensorFlow Text's ``WordpieceTokenizeWithOffsets`` takes the table's keys instead of the table. A table of other
    keys or values becomes a table of positions and a tensor of values::

        %v = tf.LookupTableFindV2(%t, %keys, %d)        %i = tf.LookupTableFindV2(%positions, %keys, n)
                                                  -->   %v = tf.GatherV2([values..., %d], %i, 0)

    The position of an integer is that of its decimal form, through a table of int64 to strings; the value of a string
    table with string values is looked up by its position. A table's contents cannot change: its size and an export of
    it are constants.

    Attributes:
        tables: The tables by the ``shared_name`` of their ``tf.HashTableV2``.
        initializers: Extended by the symbol of the public function that fills the tables, if there are any.

    Raises:
        GraphError: A table is written, or has keys of a dtype that cannot be looked up.
        SavedModelError: The contents of a table cannot be determined.
    """

    name = "initialize-tables"
    tables: Mapping[str, Table]
    initializers: list[str]

    def run(self, module: ir.Module) -> bool:
        handles: dict[str, list[ir.OpView]] = defaultdict(list)
        for op in all_operations(module, nested=False):
            if op.name == _MAKER:
                handles[ir.StringAttr(op.attributes["shared_name"]).value].append(op)
        filled = _Filled({})
        for name, ops in handles.items():
            if any(list(op.results[0].uses) for op in ops):
                _lower(name, self.tables[name], ops, filled)
            for op in ops:
                op.operation.erase()
        if filled.entries:
            filled.emit(module, self.initializers)
        return bool(handles)


@dataclass
class _Filled:
    """The tables of the runtime: keys and values by name."""

    entries: dict[str, tuple[_Array, _Array, DataType, DataType]]

    def handle(self, name: str) -> ir.Value:
        """Emits a handle at the insertion point."""
        _, _, key_dtype, value_dtype = self.entries[name]
        attributes = {
            "container": "",
            "shared_name": name,
            "key_dtype": ir.TypeAttr.get(element_type(key_dtype)),
            "value_dtype": ir.TypeAttr.get(element_type(value_dtype)),
            "use_node_name_sharing": False,
        }
        handle = ir.RankedTensorType.get([], ir.Type.parse("!tf_type.resource"))
        return create_value(_MAKER, handle, [], attributes)

    def emit(self, module: ir.Module, initializers: list[str]) -> None:
        """Emits a public function that fills the tables."""
        with initializer(module, "initialize_tables", initializers):
            for name, (keys, values, key_dtype, value_dtype) in self.entries.items():
                operands = [self.handle(name), _constant(keys, key_dtype), _constant(values, value_dtype)]
                create_op("tf.LookupTableImportV2", [], operands)


def _lower(name: str, table: Table, handles: list[ir.OpView], filled: _Filled) -> None:
    keys, values = table.read()
    wide = _INT64 if table.key_dtype in _INTEGERS else table.key_dtype
    users = [use.owner for handle in handles for use in handle.results[0].uses]
    # Only what is looked up in is filled.
    finder = _direct if (wide, table.value_dtype) in _KINDS and values.ndim == 1 else _by_position
    find = finder(name, table, keys, values, filled) if any(user.name == _FINDER for user in users) else None
    for user in users:
        with ir.InsertionPoint(user), user.location:
            results = _results(user, table, keys, values, find)
        replace_op(user, results)


# Takes the keys, the default and the declared type of the values.
_Find = Callable[[ir.Value, ir.Value, ir.Type], ir.Value]


def _results(user: ir.OpView, table: Table, keys: _Array, values: _Array, find: _Find | None) -> list[ir.Value]:
    if find is not None and user.name == _FINDER:
        _, looked_up, default = user.operands
        if not len(keys):
            return [_filled_with(default, looked_up, user.results[0].type)]
        return [find(looked_up, default, user.results[0].type)]
    if user.name == "tf.LookupTableSizeV2":
        return [_constant(np.array(len(keys), np.int64), _INT64)]
    if user.name == "tf.LookupTableExportV2":
        constants = [_constant(keys, table.key_dtype), _constant(values, table.value_dtype)]
        return [_of_type(value, result.type) for value, result in zip(constants, user.results, strict=True)]
    if user.name == _WORDPIECES:
        return _wordpieces(user, table, keys, values)
    raise GraphError(
        f"table {table.name!r} is written by {user.name.removeprefix('tf.')}; LiteRT's tables keep their entries",
        where=node_text(user),
        hint="Leave what changes the table out of the signatures that are converted.",
    )


def _wordpieces(user: ir.OpView, table: Table, keys: _Array, values: _Array) -> list[ir.Value]:
    if table.value_dtype != _INT64 or values.ndim != 1:
        raise GraphError(
            f"table {table.name!r} has values of dtype {table.value_dtype}, the tokenizer takes int64",
            where=node_text(user),
        )
    operands = [user.operands[0], _constant(keys[values != _NOT_FOUND], _STRING)]
    return list(create_like(user, operands, [result.type for result in user.results]).results)


def _direct(name: str, table: Table, keys: _Array, values: _Array, filled: _Filled) -> _Find:
    if len(keys):
        is_text = table.key_dtype == _STRING
        wide = (keys, _STRING) if is_text else (keys.astype(np.int64), _INT64)
        filled.entries[name] = (wide[0], values, wide[1], table.value_dtype)

    def find(looked_up: ir.Value, default: ir.Value, kind: ir.Type) -> ir.Value:
        return _find(filled, name, _widened(looked_up, table), default, kind)

    return find


def _by_position(name: str, table: Table, keys: _Array, values: _Array, filled: _Filled) -> _Find:
    if table.key_dtype not in _INTEGERS | {_STRING}:
        raise GraphError(
            f"table {table.name!r} has keys of dtype {table.key_dtype}",
            hint="Use strings or integers as keys.",
        )
    positions = f"{name}.positions"
    if len(keys):
        texts = keys
        if table.key_dtype != _STRING:
            texts = _strings([str(key) for key in keys.tolist()])
            filled.entries[f"{name}.texts"] = (keys.astype(np.int64), texts, _INT64, _STRING)
        order = np.arange(len(keys), dtype=np.int64)
        filled.entries[positions] = (texts, order, _STRING, _INT64)
        if table.value_dtype == _STRING and values.ndim == 1:
            filled.entries[f"{name}.values"] = (order, values, _INT64, _STRING)

    def find(looked_up: ir.Value, default: ir.Value, kind: ir.Type) -> ir.Value:
        if table.key_dtype != _STRING:
            missing = _constant(_strings([""]).reshape(()), _STRING)
            looked_up = _find(filled, f"{name}.texts", _widened(looked_up, table), missing)
        position = _find(filled, positions, looked_up, _constant(np.array(len(keys), np.int64), _INT64))
        if f"{name}.values" in filled.entries:  # tensors of strings cannot be joined
            return _find(filled, f"{name}.values", position, default, kind)
        axis = _constant(np.array(0, np.int32), DataType.INT32)
        row = ir.RankedTensorType.get([1, *values.shape[1:]], element_type(table.value_dtype))
        last = create_value("tf.Reshape", row, [default, _constant(np.array(row.shape), _INT64)])
        column = ir.RankedTensorType.get([len(keys) + 1, *values.shape[1:]], row.element_type)
        known = _constant(values, table.value_dtype)
        rows = create_value("tf.ConcatV2", column, [known, last, axis])
        return create_value("tf.GatherV2", kind, [rows, position, axis])

    return find


def _widened(keys: ir.Value, table: Table) -> ir.Value:
    wide = _with_element(keys.type, _INT64)
    if table.key_dtype == _STRING or keys.type == wide:
        return keys
    return create_value("tf.Cast", wide, [keys], {"Truncate": False})


def _find(filled: _Filled, name: str, keys: ir.Value, default: ir.Value, kind: ir.Type | None = None) -> ir.Value:
    kind = kind or _with_element(keys.type, filled.entries[name][3])
    return create_value(_FINDER, kind, [filled.handle(name), keys, default])


def _filled_with(default: ir.Value, looked_up: ir.Value, kind: ir.Type) -> ir.Value:
    """Returns the default for each key."""
    keys = ir.ShapedType(looked_up.type)
    sizes = ranked_type([keys.rank if keys.has_rank else None], element_type(DataType.INT32))
    return create_value("tf.Fill", kind, [create_value("tf.Shape", sizes, [looked_up]), default])


def _of_type(value: ir.Value, kind: ir.Type) -> ir.Value:
    """Returns the value with the type that its users expect."""
    return value if value.type == kind else create_value("tf.Identity", kind, [value])


def _with_element(kind: ir.Type, dtype: DataType) -> ir.Type:
    shaped = ir.ShapedType(kind)
    element = element_type(dtype)
    if not shaped.has_rank:
        return ir.UnrankedTensorType.get(element)
    return ir.RankedTensorType.get(shaped.shape, element)


def _strings(values: list[str]) -> _Array:
    array = np.empty(len(values), np.object_)
    array[:] = [value.encode() for value in values]
    return array


def _constant(value: _Array, dtype: DataType) -> ir.Value:
    attribute = elements_attribute(value, dtype)
    return create_value("tf.Const", ir.DenseElementsAttr(attribute).type, [], {"value": attribute})
