"""What litert-quantizer or LiteRT refuses: the op, its layer, and the option that leaves it in floating point."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import litefuse
from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.difference import Reference
from litefuse.conversion.quantization.litert_quantizer import apply_recipe
from litefuse.conversion.quantization.recipe import ModelFacts, recipe_of
from litefuse.errors import LitefuseError
from tests.conversion.quantization.models import saved, scaled
from tests.litert.runtime.models import Graph

ONE = {"min": np.array(-1, np.float32), "max": np.array(1, np.float32)}


def chain(name: str) -> Graph:
    """``y = tanh(x * 2)``, whose product has a name."""
    graph = Graph()
    x, y = graph.input("x", [4, 3]), graph.output("y", [4, 3])
    doubled = graph.tensor(name, [4, 3])
    graph.builtin("MUL", [x, graph.tensor("two", [], value=2.0)], [doubled])
    graph.builtin("TANH", [doubled], [y])
    return graph


def applied(path: Path, options: litefuse.Quantization) -> None:
    ranges: Ranges = {name: dict(ONE) for name in ("x", "y")}  # one tensor lacks its range
    recipe = recipe_of(options, ModelFacts())
    apply_recipe(path, path.with_name("after.tflite"), recipe, ranges)


@pytest.mark.parametrize("name", ["model/größe(1)+[x]:0", "it's $HOME", "a" * 300])
def test_the_op_is_named_and_can_be_left(tmp_path: Path, name: str) -> None:
    path = saved(tmp_path / "before.tflite", chain(name))
    with pytest.raises(LitefuseError, match=re.escape(f"litert-quantizer refused the model at MUL {name!r}")) as raised:
        applied(path, litefuse.Quantization("int8"))
    assert "keep_float_ops=['MUL']" in raised.value.hint
    assert "(--keep-float-op MUL)" in raised.value.hint
    pattern = f"^{re.escape(name)};"
    assert repr(pattern) in raised.value.hint
    # The next one takes what it computes, and is left as well.
    with pytest.raises(LitefuseError, match="refused the model at TANH 'y'"):
        applied(path, litefuse.Quantization("int8", keep_float=[pattern]))
    applied(path, litefuse.Quantization("int8", keep_float=[pattern], keep_float_ops=["TANH"]))


def test_what_is_about_no_op(tmp_path: Path) -> None:
    path = tmp_path / "before.tflite"
    path.write_bytes(b"no model")
    with pytest.raises(LitefuseError, match="litert-quantizer refused the model: ") as raised:
        applied(path, litefuse.Quantization("int8"))
    assert "--keep-float-op" in raised.value.hint


def test_an_op_that_litert_refuses(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", scaled(1.0))
    graph = Graph()
    x, y = graph.input("x", [4, 3]), graph.output("y", [4, 3])
    between, other = graph.tensor("between", [4, 3]), graph.tensor("layer/sum", [4, 3])
    graph.builtin("TANH", [x], [between])
    graph.builtin("ADD", [between, graph.tensor("integers", [3], np.int32, value=[1, 2, 3])], [other])
    graph.builtin("TANH", [other], [y])
    after = saved(tmp_path / "after.tflite", graph)
    with pytest.raises(LitefuseError, match=r"does not run in LiteRT, because of ADD 'layer/sum'") as raised:
        Reference(before, {"serve": [{"x": np.ones((4, 3), np.float32)}]}).difference(after)
    assert "--keep-float '^layer/sum;'" in raised.value.hint
