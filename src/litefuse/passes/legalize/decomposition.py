"""The base class of rewritings of a TensorFlow op into others, the decorators that declare their ops, and their index.

The decorators are read from the source: a conversion imports only the rewritings that are tried for its own ops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from litefuse.support.plug_ins.own_classes import OwnClass, own_classes

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir
    from litefuse.ir.tensorflow_op import TensorFlowOp


class Decomposition:
    """An exact rewriting of a TensorFlow op into TensorFlow ops that LiteRT has.

    The decorators ``decomposition`` and ``before_engine`` declare which ops it rewrites, and when, without another
    list of them. Their arguments are read from the source, so they are literals. Most decompositions are functions,
    which are ``rewrite``; those that decide when they apply, or have several parts, are subclasses.
    """

    #: The ops that it rewrites after the engine.
    names: tuple[str, ...] = ()

    #: Whether a kernel of litefuse is faster: then the op becomes a composite with this as its decomposition.
    composite: bool = False

    #: Whether it only computes a constant or corrects an attribute, which is not reported.
    folds: bool = False

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


if TYPE_CHECKING:
    Declared = TypeVar(
        "Declared", bound=type[Decomposition] | Callable[[TensorFlowOp, Builder], ir.Value | Sequence[ir.Value]]
    )
else:
    Declared = TypeVar("Declared")


class decomposition:  # noqa: N801  it is a decorator
    """Declares a ``Decomposition`` for ops that the engine leaves because LiteRT lacks them or forms of them.

    Args:
        *ops: The ops' names.
        order: If an op has several, those of a lower order are tried first; if none applies, the reason of the first is
            reported.
        composite: See ``Decomposition``.

    Raises:
        ValueError: No name, or an invalid one.
    """

    def __init__(self, *ops: str, order: int = 0, composite: bool = False) -> None:
        self.ops = _names_of_ops(ops)
        self.order = order
        self.composite = composite

    def __call__(self, declared: Declared) -> Declared:
        """Returns the class or function.

        Raises:
            TypeError: It is neither a function nor a ``Decomposition`` with a ``rewrite``.
        """
        _declare(declared, self.ops)
        return declared


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

    def __call__(self, declared: Declared) -> Declared:
        """Returns the class or function.

        Raises:
            TypeError: It is neither a function nor a ``Decomposition`` with a ``rewrite``.
        """
        _declare(declared, ())
        return declared


def _names_of_ops(ops: tuple[str, ...]) -> tuple[str, ...]:
    # Checked at run time too: if the decorator is written without parentheses, it gets the class.
    if not ops or not all(isinstance(op, str) and op.isidentifier() for op in ops) or len(set(ops)) < len(ops):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"a decomposition needs the names of its ops, each once, not {ops}")
    return ops


def _declare(declared: object, ops: tuple[str, ...]) -> None:
    if not isinstance(declared, FunctionType):
        if not isinstance(declared, type) or not issubclass(declared, Decomposition):
            raise TypeError(f"{declared} is not a subclass of Decomposition, nor a function")
        if declared.rewrite is Decomposition.rewrite:
            raise TypeError(f"{declared.__qualname__} has no method rewrite")
        declared.names = (*ops, *declared.__dict__.get("names", ()))


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


_PACKAGE = "litefuse.passes.legalize"


class BeforeEngine(NamedTuple):
    """A decomposition that is tried for an op before the engine runs.

    Attributes:
        form: The form of the op that may need it.
        own: The decomposition's class or function.
    """

    form: before_engine
    own: OwnClass

    def load(self) -> Decomposition:
        """Returns the decomposition; imports its module."""
        return _loaded(self.own)


@functools.cache
def forms_before_engine() -> Mapping[str, tuple[BeforeEngine, ...]]:
    """Returns the decompositions to try for each op before the engine runs, in this order."""
    found: dict[str, list[BeforeEngine]] = {}
    for own in own_classes(_PACKAGE, before_engine.__name__):
        form = before_engine(*own.arguments, **own.keywords)
        for op in form.ops:
            found.setdefault(op, []).append(BeforeEngine(form, own))
    return {op: tuple(sorted(several, key=lambda each: each.form.order)) for op, several in found.items()}


@functools.cache
def decomposed_ops() -> Mapping[str, tuple[OwnClass, ...]]:
    """Returns the decompositions to try for each op that the engine left, in this order."""
    found: dict[str, list[tuple[int, OwnClass]]] = {}
    for own in own_classes(_PACKAGE, decomposition.__name__):
        said = decomposition(*own.arguments, **own.keywords)
        for op in said.ops:
            found.setdefault(op, []).append((said.order, own))
    return {op: tuple(own for _, own in sorted(several, key=lambda each: each[0])) for op, several in found.items()}


def find_decompositions(op: str) -> tuple[Decomposition, ...]:
    """Returns the decompositions of a TensorFlow op in the order in which to try them; imports their modules."""
    return tuple(map(_loaded, decomposed_ops().get(op, ())))


def _loaded(own: OwnClass) -> Decomposition:
    declared = own.load()
    if isinstance(declared, type):
        made = declared()
    else:
        made = Decomposition()
        made.rewrite = declared
    made.composite = own.keywords.get("composite", False)
    return made
