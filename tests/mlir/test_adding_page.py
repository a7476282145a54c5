"""The pass that docs/guides/adding.md adds passes the test that it has there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from litefuse.ir.passes import Pass
from tests.mlir import test_mlir

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "adding.md").read_text()


def _block(language: str, part: str) -> str:
    """The only block of code that contains a text."""
    (found,) = [block for block in re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL) if part in block]
    return found


def test_the_pass_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    defined: dict[str, Any] = {}
    exec(_block("python", "class CancelNegations"), defined)
    entry: dict[str, Any] = eval(f"{{{_block('python', 'lambda')}}}", defined)
    cases = _block("mlir", "// RUN").split("// -----\n")
    assert len(cases) == 2
    for name, make in entry.items():
        monkeypatch.setitem(test_mlir.PASSES, name, make)
    for text in cases:
        test_mlir.test_pass(text)

    class Nothing:
        name = "cancel-negations"

        def run(self, module: Any) -> bool:
            return False

    nothing: Pass = Nothing()
    monkeypatch.setitem(test_mlir.PASSES, "cancel-negations", lambda _o, _v: nothing)
    with pytest.raises(AssertionError):
        test_mlir.test_pass(cases[0])
