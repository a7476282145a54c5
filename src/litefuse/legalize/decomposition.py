"""How one TensorFlow op is rewritten into others, and how a rewriting says which ops it is for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir
    from litefuse.ir.tensorflow_op import TensorFlowOp

__all__ = ["Decomposition", "before_engine", "decomposition"]


class Decomposition:
    """An exact rewriting of a TensorFlow op into TensorFlow ops that LiteRT has.

    The decorators ``decomposition`` and ``before_engine`` say of which ops, and when; there is no other list of them.
    ``litefuse.legalize.index`` reads their arguments from the source: they are literals.
    """

    #: The ops that it rewrites after the engine.
    names: ClassVar[tuple[str, ...]] = ()

    #: Whether a kernel of litefuse is faster: then the op becomes a composite, and this its decomposition.
    composite: ClassVar[bool] = False

    #: Whether it computes a constant, which is nothing to report.
    folds: ClassVar[bool] = False

    def before_lowering(self, op: TensorFlowOp) -> bool:  # noqa: ARG002
        """Whether an op that ``before_engine`` describes must be rewritten before the engine sees it."""
        return True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value | Sequence[ir.Value]:
        """Builds the op's results with ``b``.

        Returns:
            The results, of the dtypes of ``op.results``; one value alone for one result.

        Raises:
            NotDecomposed: It does not apply.
        """
        raise NotImplementedError


_Class = TypeVar("_Class", bound=type[Decomposition])


class decomposition:  # noqa: N801  it is a decorator
    """Registers a ``Decomposition`` for ops that the engine leaves, because LiteRT lacks them or forms of them.

    Args:
        *ops: The ops' names.
        order: Of several for one op, those of a lower order are tried first, and the reason of the first is reported
            where none applies.

    Raises:
        ValueError: There is no name, or one is no name.
    """

    def __init__(self, *ops: str, order: int = 0) -> None:
        self.ops = _names_of_ops(ops)
        self.order = order

    def __call__(self, cls: _Class) -> _Class:
        """Returns the class.

        Raises:
            TypeError: It is no ``Decomposition``, or has no ``rewrite``.
        """
        _check_class(cls)
        cls.names = (*self.ops, *cls.__dict__.get("names", ()))
        return cls


class before_engine:  # noqa: N801  it is a decorator
    """Registers a ``Decomposition`` for forms of ops that the engine, or the runtime then, makes something wrong of.

    They are rewritten before the engine sees them. The arguments are what can be told without loading the class: most
    models have no such op, or none of such a form; ``Decomposition.before_lowering`` says the rest. An op that must be
    rewritten, but cannot be, is withheld from the engine, and so is left over as one that LiteRT lacks. A comment
    beside the decorator says what is wrong.

    Args:
        *ops: The ops' names.
        dtypes: The dtypes of the operand; none for any.
        above_rank: The operand has more dimensions.
        operand: Which operand that is.
        empty: The operand or a result is known to have no elements.
        other_than: Attributes, each with a value that it does not have; an op without one of them is none of the form.
        order: Of several for one op, those of a lower order are tried first.
        last: The op is tried after all others of the model: it may be part of what one of them is rewritten with.

    Raises:
        ValueError: There is no name, or one is no name.
    """

    def __init__(
        self,
        *ops: str,
        dtypes: Collection[str] = (),
        above_rank: int = -1,
        operand: int = 0,
        empty: bool = False,
        other_than: Mapping[str, Any] = MappingProxyType({}),
        order: int = 0,
        last: bool = False,
    ) -> None:
        self.ops = _names_of_ops(ops)
        self.dtypes = frozenset(dtypes)
        self.above_rank = above_rank
        self.operand = operand
        self.empty = empty
        self.other_than = other_than
        self.order = order
        self.last = last

    def __call__(self, cls: _Class) -> _Class:
        """Returns the class.

        Raises:
            TypeError: It is no ``Decomposition``, or has no ``rewrite``.
        """
        _check_class(cls)
        return cls


def _names_of_ops(ops: tuple[str, ...]) -> tuple[str, ...]:
    # Not only for the type checker's eyes: written without brackets, the class is what is decorated with.
    if not ops or not all(isinstance(op, str) and op.isidentifier() for op in ops) or len(set(ops)) < len(ops):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"a decomposition needs the names of its ops, each once, not {ops}")
    return ops


def _check_class(cls: type[Decomposition]) -> None:
    if not isinstance(cls, type) or not issubclass(cls, Decomposition):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{cls} is no subclass of Decomposition")
    if cls.rewrite is Decomposition.rewrite:
        raise TypeError(f"{cls.__qualname__} has no method rewrite")
