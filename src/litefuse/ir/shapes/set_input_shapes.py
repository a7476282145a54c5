"""Sets the shapes of inputs that the user requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from litefuse.ir.call_graph import functions, update_function_type
from litefuse.ir.mlir import ir
from litefuse.ir.types import ranked_type, shape_of
from litefuse.support.options.input_shapes import InputShapes

__all__ = ["SetInputShapes"]


@dataclass(frozen=True)
class SetInputShapes:
    """Gives the arguments of exported functions the requested shapes; ``simplify`` does the rest.

    Attributes:
        requested: The shapes.
        inputs: The names of each exported function's arguments, by its symbol.

    Raises:
        SignatureError: A shape contradicts the declared one, or is for an unknown input.
    """

    name: ClassVar[str] = "set-input-shapes"
    requested: InputShapes
    inputs: Mapping[str, Sequence[str]]

    def run(self, module: ir.Module) -> bool:
        self.requested.check_names(self.inputs)
        by_symbol = functions(module)
        modified = False
        for symbol, names in self.inputs.items():
            function = by_symbol[symbol]
            for argument, name in zip(function.entry_block.arguments, names, strict=True):
                kind = ir.ShapedType(argument.type)
                declared = shape_of(kind)
                shape = self.requested.of_input(symbol, name, declared)
                if shape is not None and shape != declared:
                    argument.set_type(ranked_type(shape, kind.element_type))
                    modified = True
            update_function_type(function)
        return modified
