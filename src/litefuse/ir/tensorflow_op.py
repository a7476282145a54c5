"""TensorFlow ops, as their decompositions see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.ir.ops.dims import Shape
    from litefuse.ir.tensors import Tensor
    from litefuse.ir.types import TensorType


class NotDecomposed(Exception):  # noqa: N818  not an error: the next form of the op is tried
    """A decomposition does not apply; the message is the reason, for the report."""


class TensorFlowOp(NamedTuple):
    """An op, as its decomposition sees it.

    Attributes:
        name: The op's name, such as ``Cross``.
        attributes: Its attributes as Python values; types are MLIR attributes.
        operands: Its operands.
        types: The operands' dtypes and shapes.
        constants: The operands' values if they are small constants, else None.
        results: The results' dtypes and shapes, as the model declares them.
        readers: The names of the ops that use its results, with dialect.
    """

    name: str
    attributes: Mapping[str, Any]
    operands: Sequence[Tensor]
    types: Sequence[TensorType]
    constants: Sequence[npt.NDArray[Any] | None]
    results: Sequence[TensorType]
    readers: frozenset[str] = frozenset()

    def shape(self, operand: int, *ranks: int) -> Shape:
        """Returns an operand's shape.

        Args:
            operand: The operand's index.
            *ranks: The allowed ranks; any if none are given.

        Raises:
            NotDecomposed: The rank is unknown or not allowed.
        """
        shape = self.types[operand].shape
        if shape is None:
            raise NotDecomposed(f"operand {operand} is of unknown rank")
        if ranks and len(shape) not in ranks:
            raise NotDecomposed(f"operand {operand} is of rank {len(shape)}, not {' or '.join(map(str, ranks))}")
        return shape

    def constant(self, operand: int) -> npt.NDArray[Any]:
        """Returns a constant operand's value.

        Raises:
            NotDecomposed: It is not known.
        """
        value = self.constants[operand]
        if value is None:
            raise NotDecomposed(f"operand {operand} is not a constant")
        return value

    def axis(self, operand: int, rank: int) -> int:
        """Returns a constant operand that is an axis of a tensor of some rank, counted from the front.

        Raises:
            NotDecomposed: It is not known, or not an axis.
        """
        axis = int(self.constant(operand))
        if not -rank <= axis < rank:
            raise NotDecomposed(f"{axis} is not an axis of rank {rank}")
        return axis % rank

    def require(self, operand: int, *dtypes: str) -> None:
        """Checks that an operand has one of these dtypes.

        Raises:
            NotDecomposed: It has another dtype.
        """
        if self.types[operand].dtype not in dtypes:
            raise NotDecomposed(f"LiteRT's ops for it take {', '.join(dtypes)}, not {self.types[operand].dtype}")
