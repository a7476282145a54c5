"""What the recognizer of attention knows of the scores."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from litefuse.fusions.recognizers.attention.scores import number
from litefuse.ir.builder import Builder
from litefuse.ir.mlir import func, ir, mlir_context

NUMBERS: dict[str, tuple[Callable[[Builder], ir.Value], float | None]] = {
    "constant": (lambda b: b.constant(2.5, "float32"), 2.5),
    "constants": (lambda b: b.constant([2.5, 2.5], "float32"), 2.5),
    "several": (lambda b: b.constant([2.5, 3.0], "float32"), None),
    "expanded": (lambda b: b.expand(b.constant([2.5, 2.5], "float32"), 0), 2.5),
    "filled": (lambda b: b.fill([3, 1], -1e9, "float32"), -1e9),
    "cast": (lambda b: b.cast(b.expand(b.constant(-1, "int32"), 0), "float16"), -1.0),
    "truncated": (lambda b: b.cast(b.constant(2.5, "float32"), "int32"), None),
    "computed": (lambda b: b.expand(b.binary("Mul", b.constant(2.5, "float32"), 2.0), 0), None),
}


@pytest.mark.parametrize("how", NUMBERS)
def test_the_number_of_all_elements(how: str) -> None:
    build, expected = NUMBERS[how]
    with mlir_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", ir.FunctionType.get([], []))
        with ir.InsertionPoint(main.add_entry_block()):
            assert number(build(Builder())) == expected
