"""Composites of given types, for the reasons why conversion code refuses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from litefuse.fusions.composite import Composite
from litefuse.fusions.fusion import find_fusion
from litefuse.ir.mlir import ir, mlir_context


def reason(name: str, arguments: str, results: str, attributes: Mapping[str, Any] | None = None) -> str | None:
    """Why the fusion registered for ``name`` refuses a composite; None when it does not.

    Args:
        name: The composite's name.
        arguments: The arguments' types as in ``tensor<4xf32>``, without ``tensor<>``, separated by blanks.
        results: The results' types, alike.
        attributes: The annotation's attributes.
    """
    fusion = find_fusion(name)
    assert fusion is not None
    with mlir_context(), ir.Location.unknown():
        module = ir.Module.create()
        inputs, outputs = ([ir.Type.parse(f"tensor<{one}>") for one in text.split()] for text in (arguments, results))
        with ir.InsertionPoint(module.body):
            values = [
                ir.Operation.create("tf.Placeholder", results=[kind], operands=[], attributes=None).results[0]
                for kind in inputs
            ]
        return fusion.verify(Composite(name, attributes or {}, values, outputs, "composite"))
