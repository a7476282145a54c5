"""Records are frozen data classes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, is_dataclass, replace
from typing import Any

import pytest

from litefuse.support.records import Record


class Point(Record):
    """A record."""

    x: int
    y: tuple[int, ...] = ()
    names: dict[str, int] = field(default_factory=dict[str, int], repr=False, compare=False)


@dataclass(frozen=True)
class _Point:
    """The data class that it stands for."""

    x: int
    y: tuple[int, ...] = ()
    names: dict[str, int] = field(default_factory=dict[str, int], repr=False, compare=False)


class Derived(Point):
    """A record of more fields."""

    z: int = 0


def test_it_is_what_a_data_class_is() -> None:
    point, like = Point(1, y=(2,)), _Point(1, y=(2,))
    assert is_dataclass(Point)
    assert asdict(point) == asdict(like)
    assert repr(point) == repr(like).removeprefix("_") == "Point(x=1, y=(2,))"
    assert hash(point) == hash(like)
    for copied in (copy.copy(point), pickle.loads(pickle.dumps(point)), replace(point), Point(1, (2,), {"a": 1})):
        assert copied == point
    assert point not in (replace(point, x=2), like, Derived(1, (2,)))
    assert Derived(1, z=3) == Derived(1, (), {}, 3) != Derived(1)
    assert Point(1).names is not Point(1).names


@pytest.mark.parametrize(
    "call",
    [
        Point,
        lambda: Point(y=()),  # pyright: ignore[reportCallIssue]
        lambda: Point(1, (), {}, 4),  # pyright: ignore[reportCallIssue]
        lambda: Point(1, x=1),  # pyright: ignore[reportCallIssue]
        lambda: Point(1, z=1),  # pyright: ignore[reportCallIssue]
    ],
)
def test_it_takes_its_fields_once_each(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="Point"):
        call()


def test_it_does_not_change() -> None:
    point: Any = Point(1)
    with pytest.raises(FrozenInstanceError, match="'x'"):
        point.x = 2
    with pytest.raises(FrozenInstanceError, match="'x'"):
        del point.x
    assert point == Point(1)
