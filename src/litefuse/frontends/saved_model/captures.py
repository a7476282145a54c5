"""Captures of a function: the objects behind the arguments that follow its explicit ones."""

from __future__ import annotations

import mmap
import sys
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from litefuse.errors import CheckpointError, SavedModelError
from litefuse.frontends.saved_model.regular_file import file_name, read_regular
from litefuse.frontends.saved_model.tensor_proto import tensor_value
from litefuse.support.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from litefuse.frontends.saved_model.dtypes import DataType, Shape
    from litefuse.frontends.saved_model.messages import TensorProto
    from litefuse.frontends.saved_model.tensor_bundle import Storage, TensorBundle


class Variable(Record):
    """A ``tf.Variable``. Its value stays in the checkpoint until it is read.

    Attributes:
        node_id: Its node in the object graph; the lowest one if several share a checkpoint key.
        name: A readable name, unique in the SavedModel: the path of attributes to it (``encoder.dense.kernel``), or the
            name it was created with if every path goes through private attributes or ends in a list.
        shared_name: Its own name, such as ``dense/kernel``; may be empty, may repeat.
        dtype: The element type.
        shape: The declared shape; dimensions may be unknown even though the value's shape never is.
        trainable: Whether it was declared trainable.
        checkpoint_key: The key of its value, None if it was saved without one.
        extent: Its slice of the checkpoint's tensor: start and length in each dimension, None for a whole dimension;
            None if it is the whole tensor.
        conversion: Computes its value from the checkpoint's; None if they are equal.
        initial: The value that replaces the checkpoint's if the model sets the variable when it is loaded.
    """

    node_id: int
    name: str
    shared_name: str
    dtype: DataType
    shape: Shape | None
    trainable: bool
    checkpoint_key: str | None
    _bundle: TensorBundle | None = field(repr=False, compare=False)
    extent: tuple[tuple[int, int] | None, ...] | None = None
    conversion: Callable[[NDArray[Any]], NDArray[Any]] | None = field(default=None, repr=False, compare=False)
    initial: NDArray[Any] | None = field(default=None, repr=False, compare=False)

    @property
    def has_value(self) -> bool:
        return self.initial is not None or self._is_saved

    @property
    def _is_saved(self) -> bool:
        return self._bundle is not None and self.checkpoint_key is not None and self.checkpoint_key in self._bundle

    @property
    def is_partitioned(self) -> bool:
        """Whether the checkpoint holds it in slices, which :meth:`read` has to concatenate."""
        return (
            self.initial is None
            and self._is_saved
            and bool(self._value_bundle().entry(self.checkpoint_key or "").slices)
        )

    def storage(self) -> Storage | None:
        """Returns where its raw bytes are stored; None if they are not contiguous or not its value (slices, strings).

        Raises:
            CheckpointError: It has no value, or the checkpoint is damaged.
        """
        return (
            None
            if self.extent or self.conversion or self.initial is not None
            else self._value_bundle().storage(self.checkpoint_key or "")
        )

    def read(self, *, verify: bool = True) -> NDArray[Any]:
        """Returns its value: a read-only, perhaps unaligned view of the mapped checkpoint, unless it is converted.

        Args:
            verify: Compare the bytes with the checkpoint's checksum.

        Raises:
            CheckpointError: It has no value, the checkpoint is damaged, or the value is not of the declared type and
                shape.
        """
        value = self.initial
        if value is None:
            value = self._value_bundle().read(self.checkpoint_key or "", verify=verify)
        if self.initial is None and self.extent is not None:
            value = value[tuple(slice(None) if part is None else slice(part[0], sum(part)) for part in self.extent)]
        if self.conversion is not None:
            value = _converted(value, self.conversion)
        if value.dtype != self.dtype.to_numpy() or not _is_of_shape(value.shape, self.shape):
            actual = f"{value.dtype} {list(value.shape)}"
            holds = "the checkpoint holds" if self.initial is None else "the model sets it to"
            raise self._error(f"it was declared as {self.dtype} {self.shape}, but {holds} {actual}")
        return value

    def release(self) -> None:
        """Lets the system reclaim the memory of the mapped checkpoint; later reads load it again."""
        if self._bundle is not None:
            self._bundle.release()

    def _value_bundle(self) -> TensorBundle:
        if self._bundle is None or not self._is_saved:
            raise self._error(
                "it has no value in the checkpoint: it was never saved",
                hint="Save the model again with this variable among the attributes of the saved object.",
            )
        return self._bundle

    def _error(self, message: str, hint: str = "") -> CheckpointError:
        return CheckpointError(f"variable {self.name!r}: {message}", where=f"object {self.node_id}", hint=hint)


class Constant(Record):
    """A tensor that a function captured.

    Attributes:
        node_id: Its node in the object graph.
        name: The name of its ``Const`` node in the top-level graph.
        dtype: The element type.
        shape: The shape.
        tensor: Its value as saved.
    """

    node_id: int
    name: str
    dtype: DataType
    shape: tuple[int, ...]
    tensor: TensorProto = field(repr=False, compare=False)

    def read(self) -> NDArray[Any]:
        """Returns its value, read-only; bytes objects for strings.

        Raises:
            SavedModelError: Its data does not match its type and shape.
        """
        return tensor_value(self.tensor, f"constant {self.name!r}")


class Asset(Record):
    """A file that belongs to the model, captured as a string tensor with its path.

    Attributes:
        node_id: Its node in the object graph.
        filename: Its name in the folder of assets.
        folder: The SavedModel's folder, or the one of a frozen graph's file, symbolic links resolved.
        assets: The subfolder with the assets; empty if they are in the folder itself.
    """

    node_id: int
    filename: str
    folder: Path = field(repr=False)
    assets: str = "assets"

    @property
    def path(self) -> Path:
        """The file's path; it lies inside the folder."""
        return self.folder / self.assets / file_name(self.filename)

    def read(self) -> bytes:
        """Returns the file's contents.

        Raises:
            SavedModelError: It is missing, not a regular file, or not inside the folder.
        """
        return read_regular(self.folder, f"{self.assets}/{self.filename}" if self.assets else self.filename)


class ResourceObject(Record):
    """A resource other than a variable or a file, such as a hash table.

    Attributes:
        node_id: Its node in the object graph.
        name: The path of attributes to it.
        kind: The node's kind in the object graph: ``resource``, ``captured_tensor``, ``user_object``.
        registered_name: The registered name of its class, such as ``tf.StaticHashTable``; may be empty.
        functions: The names of the functions that belong to it, by attribute.
    """

    node_id: int
    name: str
    kind: str
    registered_name: str
    functions: Mapping[str, str] = field(compare=False)

    @property
    def creator(self) -> str | None:
        """The function that creates the resource and returns its handle, or None."""
        return self.functions.get("_create_resource")

    @property
    def initializer(self) -> str | None:
        """The function that fills it (see :meth:`SavedModel.captures` for its arguments), or None."""
        return self.functions.get("_initialize")


class Table(Record):
    """A hash table.

    Attributes:
        node_id: A number that is unique among the model's captures.
        name: The path of attributes to it, or the name of the node that creates it; may repeat.
        key_dtype: The keys' type.
        value_dtype: The values' type.
    """

    node_id: int
    name: str
    key_dtype: DataType
    value_dtype: DataType
    _read: Callable[[], tuple[NDArray[Any], NDArray[Any]]] = field(repr=False, compare=False)

    def read(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Returns its initial entries: keys ``[n]`` and values ``[n, ...]``, each key once.

        Raises:
            SavedModelError: They cannot be determined, or are not those of a table.
            CheckpointError: The checkpoint is damaged.
        """
        keys, values = self._read()
        where = f"table {self.name!r}"
        if keys.ndim != 1 or not values.ndim or len(values) != len(keys):
            raise SavedModelError(f"keys {list(keys.shape)} and values {list(values.shape)} do not match", where=where)
        for what, array, dtype in (("keys", keys, self.key_dtype), ("values", values, self.value_dtype)):
            if array.dtype != dtype.to_numpy():
                raise SavedModelError(f"its {what} are {array.dtype}, not {dtype}", where=where)
        first: dict[Any, int] = {}
        for position, key in enumerate(keys.tolist()):
            known = first.setdefault(key, position)
            if known != position and not np.array_equal(values[known], values[position]):
                raise SavedModelError(f"it has two values for the key {key!r}", where=where)
        kept = sorted(first.values())
        return keys[kept], values[kept]


Capture: TypeAlias = Variable | Constant | Asset | Table | ResourceObject
"""The object behind one captured argument of a function."""


# The elements that are converted at a time; a larger value is put into a file.
_BLOCK = 1 << 20


def _converted(value: NDArray[Any], convert: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """Converts a value; a large one block by block, so that it is mapped, as what is not converted."""
    if value.size <= _BLOCK or sys.platform == "win32":
        return convert(value)
    from litefuse.support.files.temporary import make_temporary_file

    flat, dtype = value.reshape(-1), value.dtype
    with make_temporary_file() as file:
        for start in range(0, flat.size, _BLOCK):
            block = convert(flat[start : start + _BLOCK])
            file.write(block.data)
            dtype = block.dtype
        file.flush()
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(content, dtype).reshape(value.shape)


def _is_of_shape(shape: tuple[int, ...], declared: Shape | None) -> bool:
    if declared is None:
        return True
    return len(shape) == len(declared) and all(d is None or d == s for s, d in zip(shape, declared, strict=True))
