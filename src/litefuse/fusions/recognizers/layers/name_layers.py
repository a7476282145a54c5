"""The pass that finds the layers that litefuse knows, and makes composites of those that are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from litefuse.fusions.recognizers.layers.index import FINDERS, FinderEntry
from litefuse.ir.annotations import read_annotation
from litefuse.ir.call_graph import called_by, functions, operations
from litefuse.ir.mlir import ir

if TYPE_CHECKING:
    from litefuse.fusions.recognizers.layers.layer import Layer, NearMiss
    from litefuse.fusions.recognizers.layers.naming import Compare


class NameLayers(NamedTuple):
    """Finds layers by what is computed; outlines those that are wanted into annotated functions::

        %m = tf.Mean(%x ** 2, -1)                             %y = call @norm(%x, %scale)
        %y = %x * tf.Rsqrt(%m + 1e-6) * %scale          -->   func @norm attributes {tf._implements = "odml.rms_norm"}

    All others stay as they are: the module does not change. Before a layer is outlined, its ops are compared with its
    definition, in the runtime.

    Attributes:
        layers: Filled with one entry for each layer.
        missed: Filled with what is nearly a layer.
        wanted: Whether layers become composites of a name.
        compare: Compares the ops of a layer with its definition; None for no comparison.
        entries: What finds the layers, in this order.
    """

    name = "name-layers"
    layers: list[Layer]
    missed: list[NearMiss]
    wanted: Callable[[str], bool] = lambda _: False
    compare: Compare | None = None
    entries: Sequence[FinderEntry] = FINDERS

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        bodies = called_by(by_symbol, "tfl.custom")  # of composites, which have a name already
        searched = [
            function
            for symbol, function in by_symbol.items()
            if symbol not in bodies and not function.is_external and read_annotation(function) is None
        ]
        anchors = frozenset[str]().union(*(entry.anchors for entry in self.entries))
        # Most models have none of some kinds, and do not need the code that finds them.
        with_anchors = [function for function in searched if any(op.name in anchors for op in operations(function))]
        if not with_anchors:
            return False
        from litefuse.fusions.recognizers.layers.naming import LayerSearch

        search = LayerSearch(self.entries, self.layers, self.missed, self.wanted, self.compare)
        outlined = [search.name_all(module, function) for function in with_anchors]
        return any(outlined)
