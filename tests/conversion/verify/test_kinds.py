"""Files that are wrong for some kinds of numbers only, and others that round differently, against the right ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

import litefuse
from litefuse.conversion.verify.standalone import standalone_model
from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import ir, mlir_context
from litefuse.litert.inputs.kinds import kinds_of
from tests.conversion.verify.tensorflow_text import Argument, Formula, function
from tests.conversion.verify.test_self_check_kinds import RIGHT, WRONG
from tests.litert.runtime.models import unary

# Few in one file: each file has its own numbers that are small.
GROUPS = {
    "small": ("epsilon 1e-5 for 1e-6", "half up in steps", "the last of equal maxima", "no clip at 6"),
    "smaller": ("epsilon 1e-6 for 1e-12", "clip at 6.01", "no clip at 100", "1 % beside -1e9"),
    "more": ("epsilon 1.01e-3 for 1e-3", "not less for greater", "softplus that overflows", "50 % beside 1e6"),
    "others": ("NaN is kept", "a score that is moved", "exp without a cap", "a cell without a cap"),
    "rows": ("no truncation to 4", "no truncation to 128"),
}

# Their results overflow, or are next to nothing, in calls for other results.
UNUSUAL = {"softplus that the body lets overflow", "sigmoid by tanh", "argmax of what overflows"}


def converted(argument: Argument, *formulas: Formula) -> bytes:
    with mlir_context():
        module = ir.Module.parse(function("whole", argument, *formulas))
        return standalone_model(module, functions(module)["whole"]).content


def verified(
    names: Sequence[str], pairs: Mapping[str, tuple[Formula, Formula, Argument]]
) -> dict[str, tuple[str, str]]:
    """The verdict and problem of each pair: the right one of a file with all of them is the original."""
    right, other, (argument, *_) = zip(*(pairs[name] for name in names), strict=True)
    outputs = litefuse.verify_model(converted(argument, *other), converted(argument, *right)).outputs
    by_name = {each.name: (each.verdict, each.problem) for each in outputs}
    return {name: by_name[f"y{number}"] for number, name in enumerate(names)}


@pytest.mark.parametrize("group", GROUPS)
def test_a_wrong_file_differs(group: str) -> None:
    found = verified(GROUPS[group], WRONG)
    assert {verdict for verdict, _ in found.values()} == {"differs"}, found
    assert any(" for " in problem and ", with " in problem for _, problem in found.values()), found


def test_right_files_do_not() -> None:
    names = [name for name, (_, _, argument) in RIGHT.items() if argument[1] == "f32" and name not in UNUSUAL]
    found = verified(names, RIGHT)
    assert {name: output for name, output in found.items() if output != ("equal", "")} == {}


@pytest.mark.parametrize(
    ("constant", "scales"),
    [
        *((35, [70]), (-60, []), (190, []), (210, [420]), (20, [])),
        *((0.04, [0.05, 0.01]), (1e-12, [2.5e-7, 2.5e-13]), (4e-6, [0.0005]), (0.5, [])),
    ],
)
def test_numbers_are_scaled_to_large_and_small_constants(constant: float, scales: list[float]) -> None:
    """Twice a large one, a quarter of a small one and of its root; no scale is within a factor of 2 of another."""
    kinds = kinds_of(unary("Double"), numbers=[constant])
    drawn = [kind.manner.scale for kind in kinds if kind.name.startswith("numbers times")]
    assert sorted(drawn) == pytest.approx(sorted([*scales, 1e-6, 10, 200]))


def test_two_verifications_are_the_same() -> None:
    right, wrong, argument = WRONG["half up in steps"]
    one, other = (converted(argument, formula) for formula in (wrong, right))
    first, second = (litefuse.verify_model(one, other) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert first.verdict == "differs"
