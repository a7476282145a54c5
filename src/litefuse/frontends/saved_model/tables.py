"""Entries of hash tables, from their initializers or the checkpoint.

A table is created by one op (``HashTableV2``) and filled by another, in functions that belong to the resource
(TensorFlow 2) or at the top level of the graph (TensorFlow 1): from two constants, or from the lines of a text file.
A mutable table is saved in the checkpoint instead.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import PurePath, PureWindowsPath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.captures import Asset, Constant, ResourceObject, Table
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.nodes import Nodes, constant_value, data_inputs, node_of
from litefuse.support.options.limits import check_constant
from litefuse.support.records import Record

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from litefuse.frontends.saved_model.captures import Capture
    from litefuse.frontends.saved_model.messages import FunctionDef, NodeDef
    from litefuse.frontends.saved_model.op_registry import OpRegistry
    from litefuse.frontends.saved_model.tensor_bundle import TensorBundle

# The ops that create tables: static ones, which an op fills, and mutable ones, whose entries are in the checkpoint.
_STATIC = frozenset({"HashTable", "HashTableV2", "AnonymousHashTable"})
_MUTABLE = frozenset(
    {
        *("MutableHashTable", "MutableHashTableV2", "AnonymousMutableHashTable"),
        *("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors"),
        *("MutableDenseHashTable", "MutableDenseHashTableV2", "AnonymousMutableDenseHashTable"),
    }
)
TABLE_OPS = _STATIC | _MUTABLE

_FROM_TENSORS = frozenset({"LookupTableImport", "LookupTableImportV2", "InitializeTable", "InitializeTableV2"})
_FROM_FILE = frozenset({"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"})

_Array: TypeAlias = "NDArray[Any]"


def _cast(x: _Array, dtype: np.dtype[Any]) -> _Array:
    return x.astype(dtype)


def _range(start: _Array, limit: _Array, delta: _Array) -> _Array:
    count = (limit.item() - start.item()) / delta.item() if delta.item() else 0
    check_constant(int(count) * start.itemsize, 0, "a range")
    return np.array(np.arange(start.item(), limit.item(), delta.item()), start.dtype)


def _shape(x: _Array, dtype: np.dtype[Any]) -> _Array:
    return np.array(x.shape, dtype)


def _size(x: _Array, dtype: np.dtype[Any]) -> _Array:
    return np.array(x.size, dtype)


def _fill(dims: _Array, value: _Array) -> _Array:
    sizes: list[int] = dims.tolist()
    check_constant(math.prod(sizes) * value.itemsize, 0, "a filled tensor")
    return np.full(sizes, value, value.dtype)


def _reshape(x: _Array, shape: _Array) -> _Array:
    sizes: list[int] = shape.tolist()
    return np.reshape(x, sizes)


# Other ops that compute entries (usually the positions in a list) and initial values of variables (zeros).
_COMPUTED: Mapping[str, Callable[..., _Array]] = {
    "Add": np.add,
    "AddV2": np.add,
    "Cast": _cast,
    "Fill": _fill,
    "Mul": np.multiply,
    "OnesLike": np.ones_like,
    "Range": _range,
    "Reshape": _reshape,
    "Shape": _shape,
    "Size": _size,
    "Sub": np.subtract,
    "ZerosLike": np.zeros_like,
}

# Column numbers with a special meaning.
_WHOLE_LINE = -2
_LINE_NUMBER = -1


def table_of_resource(
    resource: ResourceObject,
    functions: Mapping[str, FunctionDef],
    captures: Callable[[str], Sequence[Capture]],
    registry: OpRegistry,
    checkpoint: Callable[[], tuple[TensorBundle, str] | None],
) -> Table | None:
    """Returns the table of a resource of TensorFlow 2; None if the resource is not a table.

    Args:
        resource: The resource.
        functions: The function library.
        captures: Returns the captures of a function by its name.
        registry: The definitions of the ops.
        checkpoint: Finds the checkpoint and the key under which it holds a mutable table, without ``-keys``.
    """
    creator = functions.get(resource.creator or "")
    node = next((node for node in creator.node_def if node.op in TABLE_OPS), None) if creator else None
    if node is None:
        return None
    if creator is not None and node.op in _MUTABLE:
        unused = [_constant_input(creator, reference) for reference in data_inputs(node)]
        read = _checkpoint_reader(resource.name, checkpoint, unused)
    else:

        def read() -> tuple[NDArray[Any], NDArray[Any]]:
            initializer = functions.get(resource.initializer or "")
            if initializer is None:
                raise SavedModelError(f"table {resource.name!r} has no function that fills it")
            arguments = [arg.name for arg in initializer.signature.input_arg]
            given = dict(zip(arguments, captures(initializer.signature.name), strict=False))
            nodes = TableNodes(Nodes.of(initializer.node_def), registry, given)
            filling = next((node for node in initializer.node_def if node.op in _FROM_TENSORS | _FROM_FILE), None)
            if filling is None:
                raise SavedModelError(f"table {resource.name!r} is filled by ops that are not known")
            return nodes.entries(filling, resource.name)

    where = f"table {resource.name!r}"
    return Table(
        node_id=resource.node_id,
        name=resource.name,
        key_dtype=DataType.from_proto(registry.attribute(node, "key_dtype").type, where),
        value_dtype=DataType.from_proto(registry.attribute(node, "value_dtype").type, where),
        _read=read,
    )


def _constant_input(function: FunctionDef, reference: str) -> NDArray[Any]:
    name = node_of(reference)
    value = constant_value(Nodes.of(function.node_def).get(name), name)
    if value is None:
        raise SavedModelError(f"the input {name!r} of a table is not constant", where=function.signature.name)
    return value


def _checkpoint_reader(
    name: str, checkpoint: Callable[[], tuple[TensorBundle, str] | None], unused: Sequence[NDArray[Any]]
) -> Callable[[], tuple[NDArray[Any], NDArray[Any]]]:
    """Returns the reader of a mutable table. A dense one is saved with all buckets; unused ones have reserved keys."""

    def read() -> tuple[NDArray[Any], NDArray[Any]]:
        place = checkpoint()
        if place is None:
            raise SavedModelError(f"table {name!r} has no entries in the checkpoint: it was never saved")
        bundle, key = place
        keys, values = bundle.read(f"{key}-keys"), bundle.read(f"{key}-values")
        if not unused:
            return keys, values
        if keys.ndim == 2 and keys.shape[1] == 1:
            keys, values = keys[:, 0], values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        free = {value for bucket in unused for value in bucket.ravel().tolist()}
        kept = [position for position, value in enumerate(keys.tolist()) if value not in free] if keys.ndim == 1 else []
        return keys[kept], values[kept]

    return read


class TableNodes(Record):
    """The nodes that create and fill tables.

    Attributes:
        nodes: The nodes by name.
        registry: The definitions of the ops.
        captures: The captures of the function that the nodes belong to, by the names of its arguments.
        assets: The files that the graph names, by the names of the nodes that hold their paths.
        folder: The folder with the files that a frozen graph names: that of its own file, symbolic links resolved.
    """

    nodes: Nodes
    registry: OpRegistry
    captures: Mapping[str, Capture] = field(default_factory=dict[str, "Capture"])
    assets: Mapping[str, Asset] = field(default_factory=dict[str, Asset])
    folder: Path | None = None

    def table(self, node: NodeDef, node_id: int) -> Table:
        """Returns the table that a node of the top-level graph creates."""
        where = f"table {node.name!r}"

        def read() -> tuple[NDArray[Any], NDArray[Any]]:
            for filling in self.nodes.values():
                fills = filling.op in _FROM_TENSORS | _FROM_FILE and filling.input
                if fills and node_of(filling.input[0]) == node.name:
                    return self.entries(filling, node.name)
            raise SavedModelError(
                f"{where} is filled by nothing in the graph",
                hint="Freezing leaves out what the outputs do not depend on. Name the op that fills the table among "
                "the outputs of the graph that is frozen (init_all_tables fills all), or convert the SavedModel.",
            )

        return Table(
            node_id=node_id,
            name=node.name,
            key_dtype=DataType.from_proto(self.registry.attribute(node, "key_dtype").type, where),
            value_dtype=DataType.from_proto(self.registry.attribute(node, "value_dtype").type, where),
            _read=read,
        )

    def entries(self, node: NodeDef, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Returns the keys and values with which a node fills a table.

        Raises:
            SavedModelError: They are computed by other ops, or the file does not contain them.
        """
        if len(node.input) < (3 if node.op in _FROM_TENSORS else 2):
            raise SavedModelError(f"{node.op} lacks inputs", where=f"node {node.name}")
        if node.op in _FROM_TENSORS:
            what = f"the entries of table {name!r}"
            return self.value(node.input[1], what), self.value(node.input[2], what)
        asset = self._asset(node.input[1], name)
        offset = self.registry.attribute(node, "offset").i if "offset" in self.registry.defaults(node.op) else 0
        lines = _lines(asset.read())[max(offset, 0) :]
        size = self.registry.attribute(node, "vocab_size").i
        if size >= 0:
            if len(lines) < size:
                raise SavedModelError(f"{asset.filename} has {len(lines)} lines, not {size}", where=f"table {name!r}")
            lines = lines[:size]
        types = self._dtypes(node, name)
        delimiter = self.registry.attribute(node, "delimiter").s or b"\t"
        where = f"table {name!r}, file {asset.filename}"
        if b"" in lines:
            raise SavedModelError(f"line {lines.index(b'') + 1} is empty", where=where)
        keys, values = (
            _column(lines, self.registry.attribute(node, attribute).i, delimiter, dtype, where)
            for attribute, dtype in zip(("key_index", "value_index"), types, strict=True)
        )
        return keys, values

    def _dtypes(self, node: NodeDef, name: str) -> tuple[DataType, DataType]:
        source = self.captures.get(node_of(node.input[0]))
        if isinstance(source, Table):
            return source.key_dtype, source.value_dtype
        maker = self.nodes.producer(node.input[0])
        if maker is None or maker.op not in TABLE_OPS:
            raise SavedModelError(f"what fills table {name!r} does not say which table it is")
        key, value = (self.registry.attribute(maker, attribute).type for attribute in ("key_dtype", "value_dtype"))
        return DataType.from_proto(key), DataType.from_proto(value)

    def value(self, reference: str, what: str) -> NDArray[Any]:
        """Returns the value of a tensor that is a constant or computed from constants.

        Raises:
            SavedModelError: It is neither.
        """
        source = self._source(reference)
        if isinstance(source, Constant):
            return source.read()
        if source is None or isinstance(source, (Asset, Table)):
            raise SavedModelError(f"{what} is not known: it is not constant")
        constant = constant_value(source, what)
        if constant is not None:
            return constant
        if source.op not in _COMPUTED:
            raise SavedModelError(f"{what} is not known: {source.op} computes it")
        operands = [self.value(operand, what) for operand in data_inputs(source)]
        try:
            return np.asarray(_COMPUTED[source.op](*operands, *self._dtype_of(source)))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise SavedModelError(f"{source.op} fails: {error}", where=f"node {source.name}") from None

    def _dtype_of(self, node: NodeDef) -> list[np.dtype[Any]]:
        """Returns the dtype that an attribute of an op sets, if it has one; at most one element."""
        names = [name for name in ("DstT", "out_type") if name in node.attr or name in self.registry.defaults(node.op)]
        return [DataType.from_proto(self.registry.attribute(node, name).type).to_numpy() for name in names]

    def _asset(self, reference: str, name: str) -> Asset:
        source = self._source(reference)
        if isinstance(source, Asset):
            return source
        if self.folder is not None:
            return self._file(self.folder, reference, name)
        raise SavedModelError(
            f"the file that fills table {name!r} is not one of the model's assets",
            hint="Save the model with it among the assets, or fill the table from constants.",
        )

    def _file(self, folder: Path, reference: str, name: str) -> Asset:
        """Finds the file that a frozen graph names by its path on the machine that wrote the graph.

        The file is searched only inside the graph's folder: at its path if that lies there, otherwise by its name.
        """
        path = self.value(reference, f"the file that fills table {name!r}")
        if path.dtype != np.object_ or path.size != 1:
            raise SavedModelError(f"the file that fills table {name!r} has no path")
        named = PurePath(os.fsdecode(path.item()))
        own = named.relative_to(folder).as_posix() if named.is_relative_to(folder) else PureWindowsPath(named).name
        asset = Asset(-1, own, folder, assets="")
        if not asset.path.exists():
            raise SavedModelError(
                f"the file {str(named)!r} that fills table {name!r} is not beside the graph",
                hint=f"Put {own} into the folder {folder}.",
            )
        return asset

    def _source(self, reference: str) -> Constant | Asset | Table | NodeDef | None:
        """Returns the origin of a tensor, looking through ops that forward it."""
        for _ in range(len(self.nodes) + 1):
            name = node_of(reference)
            if name in self.assets:
                return self.assets[name]
            captured = self.captures.get(name)
            if isinstance(captured, (Constant, Asset, Table)):
                return captured
            node = self.nodes.get(name)
            if node is None or node.op not in {"Identity", "PlaceholderWithDefault"} or not node.input:
                return node
            reference = node.input[0]
        return None


def _lines(data: bytes) -> list[bytes]:
    """Splits a text file into lines as TensorFlow does: no carriage returns, no line after the last line feed."""
    lines = data.replace(b"\r", b"").split(b"\n")
    return lines if lines[-1] else lines[:-1]


def _column(lines: Sequence[bytes], index: int, delimiter: bytes, dtype: DataType, where: str) -> NDArray[Any]:
    if index == _LINE_NUMBER:
        return np.arange(len(lines), dtype=dtype.to_numpy())
    if index == _WHOLE_LINE:
        cells = list(lines)
    elif index < 0:
        raise SavedModelError(f"column {index} is missing", where=where)
    else:
        rows = [line.split(delimiter) for line in lines]
        for number, row in enumerate(rows):
            if index >= len(row):
                raise SavedModelError(f"line {number + 1} has no column {index}", where=where)
        cells = [row[index] for row in rows]
    if dtype == DataType.STRING:
        strings = np.empty(len(cells), np.object_)
        strings[:] = cells
        return strings
    try:
        return np.array(
            [float(cell) if dtype.to_numpy().kind == "f" else int(cell) for cell in cells], dtype.to_numpy()
        )
    except (ValueError, OverflowError) as error:
        raise SavedModelError(f"not a {dtype}: {error}", where=where) from None
