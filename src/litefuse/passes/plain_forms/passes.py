"""The order of the passes that give ops the forms of a target."""

from __future__ import annotations

from litefuse.ir.passes import Pass
from litefuse.litert.targets import TargetTraits
from litefuse.passes.plain_forms.equal_ops import EmitEqualOps, unpack_reversals
from litefuse.passes.plain_forms.low_ranks import LowerRanks
from litefuse.passes.plain_forms.plain_operands import flatten_ids, plain_operands, plain_slices
from litefuse.passes.plain_forms.reshapes import join_reshapes


def plain_forms(target: TargetTraits) -> list[Pass]:
    """Returns the passes that give ops the forms that a target takes, where it does not take them all."""
    others: list[Pass] = [
        *([unpack_reversals] if "REVERSE_V2" in target.avoided else []),
        *([EmitEqualOps(target.avoided)] if target.avoided else []),
    ]
    lower: list[Pass] = [
        *([flatten_ids] if target.flat_ids else []),
        *([] if target.shrinks_axes else [plain_slices]),
        *([plain_operands] if target.plain_operands else []),
        *([] if target.max_rank is None else [LowerRanks(target.max_rank)]),
    ]
    return [*others, *lower, *([join_reshapes] if lower else [])]  # each of the lower forms adds reshapes
