"""The op definitions of TensorFlow and TensorFlow Text, shipped with litefuse, and what they say of side effects.

A SavedModel strips attributes that equal their op's default, and need not list all ops of its functions. So importing a
function takes the definitions of all ops. They were dumped from TensorFlow by ``scripts/dump_op_registry.py``.
"""

from __future__ import annotations

import functools
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.messages import AttrValue, OpDef, OpRegistryFile
from litefuse.support.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from litefuse.frontends.saved_model.messages import NodeDef

_MAX_OUTPUTS = 2**16


def node_outputs(
    node: NodeDef, definition: OpDef, attribute: Callable[[NodeDef, str], AttrValue]
) -> list[tuple[str, list[int]]]:
    """Returns the names of a node's outputs, each with the element types of its tensors.

    Args:
        node: The node.
        definition: The definition of its op, or the signature of the function that it calls.
        attribute: Looks up an attribute of the node, or its default.

    Raises:
        SavedModelError: There are too many outputs.
    """
    outputs: list[tuple[str, list[int]]] = []
    for output in definition.output_arg:
        if output.type_list_attr:
            outputs.append((output.name, list(attribute(node, output.type_list_attr).list.type)))
            continue
        dtype = attribute(node, output.type_attr).type if output.type_attr else output.type
        count = attribute(node, output.number_attr).i if output.number_attr else 1
        if count > _MAX_OUTPUTS:
            raise SavedModelError(f"an op cannot have {count} outputs", where=f"node {node.name} ({node.op})")
        outputs.append((output.name, [dtype] * count))
    return outputs


def input_count(node: NodeDef, definition: OpDef, attribute: Callable[[NodeDef, str], AttrValue]) -> int:
    """Returns how many data inputs a node must have; see :func:`node_outputs` for the arguments."""
    count = 0
    for arg in definition.input_arg:
        if arg.type_list_attr:
            count += len(attribute(node, arg.type_list_attr).list.type)
        else:
            count += attribute(node, arg.number_attr).i if arg.number_attr else 1
    return count


def input_dtypes(
    node: NodeDef, definition: OpDef, attribute: Callable[[NodeDef, str], AttrValue]
) -> list[tuple[str, int]]:
    """Returns the name and element type of each data input of a node whose :func:`input_count` has been checked."""
    inputs: list[tuple[str, int]] = []
    for arg in definition.input_arg:
        if arg.type_list_attr:
            inputs += [(arg.name, dtype) for dtype in attribute(node, arg.type_list_attr).list.type]
            continue
        dtype = attribute(node, arg.type_attr).type if arg.type_attr else arg.type
        inputs += [(arg.name, dtype)] * (attribute(node, arg.number_attr).i if arg.number_attr else 1)
    return inputs


class OpRegistry(Record):
    """Op definitions by name.

    Attributes:
        tensorflow_version: The TensorFlow release that the definitions were taken from.
    """

    tensorflow_version: str
    _serialized: Mapping[str, bytes] = field(repr=False)  # parsed on demand, since most are never used
    _ops: dict[str, OpDef] = field(default_factory=dict[str, OpDef], repr=False)
    _defaults: dict[str, dict[str, AttrValue]] = field(default_factory=dict[str, dict[str, AttrValue]], repr=False)

    def get(self, name: str) -> OpDef | None:
        """Returns the definition of an op, or None if TensorFlow has no op of that name."""
        op = self._ops.get(name)
        if op is None and name in self._serialized:
            op = self._ops[name] = OpDef.FromString(self._serialized[name])
        return op

    def defaults(self, name: str) -> dict[str, AttrValue]:
        """Returns the defaults of an op's attributes; empty for an unknown op."""
        defaults = self._defaults.get(name)
        if defaults is None:
            op = self.get(name)
            attrs = op.attr if op else ()
            defaults = {attr.name: attr.default_value for attr in attrs if attr.HasField("default_value")}
            self._defaults[name] = defaults
        return defaults

    def attribute(self, node: NodeDef, name: str) -> AttrValue:
        """Returns a node's attribute, or the default from its op.

        Raises:
            SavedModelError: It has neither.
        """
        if name in node.attr:
            return node.attr[name]
        default = self.defaults(node.op).get(name)
        if default is None:
            raise SavedModelError(f"the attribute {name!r} is missing", where=f"node {node.name} ({node.op})")
        return default

    def outputs(self, node: NodeDef) -> list[tuple[str, list[int]]]:
        """Returns the names of a node's outputs, each with the element types of its tensors; none for an unknown op.

        Raises:
            SavedModelError: An attribute that determines them is missing or out of range.
        """
        definition = self.get(node.op)
        return node_outputs(node, definition, self.attribute) if definition else []

    def with_others(self, definitions: Iterable[OpDef]) -> OpRegistry:
        """Returns a registry with additional definitions, for ops that are not yet in it.

        A SavedModel contains the definitions of ops from other libraries, such as TensorFlow Addons, that were loaded
        in the process that wrote it.
        """
        others = {op.name: op.SerializeToString() for op in definitions if op.name not in self._serialized}
        if not others:
            return self
        return OpRegistry(self.tensorflow_version, {**self._serialized, **others}, dict(self._ops))

    def __contains__(self, name: object) -> bool:
        return name in self._serialized

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._serialized))

    def __len__(self) -> int:
        return len(self._serialized)


@functools.cache
def op_registry() -> OpRegistry:
    """Returns the registry; it is read from the package's data on the first call (a millisecond)."""
    data = Path(__file__).with_name("op_registry.binpb").read_bytes()
    file = OpRegistryFile.FromString(data)
    return OpRegistry(file.tensorflow_version, file.ops)


class Statefulness(Enum):
    """The inputs of an op besides its operands, and its effects besides its results."""

    PURE = "nothing else: it may be computed twice, elsewhere, together with another like it, or not at all"
    READING = "on what others write, and it leaves nothing behind: it may be computed twice at one moment"
    VARYING = "on chance, or on what no other op sees: it is to be computed once, or not at all"
    STATEFUL = "it may leave behind anything: it is to be computed once"


# Stateful by their definitions, which keeps TensorFlow from folding or dropping them; they only compute.
_PURE = frozenset(
    {
        "CheckNumerics",  # its operand, or an error
        "Empty",  # which values there are is not defined
        "GuaranteeConst",  # its operand
    }
)
# Stateful by their operand or result, which is a resource: they read it, or say which one it is.
_READING = frozenset(
    {
        *("LookupTableExport", "LookupTableExportV2", "LookupTableFind", "LookupTableFindV2"),
        *("LookupTableSize", "LookupTableSizeV2", "WordpieceTokenizeWithOffsets"),
        *("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VarIsInitializedOp", "VariableShape"),
        *("HashTable", "HashTableV2", "MutableDenseHashTableV2", "MutableHashTableV2", "VarHandleOp"),
    }
)
# The attributes of ops that draw random numbers.
_SEEDS = frozenset({"seed", "seed2"})


def statefulness_of(definition: OpDef) -> Statefulness:
    """The statefulness of an op.

    That of one that runs functions is theirs: TensorFlow calls it stateful or gives it another name if they are. So it
    does with an operand that is a resource. A reference to a variable it does not count.
    """
    if definition.name in _PURE:
        return Statefulness.PURE
    if definition.name in _READING:
        return Statefulness.READING
    if definition.is_stateful:
        return Statefulness.VARYING if {attr.name for attr in definition.attr} >= _SEEDS else Statefulness.STATEFUL
    return Statefulness.PURE
