"""What is drawn again because one of two models refuses it, and rows that only the original's tables have."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

import litefuse
from litefuse.conversion.verify.original import Arrays, Call, RefusedCallError
from litefuse.conversion.verify.reference import Reference
from litefuse.errors import LitefuseError, ModelCrashError
from litefuse.litert.inputs.model_inputs import Tables
from tests.litert.runtime.models import Graph, model

NONE = Tables()
FIVE = Tables(shapes=frozenset({(5, 2)}))
TABLE: Any = np.arange(10, dtype=np.float32).reshape(5, 2) ** 2


def looked_up(rows: int) -> bytes:
    """The rows of a table that ids pick: the first of ``TABLE``."""
    graph = Graph()
    ids, y = graph.input("ids", (3,), np.int32), graph.output("y", (3, 2))
    graph.builtin("GATHER", [graph.tensor("table", (rows, 2), value=TABLE[:rows]), ids], [y])
    return model(graph, signatures={"serve": 0})


def doubled(custom: bool = False) -> bytes:
    """Twice each number; four times, where a custom op doubles the sum."""
    graph = Graph()
    x, y = graph.input("x", (4,), np.int32), graph.output("y", (4,), np.int32)
    total = graph.tensor("total", (4,), np.int32) if custom else y
    graph.builtin("ADD", [x, x], [total])
    if custom:
        graph.custom("Doubled", [total], [y])
    return model(graph, signatures={"serve": 0})


def summed(names: str) -> bytes:
    """The sum of the inputs, each of which is added to itself first."""
    graph = Graph()
    inputs = [graph.input(name, (4,), np.float32) for name in names]
    y = graph.output("y", (4,), np.float32)
    graph.builtin("ADD", [inputs[0], inputs[-1]], [y])
    return model(graph, signatures={"serve": 0})


ONES: Any = np.ones(4, np.float32)


@pytest.mark.parametrize("function", [litefuse.verify_model, litefuse.benchmark])
@pytest.mark.parametrize("form", ["array", "list", "mapping", "file"])
def test_inputs_are_an_array_a_mapping_or_a_file(function: Any, form: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=ONES)
    inputs = {"array": ONES, "list": [1.0] * 4, "mapping": {"a": ONES}, "file": str(tmp_path / "x.npz")}[form]
    if function is litefuse.benchmark:
        (measured,) = function(summed("a"), inputs=inputs, repeat=2, ops=False).measurements
        assert [input_.name for input_ in measured.inputs] == ["a"]
        return
    expected = np.savez(tmp_path / "y.npz", y=2 * ONES) or tmp_path / "y.npz"
    assert function(summed("a"), inputs=inputs, expected=expected).ok
    assert not function(summed("a"), inputs=inputs, expected={"y": 3 * ONES}).ok
    assert function(summed("a"), summed("a"), inputs=inputs).ok


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({"inputs": ONES}, "one array is given, and the model takes 2 inputs", "{'a': ..., 'b': ...}"),
        ({"inputs": "no.npz"}, "no such file", ""),
        ({"inputs": {"a": ONES, "b": [[1], [1, 2]]}}, "inputs has what is not an array", ""),
        ({"inputs": ONES, "original": None, "expected": ONES}, "expected is a ndarray", "{'output': array}"),
    ],
)
def test_other_inputs_are_refused_with_what_to_write(given: Any, message: str, hint: str) -> None:
    verify: Any = litefuse.verify_model
    with pytest.raises(LitefuseError, match=message) as caught:
        verify(summed("ab"), **{"original": summed("ab"), **given})
    assert hint in caught.value.hint
    with pytest.raises(LitefuseError, match=r"(?s)too many positional.*inputs=, .*samples="):
        verify(summed("ab"), summed("ab"), ONES)


def quadrupled(x: Any) -> Any:
    return x * 4


def picked(ids: Any) -> Any:
    return TABLE[ids]


def limited_to(last: int) -> Callable[[Any], Any]:
    def function(ids: Any) -> Any:
        return TABLE[np.minimum(ids, last)]

    return function


@pytest.fixture
def against(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[litefuse.Verification, list[Arrays]]]:
    """Compares a model with a function, which stands for an original: the verification, and the original's inputs."""

    def compare(
        content: bytes, function: Callable[..., Any], tables: Tables = NONE, **options: Any
    ) -> tuple[litefuse.Verification, list[Arrays]]:
        given: list[Arrays] = []

        def call(rounds: Sequence[Sequence[Call]], outputs: Mapping[str, tuple[str, ...]]) -> list[list[Arrays]]:
            assert outputs == {"serve": ("y",)}
            given.extend(each.inputs for calls in rounds for each in calls)
            return [[{"y": function(*each.inputs.values())} for each in calls] for calls in rounds]

        def look(_: object) -> NoReturn:
            raise AssertionError("no layers are compared")

        @contextmanager
        def opened(*_: object, **__: object) -> Generator[Reference]:
            yield Reference("the original", tables, call, look)

        monkeypatch.setattr("litefuse.conversion.verify.against_original.opened", opened)
        return litefuse.verify_model(content, object(), **options), given

    return compare


def refusing(limit: int, calls: list[int]) -> Callable[[Any], Any]:
    """Doubles numbers below a limit, and refuses others; notes the largest of each call."""

    def function(x: Any) -> Any:
        calls.append(int(np.abs(x).max()))
        if calls[-1] >= limit:
            raise RefusedCallError(f"it refuses {calls[-1]}")
        return x + x

    return function


def test_numbers_that_the_original_refuses_are_drawn_in_the_next_limits(against: Callable[..., Any]) -> None:
    calls: list[int] = []
    verification, _ = against(doubled(), refusing(10, calls))
    assert verification.verdict == "equal"
    assert verification.limit == 10
    assert calls[0] >= 10
    assert max(calls[1:]) < 10
    calls.clear()
    assert against(doubled(), refusing(2, calls))[0].limit == 2
    assert sum(each >= 2 for each in calls) == 2


def test_an_original_that_refuses_all_numbers_says_why_it_refused_the_first(against: Callable[..., Any]) -> None:
    calls: list[int] = []
    with pytest.raises(RefusedCallError) as raised:
        against(doubled(), refusing(0, calls))
    assert f"it refuses {calls[0]}" in str(raised.value)
    assert len(calls) == 4
    assert calls[-1] == 0


def test_inputs_that_are_given_are_not_drawn_again(against: Callable[..., Any]) -> None:
    calls: list[int] = []
    with pytest.raises(RefusedCallError, match="it refuses 40"):
        against(doubled(), refusing(10, calls), inputs={"x": np.array([40, 1, 2, 3], np.int32)})
    assert calls == [40]


KERNEL = """
import os
import litefuse

with open("LOADED", "a") as file:
    file.write("once ")

@litefuse.custom_op("Doubled")
class Doubled(litefuse.CustomOp):
    def prepare(self, x):
        return x

    def invoke(self, inputs, outputs):
        if inputs[0].max() >= LIMIT:
            os._exit(3)
        outputs[0][...] = inputs[0] * 2
"""


def test_a_model_that_dies_of_large_numbers_gets_smaller_ones(against: Callable[..., Any], tmp_path: Path) -> None:
    kernel, loaded = tmp_path / "kernel.py", tmp_path / "loaded"
    text = KERNEL.replace("LOADED", str(loaded))
    kernel.write_text(text.replace("LIMIT", "4"))
    verification, given = against(doubled(custom=True), quadrupled, kernels=[str(kernel)])
    assert verification.limit == 2
    assert verification.verdict == "equal"
    assert {*np.concatenate([each["x"] for each in given]).tolist()} == {0, 1}
    assert loaded.read_text() == "once " * 4
    kernel.write_text(text.replace("LIMIT", "0"))
    with pytest.raises(ModelCrashError):
        against(doubled(custom=True), quadrupled, kernels=[str(kernel)])
    assert loaded.read_text() == "once " * (4 + 5)


def test_rows_that_only_the_original_has(against: Callable[..., Any]) -> None:
    verification, given = against(looked_up(3), picked, FIVE)
    assert verification.verdict == "differs"
    assert "it refuses rows that the original takes" in str(verification)
    assert "3 of 5" in str(verification)
    assert {3, 4} <= {*np.concatenate([each["ids"] for each in given]).tolist()}
    # As many rows, and rows that the original refuses as well.
    assert against(looked_up(5), picked, FIVE)[0].verdict == "equal"

    def refuses(ids: Any) -> Any:
        if ids.max() >= 3:
            raise RefusedCallError("there is no such row")
        return TABLE[ids]

    assert against(looked_up(3), refuses, FIVE)[0].verdict == "equal"


def test_rows_of_one_table_that_neither_takes_say_nothing_of_another(against: Callable[..., Any]) -> None:
    graph = Graph()
    rows = [graph.tensor(name, (3, 2)) for name in ("rows_a", "rows_b")]
    for name, result in zip("ab", rows, strict=True):
        ids = graph.input(name, (3,), np.int32)
        graph.builtin("GATHER", [graph.tensor(f"table_{name}", (3, 2), value=TABLE[:3]), ids], [result])
    graph.builtin("ADD", rows, [graph.output("y", (3, 2))])

    def function(a: Any, b: Any) -> Any:
        if a.max() >= 3:
            raise RefusedCallError("there is no such row")
        return TABLE[a] + TABLE[b]

    verification, _ = against(model(graph, signatures={"serve": 0}), function, FIVE)
    assert verification.verdict == "differs"
    assert "it refuses rows that the original takes" in str(verification)


def test_rows_that_only_the_original_has_and_the_model_takes(against: Callable[..., Any], tmp_path: Path) -> None:
    graph = Graph()
    ids, y = graph.input("ids", (3,), np.int32), graph.output("y", (3, 2))
    limited = graph.tensor("limited", (3,), np.int32)
    graph.builtin("MINIMUM", [ids, graph.tensor("last", (), np.int32, value=2)], [limited])
    graph.builtin("GATHER", [graph.tensor("table", (3, 2), value=TABLE[:3]), limited], [y])
    content = model(graph, signatures={"serve": 0})
    verification, given = against(content, limited_to(2), FIVE)
    assert verification.verdict == "equal"
    assert verification.calls == len(given)
    assert against(content, limited_to(4), FIVE)[0].verdict == "differs"


def test_errors_of_the_model_itself_are_raised(against: Callable[..., Any]) -> None:
    with pytest.raises(LitefuseError, match="Doubled"):
        against(doubled(custom=True), quadrupled)
