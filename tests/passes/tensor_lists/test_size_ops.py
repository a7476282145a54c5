"""The ops that compute sizes from formulas."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import functions, operations
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.ops.dims import Dim, Formula, broadcast_dims, maximum, minimum
from litefuse.passes.tensor_lists.op_results import emit
from litefuse.passes.tensor_lists.sizes import Sizes

_MODULE = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: tensor<i64>, %p: tensor<2xi32>) {
  return
}
"""
# Of the sizes of x and y, the scalar n and the second element of the vector p. The ops that take a size, or an element
# of a vector, are written as one.
_CASES: list[tuple[Callable[[Formula, Formula, Formula, Formula], Dim], str]] = [
    (lambda a, b, n, p: a + n - n - a + 3, ""),
    (lambda a, b, n, p: a, "size"),
    (lambda a, b, n, p: n, "Cast"),
    (lambda a, b, n, p: p, "element"),
    (lambda a, b, n, p: a * b + 3, "size size Mul AddV2"),
    (lambda a, b, n, p: 2 - a, "size Sub"),
    (lambda a, b, n, p: p - 2 * a, "element size Mul Sub"),
    (lambda a, b, n, p: a // 2 + b // 2, "size FloorDiv size FloorDiv AddV2"),
    (lambda a, b, n, p: (a - 3) // 2 + 1, "size AddV2 FloorDiv"),
    (lambda a, b, n, p: a // b + 1, "size size FloorDiv AddV2"),
    (lambda a, b, n, p: a % 2, "size FloorMod"),
    (lambda a, b, n, p: maximum(minimum(a, b), p), "element size size Minimum Maximum"),
    (lambda a, b, n, p: broadcast_dims(broadcast_dims(a, b) or 0, p) or 0, "size size element Maximum Maximum"),
]


@pytest.mark.parametrize(("formula", "expected"), _CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_emitted_ops(formula: Callable[[Formula, Formula, Formula, Formula], Dim], expected: str) -> None:
    with mlir_context():
        module = ir.Module.parse(_MODULE)
        by_symbol = functions(module)
        block = by_symbol["main"].entry_block
        x, y, n, p = block.arguments
        sizes = Sizes(by_symbol)
        of = (sizes.symbol(x, 0), sizes.symbol(y, 0), sizes.number_symbol(n, None), sizes.number_symbol(p, 1))
        with ir.InsertionPoint.at_block_begin(block), ir.Location.unknown():
            emitted = emit(formula(*of), Builder())
        names = [op.name.removeprefix("tf.") for op in operations(by_symbol["main"])]
        found = " ".join(name for name in names if name not in {"Const", "func.return"})
        assert found.replace("Shape StridedSlice", "size").replace("StridedSlice", "element") == expected
        assert isinstance(emitted, int) == (not expected)
        module.operation.verify()
