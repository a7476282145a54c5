from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.fusions.composite import Composite
from litefuse.fusions.fusion import find_fusion
from litefuse.ir.mlir import ir, mlir_context
from litefuse.testing import became

NAME = "addons:MaxUnpooling2D"
ATTRIBUTES: dict[str, Any] = {"pool_size": [2, 3], "strides": [2, 3], "padding": "SAME"}


@pytest.mark.parametrize(
    ("arguments", "results", "attributes"),
    [
        ("float32[1,2,2,1] int32[1,2,2,1]", "float32[1,4,6,1]", {}),
        ("float32[?,2,2,1] int64[?,2,2,1]", "float32[?,4,6,1]", {"tfl_fusable_op": True}),
        ("float32[?,?,?,?] int32[?,?,?,?]", "float32[?,?,?,?]", {}),
        ("int8[1,2,2,1] int32[1,2,2,1]", "int8[*]", {}),
        ("float32[1,2,2,1] int32[1,2,2,1]", "float32[1,5,8,1]", {"strides": [3, 5], "padding": "VALID"}),
    ],
)
def test_accepted(arguments: str, results: str, attributes: dict[str, Any]) -> None:
    assert became(NAME, arguments, results, ATTRIBUTES | attributes).reason is None


@pytest.mark.parametrize("missing", sorted(ATTRIBUTES))
def test_required_attribute(missing: str) -> None:
    found = became(
        NAME,
        "float32[1,2,2,1] int32[1,2,2,1]",
        "float32[1,4,6,1]",
        {k: v for k, v in ATTRIBUTES.items() if k != missing},
    ).reason
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
    found = became(NAME, "float32[1,2,2,1] int32[1,2,2,1]", "float32[1,4,6,1]", {**ATTRIBUTES, name: value}).reason
    assert found is not None
    assert expected in found


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("float32[1,2,2,1]", "float32[1,4,6,1]", "it has 1 arguments, not 2 (updates, mask)"),
        ("float32[1,2,2,1] int32[1,2,2,1] int32[]", "float32[1,4,6,1]", "it has 3 arguments"),
        ("float32[1,2,2,1] int32[1,2,2,1]", "float32[1,4,6,1] int32[]", "it has 2 results, not 1"),
        ("float32[1,2,2,1] int32[1,2,2,1]", "", "it has 0 results, not 1"),
        ("float32[2,2,1] int32[2,2,1]", "float32[4,6,1]", "updates is float32[2,2,1]"),
        ("float32[*] int32[1,2,2,1]", "float32[1,4,6,1]", "updates is float32[*]"),
        ("bool[1,2,2,1] int32[1,2,2,1]", "bool[1,4,6,1]", "updates is bool[1,2,2,1]"),
        ("float32[1,2,2,1] float32[1,2,2,1]", "float32[1,4,6,1]", "mask is float32[1,2,2,1]"),
        ("float32[1,2,2,1] int32[4]", "float32[1,4,6,1]", "mask is int32[4]"),
        ("float32[1,2,2,1] int32[1,2,3,1]", "float32[1,4,6,1]", "each value has one position"),
        ("float32[1,2,2,1] int32[1,2,2,1]", "float32[1,4,4,1]", "that of MaxUnpooling2D float32[1,4,6,1]"),
        ("float32[1,2,2,1] int32[1,2,2,1]", "int32[1,4,6,1]", "the result is int32[1,4,6,1]"),
        ("float32[1,2,2,1] int32[1,2,2,1]", "float32[24]", "the result is float32[24]"),
    ],
)
def test_wrong_types(arguments: str, results: str, expected: str) -> None:
    found = became(NAME, arguments, results, ATTRIBUTES).reason
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
