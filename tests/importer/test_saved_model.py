from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from litefuse.demo import SAVED_MODEL
from litefuse.engine.mlir import mlir_context
from litefuse.importer import import_saved_model
from litefuse.saved_model import load
from litefuse.saved_model.messages import FunctionDef


class Asked(Mapping[str, FunctionDef]):
    """Functions, with the names of those that were asked for."""

    def __init__(self, functions: Mapping[str, FunctionDef]) -> None:
        self.functions = functions
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> FunctionDef:
        self.names.add(name)
        return self.functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def __contains__(self, name: object) -> bool:
        return name in self.functions


def test_functions_that_nothing_calls_are_not_asked_for() -> None:
    model = load(SAVED_MODEL)
    functions = Asked(model.functions)
    with mlir_context():
        import_saved_model(replace(model, functions=functions), [min(model.signatures)])
    assert functions.names
    assert functions.names < {*model.functions}
