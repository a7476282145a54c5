"""Which decompositions are tried for which op, as their decorators say.

A conversion loads those that are tried for its own ops, and no others.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

from litefuse.legalize.decomposition import Decomposition, before_engine, decomposition
from litefuse.plug_ins.own_classes import OwnClass, own_classes

__all__ = ["BeforeEngine", "decomposed_ops", "find_decompositions", "forms_before_engine"]

_PACKAGE = "litefuse.legalize"


class BeforeEngine(NamedTuple):
    """What is tried for an op before the engine sees it.

    Attributes:
        form: Which form of the op it may be needed for.
        own: The decomposition's class.
    """

    form: before_engine
    own: OwnClass

    def load(self) -> Decomposition:
        """The decomposition; imports its module."""
        return self.own.load()()


@functools.cache
def forms_before_engine() -> Mapping[str, tuple[BeforeEngine, ...]]:
    """What is tried for each op before the engine sees it, in this order."""
    found: dict[str, list[BeforeEngine]] = {}
    for own in own_classes(_PACKAGE, before_engine.__name__):
        form = before_engine(*own.arguments, **own.keywords)
        for op in form.ops:
            found.setdefault(op, []).append(BeforeEngine(form, own))
    return {op: tuple(sorted(several, key=lambda each: each.form.order)) for op, several in found.items()}


@functools.cache
def decomposed_ops() -> Mapping[str, tuple[OwnClass, ...]]:
    """The classes that are tried for each op that the engine left, in this order."""
    found: dict[str, list[tuple[int, OwnClass]]] = {}
    for own in own_classes(_PACKAGE, decomposition.__name__):
        said = decomposition(*own.arguments, **own.keywords)
        for op in said.ops:
            found.setdefault(op, []).append((said.order, own))
    return {op: tuple(own for _, own in sorted(several, key=lambda each: each[0])) for op, several in found.items()}


def find_decompositions(op: str) -> tuple[Decomposition, ...]:
    """The decompositions of a TensorFlow op, in the order in which they are to be tried; imports their modules."""
    return tuple(own.load()() for own in decomposed_ops().get(op, ()))
