"""Side effects and hidden inputs of TensorFlow ops, from their definitions in the op registry."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from litefuse.frontends.saved_model.messages import OpDef

__all__ = ["Statefulness", "statefulness_of"]


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
        return Statefulness.VARYING if {each.name for each in definition.attr} >= _SEEDS else Statefulness.STATEFUL
    return Statefulness.PURE
