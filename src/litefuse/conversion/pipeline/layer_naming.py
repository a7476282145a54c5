"""Names layers in a conversion: which become composites, and what the report says of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field, replace
from typing import TYPE_CHECKING

from litefuse.conversion.pipeline import deferred
from litefuse.conversion.pipeline.composites import as_lowered, composite_reports
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.fusions.composites.outcome import Check, CheckTerms, Outcome
from litefuse.fusions.fusion import find_fusion
from litefuse.fusions.recognizers.layers.index import LAYER_COMPOSITES
from litefuse.ir.call_graph import all_operations
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import func, ir
from litefuse.ir.passes import Pass
from litefuse.ir.types import tensor_type_of
from litefuse.litert.targets import TargetTraits
from litefuse.support import report as reports
from litefuse.support.options.forms import CompositeForms, RequiredComposites
from litefuse.support.records import Record
from litefuse.support.report import CompositeReport

if TYPE_CHECKING:
    from litefuse.fusions.recognizers.layers.layer import Layer, NearMiss

# Of the results of a layer and of its definition, relative to the largest: a root's argument may be rounded.
_TOLERANCE = 1e-4
_OF_SMALL_FLOATS = 2e-2

# The layers of which the engine makes the builtin GELU, and what they are then.
_WITH_GELU = {"GELU": "GELU", "GeGLU": "GELU, MUL"}


class LayerNaming(Record):
    """The naming of layers in one conversion.

    Attributes:
        forms: The forms of composites: layers become one if a form was chosen for its name, other than ``inline``.
        target: What the target of the file can run: layers become the composites that it takes, if nothing was chosen.
        only_cpu: Whether the CPU is the only target.
        required: The composites that have to be fused.
        check: Compares layers with their definitions, and fusions with layers; None for no comparison.
    """

    forms: CompositeForms
    target: TargetTraits
    only_cpu: bool
    required: RequiredComposites
    check: Check | None
    _found: list[Layer] = field(default_factory=list["Layer"])
    _missed: list[NearMiss] = field(default_factory=list["NearMiss"])
    _outcomes: list[Outcome] = field(default_factory=list[Outcome])

    def passes(self) -> list[Pass]:
        """Returns the passes that name layers and replace those that become something else; none if nobody asks for it.

        They take some 3 to 7 % of a conversion's time, and change no file unless a form is chosen: with the target
        ``cpu``, which takes no composites, layers are named only if a form is chosen for one, or a fusion there.
        """
        names = LAYER_COMPOSITES
        chosen = any(self.forms.names(name) or name in self.required or find_fusion(name) for name in names)
        if self.only_cpu and not chosen:
            return []
        kept = {name: "keep" for name in self.target.composites if not self.forms.names(name)}
        forms = replace(self.forms, by_name={**self.forms.by_name, **kept})

        def wanted(name: str) -> bool:
            # A form for all composites is for those that the model's author marked.
            return forms[name] != "inline" and (
                forms.names(name) or name in self.required or find_fusion(name) is not None
            )

        return [
            deferred.NameLayers(self._found, self._missed, wanted, None if self.check is None else self._difference),
            FuseComposites(self._outcomes, self.check, forms=forms),
        ]

    def _difference(self, module: ir.Module, layer: func.FuncOp, definition: func.FuncOp) -> str | None:
        assert self.check is not None
        kinds = [tensor_type_of(kind).dtype for kind in (*layer.type.inputs, *layer.type.results)]
        tolerance = _OF_SMALL_FLOATS if {"float16", "bfloat16"} & {*kinds} else _TOLERANCE
        return self.check(module, layer, definition, CheckTerms(tolerance)).problem

    def composites(self, lowered: ir.Module) -> tuple[CompositeReport, ...]:
        """Returns the entries of the layers that became composites.

        Args:
            lowered: The module, of LiteRT's ops.
        """
        return composite_reports(as_lowered(self._outcomes, lowered))

    def layers(self, lowered: ir.Module) -> tuple[reports.LayerReport, ...]:
        """Returns an entry for each layer.

        Args:
            lowered: The module, of LiteRT's ops.
        """
        fused = {(outcome.name, outcome.function): outcome for outcome in as_lowered(self._outcomes, lowered)}
        inlined = any(layer.kind in _WITH_GELU and not layer.outlined for layer in self._found)
        gelus = _gelu_nodes(lowered) if inlined else frozenset[str]()
        return tuple(
            reports.LayerReport(layer.name, layer.kind, layer.place, _became(layer, fused, gelus))
            for layer in self._found
        )

    def near_layers(self) -> tuple[reports.NearLayerReport, ...]:
        """Returns an entry for each computation that is nearly a layer."""
        return tuple(reports.NearLayerReport(miss.kind, miss.place, miss.reason) for miss in self._missed)


def _gelu_nodes(lowered: ir.Module) -> frozenset[str]:
    """Returns the nodes that the engine made the builtin GELU of."""
    names = [node_name(op.location).split(";") for op in all_operations(lowered) if op.name == "tfl.gelu"]
    return frozenset[str]().union(*names)


def _became(layer: Layer, outcomes: dict[tuple[str, str], Outcome], gelus: Collection[str]) -> str:
    if layer.problem is not None:
        return f"inlined: {layer.problem}"
    if not layer.outlined:
        return _WITH_GELU[layer.kind] if layer.kind in _WITH_GELU and layer.core in gelus else "inlined"
    outcome = outcomes.get((layer.name, layer.node))
    if outcome is None or outcome.kind == "inlined":
        return "inlined" if outcome is None else f"inlined: {outcome.reason}"
    return (outcome.fused_into or "").removesuffix(f" {layer.name}")
