"""Recognizers of composites, their registry, and how it goes with that of fusions to the process that converts."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from litefuse.errors import FusionError
from litefuse.fusions.fusion import (
    called_formulas,
    called_fusions,
    register_formula,
    registered_formulas,
    take_formulas,
    take_fusions,
)
from litefuse.support.plug_ins.entry_points import load_plug_ins, place_of

if TYPE_CHECKING:
    from litefuse.fusions.recognizers.pattern import Pattern
    from litefuse.ir.types import TensorType

#: What a reason says of a layer that stays a loop.
HOISTED = "; a loop with its input projection hoisted"

Formula: TypeAlias = "Callable[..., Pattern | Sequence[Pattern]]"


class Recognition(NamedTuple):
    """The outcome for one loop.

    Attributes:
        layer: The layer's name, from the loop's node.
        name: The annotation that it got; None if it was not recognized.
        reason: Why it was not recognized, or why it was left unchanged.
    """

    layer: str
    name: str | None
    reason: str | None = None


class Recognizer:
    """A formula: where a model computes it, the composite needs no annotation.

    Subclass it, and register the subclass for the composite that it makes; if there is only the formula, a function is
    enough:

        from litefuse.fusions.recognizers.pattern import erf

        @litefuse.recognizer("gelu")
        def gelu(x):
            return 0.5 * x * (1 + erf(x / 2**0.5))

    Code that computes the formula becomes a function annotated with the name, with the formula's parameters as its
    arguments; it is fused and checked like every other composite.
    """

    #: The name of the composite.
    name = ""

    #: Attributes of the composite, in addition to the formula's keyword-only parameters.
    attributes: ClassVar[Mapping[str, Any]] = {}

    def formula(self, *arguments: Pattern, **numbers: Pattern) -> Pattern | Sequence[Pattern]:
        """Builds the formula from the patterns of ``litefuse.fusions.recognizers.pattern``.

        Override it with its own parameters: positional ones become the arguments of the composite; keyword-only ones
        are constant numbers of the model, and become attributes of these names.

        Returns:
            The result; or several, of which the first is computed from all others.
        """
        del arguments, numbers
        raise NotImplementedError

    def check(self, arguments: Sequence[TensorType], attributes: Mapping[str, Any]) -> str | None:
        """Returns why code that computes the formula is not the composite, or None if it is.

        Args:
            arguments: The dtypes and shapes of the arguments.
            attributes: The attributes.
        """
        del arguments, attributes
        return None


_TargetType = TypeVar("_TargetType", bound="type[Recognizer] | Callable[..., Any]")


def recognizer(name: str = "") -> Callable[[_TargetType], _TargetType]:
    """Registers a formula, or a ``Recognizer`` subclass, that makes composites of this name.

    Several may have one name, for several ways to write the same formula. Recognizers are tried in the order of
    registration, and what one has recognized is left alone by the next.

    Args:
        name: The composite's name: fusions are registered for it, and users choose its form by it.

    Raises:
        FusionError: It is neither a function nor a ``Recognizer``, or has a parameter that cannot be bound to a
            pattern; or the name is missing.
    """
    # Checked at run time too: in a decorator without brackets, ``name`` is the decorated formula.
    if not name or not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise FusionError("a recognizer needs its composite's name", hint='Write @litefuse.recognizer("name").')

    def register(target: _TargetType) -> _TargetType:
        register_formula(name, target)
        return target

    return register


def registered_recognizers() -> list[Recognizer]:
    """Returns all recognizers, in the order in which they are tried: those of the running program come first."""
    return [_instance(name, target) for name, target in registered_formulas()]


def _instance(name: str, target: type[Recognizer] | Formula) -> Recognizer:
    if isinstance(target, type):
        instance = target()
    else:
        instance = Recognizer()
        instance.formula = target  # pyright: ignore[reportAttributeAccessIssue]
    instance.name = name  # pyright: ignore[reportAttributeAccessIssue]
    return instance


def pickle_registered() -> bytes | None:
    """Pickles the fusions and recognizers of the running program for the process that converts; None if there are none.

    A class of an importable module is sent by name, one of a script or notebook with its code.
    """
    fusions, formulas = called_fusions(), called_formulas()
    if not fusions and not formulas:
        return None
    from litefuse.support.plug_ins.by_value import pickle_by_value

    try:
        return pickle_by_value((fusions, formulas))
    except Exception:  # whatever their state raises
        for name, code in (*fusions.items(), *formulas.values()):
            try:
                pickle_by_value(code)
            except Exception as error:  # as above
                raise FusionError(
                    f"it cannot be sent to the process that converts: {type(error).__name__}: {error}",
                    where=f"{name!r}, {place_of(code)}",
                    hint="Make in the function what it holds of this process, such as locks and open files, or convert "
                    "with in_process=True (--in-process).",
                ) from error
        raise


def unpickle_registered(data: bytes | None) -> None:
    """Registers the fusions and recognizers of another process, and forgets those of an earlier one."""
    registered: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
    if data is not None:
        load_plug_ins()  # before the others are registered, which may override theirs on purpose
        registered = pickle.loads(data)
    take_fusions(registered[0])
    take_formulas(registered[1])
