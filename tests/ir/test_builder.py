from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from litefuse.ir.builder import Builder
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import tensor_type_of


@pytest.fixture
def values() -> Iterator[list[Tensor]]:
    """Values of the types float32[?,4], float32[3,1] and int32[]."""
    with mlir_context():
        module = ir.Module.create()
        kinds = [ir.Type.parse(f"tensor<{each}>") for each in ("?x4xf32", "3x1xf32", "i32")]
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("f", ir.FunctionType.get(kinds, []))
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            yield [Tensor(argument) for argument in block.arguments]


def kind(value: ir.Value) -> str:
    return str(tensor_type_of(value))


def test_broadcast_types(values: list[Tensor]) -> None:
    a, b, _ = values
    builder = Builder()
    assert kind(builder.binary("Mul", a, b)) == "float32[3,4]"
    assert kind(builder.compare("Less", a, 1)) == "bool[?,4]"
    one_row = builder.slice(b, 0, 0, 1)
    assert kind(builder.binary("Mul", one_row, a)) == "float32[?,4]"
    assert kind(builder.select(builder.compare("Less", a, 1), b, 0.0)) == "float32[3,4]"


def test_what_does_not_broadcast_is_not_decomposed(values: list[Tensor]) -> None:
    a, b, _ = values
    builder = Builder()
    with pytest.raises(NotDecomposed, match=r"the shapes \[\?,4\] and \[2\] cannot be broadcast to each other"):
        builder.binary("Mul", a, builder.constant([1, 2], "float32"))
    with pytest.raises(NotDecomposed, match="cannot be broadcast"):
        builder.select(builder.constant([True] * 5, "bool"), a, b)


def test_known_sizes_are_numbers_and_open_ones_are_computed(values: list[Tensor]) -> None:
    a, b, n = values
    builder = Builder()
    rows, columns = builder.sizes(a)
    assert isinstance(rows, ir.Value)
    assert columns == 4
    assert builder.sizes(b) == [3, 1]
    assert builder.product([3, 4, 5]) == 60
    assert builder.dims("FloorDiv", 7, 2) == 3
    assert isinstance(builder.dims("AddV2", 1, n), ir.Value)
    assert builder.product([1, rows]) is rows


def test_slices_pads_and_concatenations(values: list[Tensor]) -> None:
    a, b, n = values
    builder = Builder()
    assert kind(builder.slice(b, 0, 1, None)) == "float32[2,1]"
    assert kind(builder.slice(a, 1, 0, 4, 3)) == "float32[?,2]"
    assert kind(builder.slice(a, 1, n, None)) == "float32[?,?]"
    assert kind(builder.pad(b, [(1, 2), (0, n)])) == "float32[6,?]"
    assert kind(builder.concat([a, builder.slice(a, 1, 0, 1)], 1)) == "float32[?,5]"
    assert kind(builder.stack([b, b], 2)) == "float32[3,1,2]"


@pytest.mark.parametrize(("size", "stride"), list(product(range(1, 7), range(1, 4))))
def test_the_size_of_a_strided_slice(values: list[Tensor], size: int, stride: int) -> None:
    builder = Builder()
    column = builder.constant([0] * size, "int32")
    assert builder.shape(builder.slice(column, 0, 0, 99, stride)) == (len(range(0, size, stride)),)
