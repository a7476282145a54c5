"""The script that draws mutants: what it changes, and which tests it runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts.mutants import SOURCES, covering_tests, mutants_of

SOURCE = '''
"""A module of 1 line."""
from __future__ import annotations

LIMIT: int = 3

def larger(x: Literal[5], größe: bool = True) -> list[int]:
    """Returns 2."""
    for each in x:
        if not each or each < LIMIT - 1:
            continue
        print(f"ä {each + 1}")
    if größe is None:
        raise ValueError("1" if größe else 2)
    return max(x, -each)
'''


def test_each_kind_of_change_is_made_in_its_place() -> None:
    mutants = mutants_of(SOURCE)
    changes = {(each.line, each.before): each.after for each in mutants}
    assert changes == {
        (5, "3"): "(4)",
        (7, "True"): "(False)",
        (10, "not each or each < LIMIT - 1"): "(not each and each < LIMIT - 1)",
        (10, "not each"): "(each)",
        (10, "each < LIMIT - 1"): "(each <= LIMIT - 1)",
        (10, "LIMIT - 1"): "(LIMIT + 1)",
        (10, "1"): "(2)",
        (11, "continue"): "break",
        (12, "print(f'ä {each + 1}')"): "pass",
        (13, "größe is None"): "(größe is not None)",
        (15, "return max(x, -each)"): "return",
        (15, "max(x, -each)"): "(min(x, -each))",
        (15, "-each"): "(each)",
    }
    before = SOURCE.splitlines()
    for mutant in mutants:
        compile(mutant.source, "mutant", "exec")
        after = mutant.source.splitlines()
        assert [number for number, line in enumerate(before, 1) if line != after[number - 1]] == [mutant.line]
        assert mutant.after in after[mutant.line - 1]


@pytest.mark.parametrize(
    ("module", "tests"),
    [
        ("litert/export/buffers.py", {"tests/litert/export"}),
        (
            "passes/control_flow/litert_loops.py",
            {"tests/mlir/test_mlir.py", "tests/passes/weights/test_fold_weights.py"},
        ),
        ("passes/legalize/arrays/diagonals.py", {"tests/passes/legalize"}),
        ("tools/cli/convert.py", {"tests/tools/cli"}),
        ("conversion/api.py", {"tests/conversion/test_api.py"}),
    ],
)
def test_tests_are_found_by_the_name_of_a_module(module: str, tests: set[str]) -> None:
    assert (SOURCES / module).is_file()
    assert tests <= {*covering_tests(Path(module))}
