"""The base class of rewritings of a TensorFlow op into others, and the decorators that declare their ops."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir
    from litefuse.ir.tensorflow_op import TensorFlowOp

__all__ = ["Decomposed", "Decomposition", "before_engine", "decomposition"]


class Decomposition:
    """An exact rewriting of a TensorFlow op into TensorFlow ops that LiteRT has.

    The decorators ``decomposition`` and ``before_engine`` declare which ops it rewrites, and when, without another
    list of them. ``litefuse.passes.legalize.index`` reads their arguments from the source, so they are literals.
    """

    #: The ops that it rewrites after the engine.
    names: ClassVar[tuple[str, ...]] = ()

    #: Whether a kernel of litefuse is faster: then the op becomes a composite with this as its decomposition.
    composite: ClassVar[bool] = False

    #: Whether it only computes a constant or corrects an attribute, which is not reported.
    folds: ClassVar[bool] = False

    def before_lowering(self, op: TensorFlowOp) -> bool:
        """Whether an op of a form that ``before_engine`` declares must be rewritten before the engine runs."""
        return True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value | Sequence[ir.Value]:
        """Builds the op's results with ``b``.

        Returns:
            The results, of the dtypes of ``op.results``; a single value if there is one result.

        Raises:
            NotDecomposed: It does not apply to the op.
        """
        raise NotImplementedError


_Class = TypeVar("_Class", bound=type[Decomposition])


class decomposition:  # noqa: N801  it is a decorator
    """Declares a ``Decomposition`` for ops that the engine leaves because LiteRT lacks them or forms of them.

    Args:
        *ops: The ops' names.
        order: If an op has several, those of a lower order are tried first; if none applies, the reason of the first is
            reported.

    Raises:
        ValueError: No name, or an invalid one.
    """

    def __init__(self, *ops: str, order: int = 0) -> None:
        self.ops = _names_of_ops(ops)
        self.order = order

    def __call__(self, cls: _Class) -> _Class:
        """Returns the class.

        Raises:
            TypeError: It is not a ``Decomposition``, or has no ``rewrite``.
        """
        _check_class(cls)
        cls.names = (*self.ops, *cls.__dict__.get("names", ()))
        return cls


class before_engine:  # noqa: N801  it is a decorator
    """Declares a ``Decomposition`` for ops before the engine, which would lower these forms of them wrongly.

    The arguments can be checked without importing the class: most models have no such op, or none of such a form.
    ``Decomposition.before_lowering`` checks the rest. An op that must be rewritten, but cannot be, is withheld from the
    engine, and so is left over like an op that LiteRT lacks. A comment beside the decorator names the fault.

    Args:
        *ops: The ops' names.
        dtypes: The dtypes of the operand; empty for any.
        above_rank: The operand has more dimensions than this.
        operand: The index of this operand.
        empty: The operand or a result is known to have no elements.
        other_than: Attributes, each with a value that it does not have; an op that lacks one of them does not match.
        order: If an op has several, those of a lower order are tried first.
        last: Whether the op is tried after all others of the model, since it may become part of their rewritings.

    Raises:
        ValueError: No name, or an invalid one.
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
            TypeError: It is not a ``Decomposition``, or has no ``rewrite``.
        """
        _check_class(cls)
        return cls


def _names_of_ops(ops: tuple[str, ...]) -> tuple[str, ...]:
    # Checked at run time too: if the decorator is written without parentheses, it gets the class.
    if not ops or not all(isinstance(op, str) and op.isidentifier() for op in ops) or len(set(ops)) < len(ops):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"a decomposition needs the names of its ops, each once, not {ops}")
    return ops


def _check_class(cls: type[Decomposition]) -> None:
    if not isinstance(cls, type) or not issubclass(cls, Decomposition):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{cls} is not a subclass of Decomposition")
    if cls.rewrite is Decomposition.rewrite:
        raise TypeError(f"{cls.__qualname__} has no method rewrite")


class Decomposed(NamedTuple):
    """An op that was rewritten.

    Attributes:
        op: The TensorFlow op's name.
        form: What replaced it. ``rewritten``: builtin ops; ``composite``: a composite with these as its decomposition;
            ``narrowed``: builtin ops that compute its int64 values in int32; ``widened``: builtin ops that compute its
            float16 or bfloat16 values in float32, between casts.
    """

    op: str
    form: Literal["rewritten", "composite", "narrowed", "widened"]
