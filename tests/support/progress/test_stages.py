"""Every step that is announced anywhere is in a stage that users see."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import litefuse
from litefuse.conversion.pipeline.step_names import module_steps
from litefuse.support.progress.stages import ANY_STAGE, STAGES, STEPS, Step, detail_of, stage_of

SOURCES = Path(litefuse.__file__).parent

#: The names of the functions that steps are announced with.
ANNOUNCING = {"announce", "on_step", "begin", "_announce", "_on_step", "counted", "Step"}
#: What targets announce comes behind the step ``ask``; what litefuse doctor tries shows no progress.
WITHIN_OTHERS = ("tools/environment/software.py", "litert/targets/")


def constants(text: str) -> dict[str, str]:
    """The strings that a module gives names to."""
    return dict(re.findall(r'^(\w+) = "([^"]*)"$', text, flags=re.MULTILINE))


def announced(tree: ast.AST, named: Mapping[str, str]) -> Iterator[str]:
    """The texts of steps in calls, up to the first part that is computed."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        function, step = node.func, node.args[0]
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name not in ANNOUNCING:
            continue
        if isinstance(step, ast.JoinedStr) and step.values:
            step = step.values[0]
        if isinstance(step, ast.Constant) and isinstance(step.value, str) and step.value:
            yield step.value
        elif isinstance(step, ast.Name) and step.id in named:
            yield named[step.id]


def all_announced() -> dict[str, str]:
    """All steps, and for each a module that announces it."""
    texts = {path.relative_to(SOURCES).as_posix(): path.read_text() for path in SOURCES.rglob("*.py")}
    everywhere = {name: value for text in texts.values() for name, value in constants(text).items()}
    calls = re.compile(rf"\b(?:{'|'.join(ANNOUNCING)})\(")
    return {
        step: place
        for place, text in texts.items()
        if calls.search(text) and not place.startswith(WITHIN_OTHERS)
        for step in announced(ast.parse(text), {**everywhere, **constants(text)})
    }


def test_every_announced_step_has_a_stage() -> None:
    found = all_announced()
    assert {"read", "quantize", "check-file", "check-target", "compile", "ask: ", "export", "self-check"} <= {*found}
    assert {step: place for step, place in found.items() if stage_of(step) is None and step not in ANY_STAGE} == {}


def test_every_pass_has_a_stage() -> None:
    assert {*module_steps()} - {*STEPS} == ANY_STAGE


def test_a_step_without_a_stage_is_found() -> None:
    program = 'WEIGH = "weigh"\non_step(f"ponder: {what}")\nself.announce("wonder")\nannounce(WEIGH)\nprint("x")'
    assert [*announced(ast.parse(program), constants(program))] == ["ponder: ", "wonder", "weigh"]
    assert stage_of("ponder: it") is None


def test_the_table_has_no_step_that_there_is_not() -> None:
    texts = "\n".join(path.read_text() for path in SOURCES.rglob("*.py") if path.parent.name != "progress")
    others = {*STEPS, *ANY_STAGE} - {*module_steps()}  # the name of a pass may be that of its function
    assert [step for step in others if f'"{step}' not in texts] == []


def test_each_step_is_in_one_stage() -> None:
    assert sum(map(len, STAGES.values())) == len(STEPS)
    assert not ANY_STAGE & {*STEPS}


@pytest.mark.parametrize(
    ("step", "stage", "detail"),
    [
        ("lower", "Translating ops", ""),
        ("quantize: sample 3 of 10, 5 s left", "Quantizing", "sample 3 of 10, 5 s left"),
        ("invoke, signature 'x'", "Calling the model", "signature 'x'"),
        ("ask: gpu, compile the model", "Asking targets", "gpu, compile the model"),
        ("symbol-dce", None, ""),
        ("", None, ""),
    ],
)
def test_names_and_details(step: str, stage: str | None, detail: str) -> None:
    assert stage_of(step) == stage
    assert detail_of(step) == detail


def test_a_step_is_sent_with_its_fraction() -> None:
    step: Step = pickle.loads(pickle.dumps(Step("quantize: sample 3 of 10", 3, 10)))
    assert step == "quantize: sample 3 of 10"
    assert (type(step), step.done, step.total) == (Step, 3, 10)
