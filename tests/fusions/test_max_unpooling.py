from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.fusions.composite import Composite
from litefuse.fusions.fusion import find_fusion
from litefuse.ir.mlir import ir, mlir_context
from tests.fusions.fusing import reason

NAME = "addons:MaxUnpooling2D"
ATTRIBUTES: dict[str, Any] = {"pool_size": [2, 3], "strides": [2, 3], "padding": "SAME"}


@pytest.mark.parametrize(
    ("arguments", "results", "attributes"),
    [
        ("1x2x2x1xf32 1x2x2x1xi32", "1x4x6x1xf32", {}),
        ("?x2x2x1xf32 ?x2x2x1xi64", "?x4x6x1xf32", {"tfl_fusable_op": True}),
        ("?x?x?x?xf32 ?x?x?x?xi32", "?x?x?x?xf32", {}),
        ("1x2x2x1xi8 1x2x2x1xi32", "*xi8", {}),
        ("1x2x2x1xf32 1x2x2x1xi32", "1x5x8x1xf32", {"strides": [3, 5], "padding": "VALID"}),
    ],
)
def test_accepted(arguments: str, results: str, attributes: dict[str, Any]) -> None:
    assert reason(NAME, arguments, results, ATTRIBUTES | attributes) is None


@pytest.mark.parametrize("missing", sorted(ATTRIBUTES))
def test_required_attribute(missing: str) -> None:
    found = reason(
        NAME, "1x2x2x1xf32 1x2x2x1xi32", "1x4x6x1xf32", {k: v for k, v in ATTRIBUTES.items() if k != missing}
    )
    assert found is not None
    assert f"it needs the attribute {missing}" in found


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("padding", "NO", "the attribute padding is 'NO'; MaxUnpooling2D takes SAME or VALID"),
        ("padding", 1, "the attribute padding is 1"),
        ("padding", ["SAME"], "the attribute padding is ['SAME']"),
        ("pool_size", [2], "the attribute pool_size is [2]; MaxUnpooling2D takes two positive ints"),
        ("pool_size", [2.0, 2.0], "the attribute pool_size is [2.0, 2.0]"),
        ("pool_size", 2, "the attribute pool_size is 2"),
        ("strides", [1, 2, 3], "the attribute strides is [1, 2, 3]"),
        ("strides", [1, "2"], "the attribute strides is [1, '2']"),
        ("strides", [0, 2], "the attribute strides is [0, 2]"),
        ("strides", [True, 2], "the attribute strides is [True, 2]"),
        ("data_format", "NHWC", "MaxUnpooling2D has no attribute data_format"),
    ],
)
def test_wrong_attribute(name: str, value: Any, expected: str) -> None:
    found = reason(NAME, "1x2x2x1xf32 1x2x2x1xi32", "1x4x6x1xf32", {**ATTRIBUTES, name: value})
    assert found is not None
    assert expected in found


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("1x2x2x1xf32", "1x4x6x1xf32", "it has 1 arguments, not 2 (updates, mask)"),
        ("1x2x2x1xf32 1x2x2x1xi32 i32", "1x4x6x1xf32", "it has 3 arguments"),
        ("1x2x2x1xf32 1x2x2x1xi32", "1x4x6x1xf32 i32", "it has 2 results, not 1"),
        ("1x2x2x1xf32 1x2x2x1xi32", "", "it has 0 results, not 1"),
        ("2x2x1xf32 2x2x1xi32", "4x6x1xf32", "updates is float32[2,2,1]"),
        ("*xf32 1x2x2x1xi32", "1x4x6x1xf32", "updates is float32[*]"),
        ("1x2x2x1xi1 1x2x2x1xi32", "1x4x6x1xi1", "updates is bool[1,2,2,1]"),
        ("1x2x2x1xf32 1x2x2x1xf32", "1x4x6x1xf32", "mask is float32[1,2,2,1]"),
        ("1x2x2x1xf32 4xi32", "1x4x6x1xf32", "mask is int32[4]"),
        ("1x2x2x1xf32 1x2x3x1xi32", "1x4x6x1xf32", "each value has one position"),
        ("1x2x2x1xf32 1x2x2x1xi32", "1x4x4x1xf32", "that of MaxUnpooling2D float32[1,4,6,1]"),
        ("1x2x2x1xf32 1x2x2x1xi32", "1x4x6x1xi32", "the result is int32[1,4,6,1]"),
        ("1x2x2x1xf32 1x2x2x1xi32", "24xf32", "the result is float32[24]"),
    ],
)
def test_wrong_types(arguments: str, results: str, expected: str) -> None:
    found = reason(NAME, arguments, results, ATTRIBUTES)
    assert found is not None
    assert expected in found


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("pool_size", "strides"), [([2, 3], [2, 3]), ([3, 3], [2, 1]), ([1, 2], [3, 4])])
def test_positions_of_the_check_are_those_of_pooling(padding: str, pool_size: list[int], strides: list[int]) -> None:
    attributes = {"pool_size": pool_size, "strides": strides, "padding": padding}
    fusion = find_fusion(NAME)
    assert fusion is not None
    with mlir_context(), ir.Location.unknown():
        module = ir.Module.create()
        kinds = [ir.Type.parse(f"tensor<?x4x5x2x{element}>") for element in ("f32", "i64")]
        with ir.InsertionPoint(module.body):
            values = [
                ir.Operation.create("tf.Placeholder", results=[kind], operands=[], attributes=None).results[0]
                for kind in kinds
            ]
        composite = Composite(NAME, attributes, values, [ir.Type.parse("tensor<?x?x?x2xf32>")], "composite")
        inputs = fusion.check_inputs(composite, 3, np.random.default_rng(0))
    assert inputs is not None
    updates, mask = inputs
    assert (updates.dtype, mask.dtype) == (np.float32, np.int64)
    assert updates.shape == mask.shape == (3, 4, 5, 2)
    sizes = [
        n * s if padding == "SAME" else (n - 1) * s + p for n, s, p in zip((4, 5), strides, pool_size, strict=True)
    ]
    assert (mask % 2 == [0, 1]).all()
    for axis, place in enumerate((mask // 2 // sizes[1], mask // 2 % sizes[1])):
        count = (4, 5)[axis]
        padded = max((count - 1) * strides[axis] + pool_size[axis] - sizes[axis], 0) // 2
        window = np.arange(count).reshape([-1 if i == axis + 1 else 1 for i in range(4)])
        offset = place - window * strides[axis] + padded
        assert ((place >= 0) & (place < sizes[axis]) & (offset >= 0) & (offset < pool_size[axis])).all()
