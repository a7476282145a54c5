"""litefuse's own fusions are found by the names in their decorators: none is forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from litefuse.fusions.function_fusion import FunctionFusion
from litefuse.fusions.fusable_op import FusableOp
from litefuse.fusions.fusion import Fusion, find_fusion, own_fusions
from litefuse.support.plug_ins.own_classes import OwnClass, own_classes
from tests.support.plug_ins.subclasses import own_subclasses

# What becomes of composites of any name, KeptComposite being a base of those of one; and what a function is made.
OF_ANY_NAME = {FusableOp, FunctionFusion}


def forgotten(classes: Iterable[type[Fusion]], index: Mapping[str, OwnClass]) -> set[type[Fusion]]:
    """The classes that are in no index, bases of others left out."""
    bases = {base for cls in classes for base in cls.__mro__[1:]}
    return {*classes} - bases - {each.load() for each in index.values()}


def test_no_fusion_is_forgotten() -> None:
    assert forgotten(own_subclasses(Fusion, "litefuse.fusions"), own_fusions()) == OF_ANY_NAME


def test_a_forgotten_fusion_is_found() -> None:
    class Forgotten(Fusion):
        def rewrite(self, composite: Any, b: Any) -> Any:
            raise NotImplementedError

    assert forgotten({*own_subclasses(Fusion, "litefuse.fusions"), Forgotten}, own_fusions()) == {
        *OF_ANY_NAME,
        Forgotten,
    }


def test_each_is_found_by_its_names() -> None:
    own = {name: cls for cls in own_subclasses(Fusion, "litefuse.fusions") for name in cls.names}
    assert len(own) > 20
    assert {name: each.load() for name, each in own_fusions().items()} == own
    assert {name: type(find_fusion(name)) for name in own} == own


def test_no_name_is_of_two() -> None:
    names = Counter(name for each in own_classes("litefuse.fusions", "fusion") for name in each.arguments)
    assert [name for name, count in names.items() if count > 1] == []
