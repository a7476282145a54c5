"""Sets the names of input and output tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import ir


class NameTensors(NamedTuple):
    """Names the inputs and outputs of each exported function as TFLiteConverter does, after the TensorFlow graph.

    Signatures have names of their own; ``get_input_details()`` shows these.

    Attributes:
        names: For each exported function, the names of its arguments and of its results.
    """

    name = "name-tensors"
    names: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        for symbol, (inputs, outputs) in self.names.items():
            by_symbol[symbol].attributes["tf.entry_function"] = ir.DictAttr.get(
                {"inputs": ir.StringAttr.get(",".join(inputs)), "outputs": ir.StringAttr.get(",".join(outputs))}
            )
        return bool(self.names)
