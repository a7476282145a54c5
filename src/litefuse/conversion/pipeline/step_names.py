"""The names of the steps of a conversion."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from litefuse.conversion.pipeline import deferred
from litefuse.conversion.pipeline.before_fusion import constant_variables, explicit_state
from litefuse.conversion.pipeline.lowering import (
    Lowering,
    State,
    after_engine,
    before_engine,
    dense_lists,
    initial_state,
)
from litefuse.conversion.pipeline.steps import INLINE, LOWER, REMOVE_UNUSED
from litefuse.errors import LitefuseError
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.fusions.recognizers.recognize import RecognizeComposites
from litefuse.ir.mlir import ir
from litefuse.ir.passes import Pass
from litefuse.ir.shapes.call_types import SetInputShapes
from litefuse.ir.shapes.forward_values import ForwardValues
from litefuse.litert.targets import OWN, traits_of
from litefuse.passes.fake_quantization.pairs import NodesFound
from litefuse.passes.simplify.simplify import Simplify
from litefuse.passes.weights import Weights
from litefuse.support.options.names import closest


def module_steps() -> tuple[str, ...]:
    """Returns the names of all steps that the index of a dump lists, in the order of their first times.

    Most conversions have only some of them.
    """
    return tuple(dict.fromkeys(_names()))


def check_step_names(names: Collection[str]) -> None:
    """Checks that there are steps of these names.

    Raises:
        LitefuseError: There is none of a name; the message lists those that there are.
    """
    known = module_steps()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise LitefuseError(
            f"unknown pass {', '.join(map(repr, unknown))}",
            hint=f"{closest(unknown, known)}The passes, in order: {', '.join(known)}.",
        )


def _names() -> Iterable[str]:
    # Not for a conversion: only the order and the classes of the passes count.
    lowering = Lowering(
        (),
        State(_no_value, {}),
        Weights(0, lambda: None),
        fake_quantization=NodesFound(),
        target=traits_of(tuple(OWN)),  # has the passes that any target needs
        unrolled=[],
    )
    yield from ("read", "import", SetInputShapes.name, deferred.WithholdChosenOps.name)
    yield from _of(explicit_state())
    yield REMOVE_UNUSED
    yield from _of(constant_variables(_no_value, []))
    yield from (RecognizeComposites.name, FuseComposites.name)
    yield from _of(initial_state(lowering))
    yield from (INLINE, ForwardValues.name, Simplify.name, deferred.FoldBranches.name)
    yield from _of(dense_lists())
    yield deferred.NameLayers.name
    yield from _of(before_engine(lowering))
    yield LOWER
    yield from _of(after_engine(lowering))
    yield from (deferred.NegateFactors.name, "write", "quantize")  # the first not for all targets


def _no_value(name: str) -> ir.Attribute:
    raise LookupError(name)  # the passes do not run


def _of(passes: Iterable[Pass]) -> list[str]:
    return [pass_.name for pass_ in passes]
