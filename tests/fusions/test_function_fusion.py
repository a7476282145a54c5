# pyright: reportUnusedFunction=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
"""Conversion code that is one function: what its signature takes, and what it says of a composite that it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Literal

import pytest

import litefuse
from litefuse.errors import FusionError
from litefuse.fusions.fusion import called_fusions, find_fusion, take_fusions
from litefuse.testing import became


@pytest.fixture(autouse=True)
def nothing_else() -> Iterator[None]:
    """Forgets what a test registers."""
    before = dict(called_fusions())
    yield
    take_fusions(before)


def refused(function: Callable[..., Any], arguments: str = "float32[?,4] float32[4]", **attributes: Any) -> str | None:
    litefuse.fusion("mine", replace=True)(function)
    reason = became("mine", arguments, arguments.split()[:1] or "float32[4]", attributes).reason
    return reason and reason.partition("; see ")[0]


def two(b: Any, x: Any, y: Any, *, epsilon: float = 1e-3, axes: list[int] | None = None) -> Any:
    return x + y


def test_the_decorator_gives_the_function_back() -> None:
    assert litefuse.fusion("mine", tolerance=1e-3)(two) is two
    fusion = find_fusion("mine")
    assert fusion is not None
    assert (fusion.tolerance, fusion.names, type(fusion).__qualname__) == (1e-3, ("mine",), "two")
    litefuse.fusion("mine")(two)  # a cell of a notebook, run again


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("float32[?,4] float32[4]", None),
        ("float32[?,4]", "it has 1 arguments, not 2 (x, y)"),
        ("float32[?,4] float32[4] float32[4]", "it has 3 arguments, not 2 (x, y)"),
    ],
)
def test_the_number_of_arguments(arguments: str, text: str | None) -> None:
    assert refused(two, arguments) == text


def test_arguments_that_may_be_missing_and_any_number() -> None:
    def optional(b: Any, x: Any, y: Any = None) -> Any:
        return x

    def rest(b: Any, x: Any, *others: Any) -> Any:
        return x

    assert refused(optional, "float32[?,4]") is None
    assert refused(optional) is None
    assert refused(optional, "float32[4] float32[4] float32[4]") == "it has 3 arguments, not 2 (x, y)"
    assert refused(rest, "float32[?,4]") is None
    assert refused(rest, "float32[?,4] float32[4] float32[4]") is None
    assert refused(rest, "") == "it has 0 arguments, not 2 (x, *others)"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("float32[?,4] float32[4]", None),
        ("float32[3,4] int64[4]", None),
        ("float16[3,4] int64[4]", "x is float16[3,4], not float32[?,4]"),
        ("float32[3,5] int64[4]", "x is float32[3,5], not float32[?,4]"),
        ("float32[?,?] int64[4]", "x is float32[?,?], not float32[?,4]"),
        ("float32[4] int64[4]", "x is float32[4], not float32[?,4]"),
        ("float32[*] int64[4]", "x is float32[*], not float32[?,4]"),
        ("float32[3,4] int64[2,2]", None),
        ("float32[3,4] int32[2,2]", "y is int32[2,2], not float32 | int64"),
    ],
)
def test_dtypes_and_sizes(arguments: str, text: str | None) -> None:
    def typed(b: Any, x: Annotated[Any, "float32[?,4]"], y: Annotated[Any, "float32 | int64"]) -> Any:
        return x

    assert refused(typed, arguments) == text
    namespace: dict[str, Any] = {}
    exec("def plain(b, x: 'float32[?,4]', y: 'float32 | int64'): return x", namespace)
    assert refused(namespace["plain"], arguments) == text


def test_scalars_are_of_no_dimension() -> None:
    def scalar(b: Any, x: Any, y: Annotated[Any, "float32[]"]) -> Any:
        return x

    assert refused(scalar, "float32[4] float32[]") is None
    assert refused(scalar, "float32[4] float32[1]") == "y is float32[1], not float32[]"


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({}, None),
        ({"epsilon": 1.0, "axes": [1, 2], "tfl_fusable_op": True}, None),
        ({"epsilon": 1}, None),
        ({"epsilon": True}, "its attribute 'epsilon' is True, not float"),
        ({"epsilon": "x"}, "its attribute 'epsilon' is 'x', not float"),
        ({"axes": [1.0]}, "its attribute 'axes' is [1.0], not list[int] | None"),
        ({"axes": 1}, "its attribute 'axes' is 1, not list[int] | None"),
        (
            {"epsilom": 1.0},
            "its attribute 'epsilom' is unknown; those of two are epsilon, axes",
        ),
    ],
)
def test_attributes(attributes: dict[str, Any], text: str | None) -> None:
    assert refused(two, **attributes) == text


def test_attributes_that_must_be_there_and_any_others() -> None:
    def needs(b: Any, x: Any, y: Any, *, mode: Literal["SAME", "VALID"], sizes: tuple[int, int] = (1, 1)) -> Any:
        return x

    def takes_any(b: Any, x: Any, y: Any, *, strides: Sequence[int] = (), **attributes: Any) -> Any:
        return x

    assert refused(needs) == "it has no attribute 'mode'"
    assert refused(needs, mode="SAME", sizes=[1, 2]) is None
    assert refused(needs, mode="same") == "its attribute 'mode' is 'same', not typing.Literal['SAME', 'VALID']"
    assert refused(needs, mode="SAME", sizes=[1]) == "its attribute 'sizes' is [1], not tuple[int, int]"
    assert refused(takes_any, strides=[1], other="x") is None


def nothing() -> Any: ...


def keyword_builder(*, b: Any) -> Any: ...


def with_default(b: Any, x: Any, epsilon: float = 1e-3) -> Any: ...


def misspelt(b: Any, x: Annotated[Any, "flaot32[?,4]"]) -> Any: ...


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (nothing, "a fusion takes the builder first"),
        (keyword_builder, "a fusion takes the builder first"),
        (with_default, "epsilon is an argument of the composite, whose default can only be None"),
        (misspelt, "x is to be flaot32[?,4], and flaot32 is not a dtype"),
    ],
)
def test_signatures_that_are_none_of_conversion_code(function: Callable[..., Any], text: str) -> None:
    with pytest.raises(FusionError) as error:
        litefuse.fusion("mine")(function)
    assert text in str(error.value)
    assert f"{function.__name__} ({__file__}:{function.__code__.co_firstlineno})" in str(error.value)


def test_what_is_no_conversion_code() -> None:
    with pytest.raises(FusionError, match=r"3 is neither a function nor a subclass of litefuse\.Fusion"):
        litefuse.fusion("mine")(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(FusionError, match="a fusion has no option 'tolerence'"):
        litefuse.fusion("mine", tolerence=1e-3)
