from __future__ import annotations

from dataclasses import replace

from litefuse.frontends.saved_model import load
from litefuse.ir.importer import import_saved_model
from litefuse.ir.mlir import mlir_context
from litefuse.tools.demo import SAVED_MODEL
from tests.ir.importer.function_defs import Asked


def test_functions_that_nothing_calls_are_not_asked_for() -> None:
    model = load(SAVED_MODEL)
    functions = Asked(model.functions)
    with mlir_context():
        import_saved_model(replace(model, functions=functions), [min(model.signatures)])
    assert functions.names
    assert functions.names < {*model.functions}
