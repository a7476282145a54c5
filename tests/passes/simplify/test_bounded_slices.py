"""Slices whose constants are within the dimensions already."""

from __future__ import annotations

import pytest

from litefuse.ir.mlir import ir, mlir_context
from litefuse.passes.simplify.simplify import Simplify

MASKS = ", ".join(f"{mask}_mask = 0 : i64" for mask in ("begin", "end", "ellipsis", "new_axis", "shrink_axis"))


@pytest.mark.parametrize(
    ("dtype", "end", "changes"), [("i32", 30, [False]), ("i32", 40, [True, False]), ("i64", 30, [True, False])]
)
def test_a_slice_is_changed_once_at_most(dtype: str, end: int, changes: list[bool]) -> None:
    names = [("begin", 1), ("end", end), ("step", 2)]
    kind = f"tensor<1x{dtype}>"
    constants = [f'%{name} = "tf.Const"() {{value = dense<{value}> : {kind}}} : () -> {kind}' for name, value in names]
    size = -(-(min(end, 37) - 1) // 2)
    types = f"(tensor<37xf32>, {kind}, {kind}, {kind}) -> tensor<{size}xf32>"
    lines = [
        f"func.func @main(%x: tensor<37xf32>) -> tensor<{size}xf32> {{",
        *constants,
        f'%y = "tf.StridedSlice"(%x, %begin, %end, %step) {{{MASKS}}} : {types}',
        f"return %y : tensor<{size}xf32>",
        "}",
    ]
    with mlir_context():
        module = ir.Module.parse("\n".join(lines))
        assert [Simplify().run(module) for _ in changes] == changes
