"""Composites, as fusions see them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import TensorType, tensor_type_of

# The characters of an attribute's value that a notebook shows.
_SHOWN = 200


@dataclass(frozen=True, repr=False)
class Composite:
    """An annotated function, with the arguments for its replacement.

    ``args`` and ``result_types`` belong to the conversion, and end with it. The other attributes, and what a notebook
    shows, can be read afterwards.

    Attributes:
        name: The name in the annotation.
        attributes: The annotation's attributes as Python values: int, float, bool, str, lists of these; an attribute of
            another kind (type, shape, tensor, function) is the MLIR attribute itself.
        args: The arguments, including weights that are only read, as tensors with operators.
        result_types: The required types of the results.
        function: The function's symbol, for messages.
        body_ops: The names of the ops in the body, such as ``tf.Mul``, in its order; those of branches and loops that
            are functions of their own are not among them.
    """

    name: str
    attributes: Mapping[str, Any]
    args: Sequence[Tensor]
    result_types: Sequence[ir.Type]
    function: str
    body_ops: Sequence[str] = ()
    # Read at once: the bindings end the process that asks values whose module is gone.
    _arg_types: tuple[TensorType, ...] = field(init=False, compare=False)
    _result_types: tuple[TensorType, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_arg_types", tuple(map(tensor_type_of, self.args)))
        object.__setattr__(self, "_result_types", tuple(map(tensor_type_of, self.result_types)))

    @property
    def arg_types(self) -> list[TensorType]:
        """Dtypes and shapes of the arguments."""
        return [*self._arg_types]

    @property
    def result_tensor_types(self) -> list[TensorType]:
        """Dtypes and shapes of the results."""
        return [*self._result_types]

    def __repr__(self) -> str:
        args, results = (", ".join(map(str, types)) for types in (self._arg_types, self._result_types))
        return f"<Composite {self.name}({args}) -> ({results}), function {self.function}>"

    def _repr_html_(self) -> str:
        from litefuse.support.report.html import sections_html
        from litefuse.support.report.sections import Section, op_section

        rows = [("function", "", self.function)]
        rows += [("argument", str(index), str(kind)) for index, kind in enumerate(self._arg_types)]
        rows += [("result", str(index), str(kind)) for index, kind in enumerate(self._result_types)]
        for name, value in self.attributes.items():
            text = str(value) if isinstance(value, ir.Attribute) else repr(value)
            rows.append(("attribute", name, text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"))
        body = [op_section(Counter(self.body_ops), "Ops of its body")] if self.body_ops else []
        return sections_html([Section(f"Composite {self.name}", rows), *body])
