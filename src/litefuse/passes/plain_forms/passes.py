"""The order of the passes that give ops the forms of a target."""

from __future__ import annotations

from litefuse.ir.passes import Pass
from litefuse.litert.targets import TargetTraits
from litefuse.passes.plain_forms.equal_ops import EmitEqualOps, UnpackReversals
from litefuse.passes.plain_forms.low_ranks import LowerRanks
from litefuse.passes.plain_forms.plain_operands import FlattenIds, PlainOperands
from litefuse.passes.plain_forms.plain_slices import PlainSlices
from litefuse.passes.plain_forms.reshapes import JoinReshapes


def plain_forms(target: TargetTraits) -> list[Pass]:
    """Returns the passes that give ops the forms that a target takes, where it does not take them all."""
    others: list[Pass] = [
        *([UnpackReversals()] if "REVERSE_V2" in target.avoided else []),
        *([EmitEqualOps(target.avoided)] if target.avoided else []),
    ]
    lower: list[Pass] = [
        *([FlattenIds()] if target.flat_ids else []),
        *([] if target.shrinks_axes else [PlainSlices()]),
        *([PlainOperands()] if target.plain_operands else []),
        *([] if target.max_rank is None else [LowerRanks(target.max_rank)]),
    ]
    return [*others, *lower, *([JoinReshapes()] if lower else [])]  # each of the lower forms adds reshapes
