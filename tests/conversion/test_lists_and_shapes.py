"""Lists of names and shapes that are given to the functions that run files: what is not one is refused by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import litefuse
from litefuse.errors import LitefuseError
from litefuse.tools.demo import SAVED_MODEL


def report_on(model: Path, **options: Any) -> object:
    return litefuse.save_report(model.with_suffix(".html"), model, SAVED_MODEL, **options)


def verify(model: Path, **options: Any) -> object:
    return litefuse.verify_model(model, model, **options)


def check(model: Path, **options: Any) -> object:
    return litefuse.check(model, "cpu", **options)


def named(value: object) -> str:
    """The name of a function, which is the same in each process of a run; any other value as it is."""
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        *((verify, name) for name in ("signatures", "tags", "custom_ops", "kernels")),
        *((litefuse.benchmark, name) for name in ("signatures", "custom_ops", "kernels")),
        (check, "kernels"),
        *((report_on, name) for name in ("signatures", "tags", "input_arrays", "output_arrays")),
    ],
    ids=named,
)
def test_a_string_is_no_list_of_its_letters(function: Callable[..., object], argument: str, demo_model: Path) -> None:
    options: dict[str, Any] = {argument: "serve"}
    with pytest.raises(LitefuseError, match=rf"{argument} takes a list of names, not the string 'serve'"):
        function(demo_model, **options)


@pytest.mark.parametrize("function", [verify, litefuse.benchmark, check], ids=named)
@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (5, "shapes are given by the names of inputs, not as 5"),
        ({"x": "1,2"}, "the shape of the input 'x' must be sizes"),
        ({"x": [1, None]}, "the shape of the drawn input 'x' has an open size"),
        ({"x": [1, -2]}, "the shape of the input 'x' must be sizes"),
    ],
)
def test_shapes_are_sizes_by_names(
    function: Callable[..., object], shapes: Any, message: str, demo_model: Path
) -> None:
    with pytest.raises(LitefuseError, match=message):
        function(demo_model, shapes=shapes)
