"""Index of the decompositions by op, read from their decorators.

A conversion imports only those that are tried for its own ops.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition
from litefuse.support.plug_ins.own_classes import OwnClass, own_classes

__all__ = ["BeforeEngine", "decomposed_ops", "find_decompositions", "forms_before_engine"]

_PACKAGE = "litefuse.passes.legalize"


class BeforeEngine(NamedTuple):
    """A decomposition that is tried for an op before the engine runs.

    Attributes:
        form: The form of the op that may need it.
        own: The decomposition's class.
    """

    form: before_engine
    own: OwnClass

    def load(self) -> Decomposition:
        """Returns the decomposition; imports its module."""
        return self.own.load()()


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
    """Returns the classes to try for each op that the engine left, in this order."""
    found: dict[str, list[tuple[int, OwnClass]]] = {}
    for own in own_classes(_PACKAGE, decomposition.__name__):
        said = decomposition(*own.arguments, **own.keywords)
        for op in said.ops:
            found.setdefault(op, []).append((said.order, own))
    return {op: tuple(own for _, own in sorted(several, key=lambda each: each[0])) for op, several in found.items()}


def find_decompositions(op: str) -> tuple[Decomposition, ...]:
    """Returns the decompositions of a TensorFlow op in the order in which to try them; imports their modules."""
    return tuple(own.load()() for own in decomposed_ops().get(op, ()))
