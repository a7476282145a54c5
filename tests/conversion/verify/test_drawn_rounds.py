# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""The calls that a model gets whose inputs are drawn: their sizes, their numbers, and how many there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify import drawn_rounds as module
from litefuse.conversion.verify.converted import ConvertedModel
from litefuse.conversion.verify.drawn_rounds import Branches, DrawnRounds, Kinds, Plan, drawn_rounds
from litefuse.conversion.verify.original import Call
from litefuse.errors import InterpreterError
from litefuse.litert.inputs.drawer import Manner
from litefuse.litert.inputs.kinds import Kind
from litefuse.litert.inputs.model_inputs import ModelInputs, Tables
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from tests.every import every
from tests.litert.runtime.models import Graph, model

_Function = Callable[[Any], Any]


def refusing(is_refused: Callable[[Any], Any], function: _Function = np.copy) -> _Function:
    def computed(x: Any) -> Any:
        if is_refused(x):
            raise ValueError(f"it refuses {x.shape}")
        return function(x)

    return computed


def refusing_once() -> _Function:
    left = [True]
    return refusing(lambda _: left and left.pop())


def kernel(function: _Function = np.copy) -> type[CustomOp]:
    class Anything(CustomOp):
        op_name = "Anything"

        def prepare(self, x: TensorSpec, *_: TensorSpec) -> TensorSpec:
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Any) -> None:
            outputs[0][...] = function((inputs[0] / 2).astype(inputs[0].dtype))

    return Anything


def closed(shape: Sequence[int]) -> list[int]:
    return [1 if size < 0 else size for size in shape]


def anything(*shapes: Sequence[int], dtype: Any = np.float32) -> Graph:
    """``y = function((x0 + x0) / 2)``, beside other inputs: ADD takes any integers."""
    graph = Graph()
    inputs = [graph.input(f"x{at}", closed(shape), dtype, signature=shape) for at, shape in enumerate(shapes)]
    total = graph.tensor("total", closed(shapes[0]), dtype, signature=shapes[0])
    graph.builtin("ADD", [inputs[0], inputs[0]], [total])
    graph.custom("Anything", [total, *inputs[1:]], [graph.output("y", closed(shapes[0]), dtype, signature=shapes[0])])
    return graph


def looked_up(rows: int, ids: Sequence[int], box: tuple[int, int] | None = None, columns: int = 1) -> Graph:
    """Rows of a table that ids pick, or those in a part of the first axis."""
    graph = Graph()
    place = graph.input("ids", closed(ids), np.int32, signature=ids)
    if box is not None:
        begin, end, step = (graph.tensor(f"limit{limit}", (1,), np.int32, value=[limit]) for limit in (*box, 1))
        part = graph.tensor("part", [box[1] - box[0], *closed(ids[1:])], np.int32)
        graph.builtin("STRIDED_SLICE", [place, begin, end, step], [part])
        place, ids = part, [box[1] - box[0], *ids[1:]]
    table = graph.tensor("table", (rows, columns), value=np.arange(rows * columns).reshape(rows, columns) % 97)
    picked = graph.tensor("picked", [*closed(ids), columns], signature=[*ids, columns])
    graph.builtin("GATHER", [table, place], [picked])
    graph.custom("Anything", [picked], [graph.output("y", [*closed(ids), columns], signature=[*ids, columns])])
    return graph


def drawn(*graphs: Graph, function: _Function = np.copy, tables: Tables = Tables(), **given: Any) -> DrawnRounds:  # noqa: B008
    content = model(*graphs, signatures={f"serve{number}": number for number in range(len(graphs))})
    plan: dict[str, Any] = {"times": 1, "seed": 0, "shapes": {}, "tolerance": 1e-4, "seconds": 60.0, **given}
    return drawn_rounds(
        ConvertedModel(content, None, [kernel(function)]), ModelInputs(content), Plan(tables=tables, **plan)
    )


def shapes(calls: Sequence[Call]) -> list[tuple[int, ...]]:
    return [next(iter(call.inputs.values())).shape for call in calls]


# Sizes and limits.


@pytest.mark.parametrize(
    ("inputs", "given", "expected"),
    [
        ([(-1,)], {}, [(1,), (3,)]),
        ([(-1, -1)], {}, [(1, 7), (3, 7)]),
        ([(2, -1)], {}, [(2, 7)]),
        ([(2, 4)], {}, [(2, 4)]),
        ([()], {}, [()]),
        ([(-1, 4), (2,)], {}, [(1, 4), (3, 4)]),
        ([(2, 4), (-1,)], {}, [(2, 4), (2, 4)]),
        ([(2, -1), (4,)], {}, [(2, 7)]),
        ([(4,), (2, -1)], {}, [(4,)]),
        ([(-1, -1)], {"x0": (5, 2)}, [(5, 2)]),
        ([(-1, -1), (-1,)], {"x0": (5, 2)}, [(5, 2), (5, 2)]),
    ],
)
def test_sizes(inputs: Any, given: Any, expected: Any) -> None:
    made = drawn(anything(*inputs), shapes=given, times=2)
    assert [shapes(calls) for calls in made.rounds] == [[shape] * 2 for shape in expected]
    for calls, results in zip(made.rounds, made.results, strict=True):
        for call, outputs in zip(calls, results, strict=True):
            np.testing.assert_array_equal(outputs["y"], call.inputs["x0"])
    assert (made.limit, made.coverage, made.beyond) == (None, (), ())


@pytest.mark.parametrize("size", [7, 32, 224, 1])
def test_the_first_size_that_the_model_takes(size: int) -> None:
    tried: list[tuple[int, ...]] = []

    def is_refused(x: Any) -> bool:
        tried.append(x.shape)
        return x.shape[-1] != size

    made = drawn(anything((-1, -1)), function=refusing(is_refused), times=2)
    before = [7, 32, 224, 1][: [7, 32, 224, 1].index(size)]
    assert tried == [*((1, other) for other in before for _ in range(4)), *[(1, size)] * 2, *[(3, size)] * 2]
    assert (shapes(made.rounds[1]), made.limit) == ([(3, size)] * 2, None)


def test_sizes_of_one_of_two_inputs() -> None:
    made = drawn(anything((4,), (2, -1)), function=refusing_once(), times=2, level=3)
    assert [shapes(calls) for calls in made.rounds] == [[(4,)] * 2]
    assert made.rounds[0][0].inputs["x1"].shape == (2, 32)


@pytest.mark.parametrize(("refused", "level", "limit"), [(0, 0, None), (1, 0, 10), (3, 0, 1), (0, 2, 2), (1, 2, 1)])
def test_the_first_limit_that_the_model_takes(
    monkeypatch: pytest.MonkeyPatch, refused: int, level: int, limit: int | None
) -> None:
    """Also where there are too many elements for other sizes."""
    monkeypatch.setattr(module, "_MOST_ELEMENTS", 1)
    tried: list[Any] = []

    def is_refused(x: Any) -> bool:
        tried.append(x)
        return len(tried) <= refused

    made = drawn(anything((5, -1), dtype=np.int32), function=refusing(is_refused), level=level)
    assert (made.limit, {*shapes(made.rounds[0])}) == (limit, {(5, 7)})
    assert limit is None or made.rounds[0][0].inputs["x0"].max() == limit - 1


def test_known_sizes_are_tried_once() -> None:
    """In each limit."""
    tried: list[Any] = []
    with pytest.raises(InterpreterError):
        drawn(anything((2, 4)), function=refusing(lambda x: tried.append(x) or True))
    assert len(tried) == 4


@pytest.mark.parametrize("most", [2047, 2048])
def test_sizes_of_too_many_elements_are_not_tried(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Those of all inputs together, with a batch of 1."""
    monkeypatch.setattr(module, "_MOST_ELEMENTS", most)
    tried: list[int] = []

    def is_refused(x: Any) -> bool:
        tried.append(x.shape[-1])
        return x.shape[-1] != 32

    graph = anything((-1, -1, -1), (-1, -1, -1))
    if most == 2048:
        assert shapes(drawn(graph, function=refusing(is_refused)).rounds[0]) == [(1, 32, 32)]
        return
    with pytest.raises(InterpreterError, match=r"it refuses \(1, 7, 7\)"):  # the first
        drawn(graph, function=refusing(is_refused))
    assert tried == [7] * 4 + [1] * 4


def test_inputs_that_no_signature_has() -> None:
    with pytest.raises(InterpreterError, match="'other'"):
        drawn(anything((2,)), shapes={"other": (2,), "x0": (2,)})


def test_signatures_are_called_in_turn() -> None:
    made = drawn(anything((2,)), anything((3,)), times=2)
    assert [call.signature for call in made.rounds[0]] == ["serve0", "serve1"] * 2
    values = [call.inputs["x0"].tolist() for call in made.rounds[0]]
    assert values[0] != values[2]
    again, other = (drawn(anything((2,)), anything((3,)), times=2, seed=seed).rounds[0] for seed in (0, 1))
    assert [call.inputs["x0"].tolist() for call in again] == values
    assert other[0].inputs["x0"].tolist() != values[0]


# What does not move.


@pytest.mark.parametrize(
    ("function", "more"),
    [
        (np.copy, 2),  # of the second call, with other numbers
        (lambda x: x * (np.abs(x).max() > 8), 4),  # ten times as large
        (lambda x: x * (np.abs(x).max() > 60), 6),  # a hundred times
        (lambda x: x * (x.min() == x.max()), 8),
        (lambda x: x * (x.min() == x.max()) * (np.abs(x).max() > 8), 10),
        (np.zeros_like, 10),
    ],
)
def test_other_numbers_until_each_output_moves(function: _Function, more: int) -> None:
    made = drawn(anything((4,)), function=function)
    assert [*map(len, made.rounds)] == [*map(len, made.results)] == [1, more]
    assert not any(call.thin or call.kind for calls in made.rounds for call in calls)


def test_what_moved_is_not_called_again() -> None:
    assert [*map(len, drawn(anything((4,)), times=2).rounds)] == [2]


def test_signatures_without_inputs_are_called_once_for_two_of_others() -> None:
    constant = Graph()
    constant.builtin("NEG", [constant.tensor("one", (1,), value=[1.0])], [constant.output("z", (1,))])
    _, more = drawn(anything((4,)), constant, function=np.zeros_like).rounds
    assert [call.signature for call in more] == ["serve0", "serve0", "serve1"] * 5


def test_other_numbers_that_the_model_refuses() -> None:
    """They are no calls, and their rows are not picked."""
    made = drawn(anything((4,)), function=refusing(lambda x: x.min() == x.max(), np.zeros_like))
    assert len(made.rounds[1]) == 6
    calls: list[Any] = []

    def is_refused(x: Any) -> bool:
        calls.append(x)
        return len(calls) in {2, 5}

    made = drawn(looked_up(60_000, (4,)), function=refusing(is_refused, np.zeros_like))
    (rows,) = made.coverage
    assert (len(calls), len(made.rounds[1])) == (11, 8)
    assert (rows.signature, rows.name, rows.reached, rows.size, rows.sampled) == ("serve0", "table", 36, 60_000, True)


# Rows.


def test_each_row_is_picked() -> None:
    first, more = drawn(looked_up(40, (3,)), times=2).rounds
    assert len(first) == 2
    assert len(more) == 14
    assert every(call.thin for call in more)
    assert {row for call in more for row in call.inputs["ids"].tolist()} == {*range(40)}
    assert drawn(looked_up(40, (3,)), times=2).coverage[0].complete


def test_many_rows_are_picked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as inputs and outputs of some size take, of which the largest counts."""
    assert shapes(drawn(looked_up(4000, (-1, 3)), times=2).rounds[-1]) == [(1365, 3)]
    monkeypatch.setattr(module, "_BYTES", 10 * 3 * 4 * 2 + 1)
    assert shapes(drawn(looked_up(70, (-1, 3), columns=2), times=2).rounds[-1])[0] == (10, 3)
    monkeypatch.setattr(module, "_BYTES", 1)
    assert shapes(drawn(looked_up(9, (-1, 3)), times=2).rounds[-1])[0] == (1, 3)
    two = drawn(looked_up(9, (-1, 3)), looked_up(9, (-1, 5)), times=2)
    assert {call.signature for call in two.rounds[-1]} == {"serve0", "serve1"}
    monkeypatch.setattr(module, "_BYTES", 10 * 3 * 4 + 1)
    assert shapes(drawn(looked_up(9, (-1, 5)), looked_up(40, (-1, 3)), times=2).rounds[-1])[-1] == (10, 3)


def test_fewer_rows_where_many_are_refused() -> None:
    """Calls that are refused pick none."""
    made = drawn(looked_up(40, (-1,)), times=2, function=refusing(lambda x: len(x) > 3))
    assert shapes(made.rounds[-1]) == [(3,)] * 14
    assert made.coverage[0].reached == 40
    usual: list[Any] = []

    def is_refused(x: Any) -> bool:
        usual.append(x)
        return len(usual) > 4

    made = drawn(looked_up(40, (-1,)), looked_up(5, (-1,)), times=1, function=refusing(is_refused))
    assert [*map(len, made.rounds)] == [2, 2]
    assert [rows.reached for rows in made.coverage] == [0, 0]
    assert len(usual) == 4 + 20 + 2 * 2  # twenty with other numbers
    usual.clear()
    assert [*map(len, drawn(looked_up(40, (3,)), times=4, function=refusing(is_refused)).rounds)] == [4]
    assert len(usual) == 5


def test_rows_that_no_call_has_a_place_for() -> None:
    made = drawn(looked_up(40, (-1,), box=(5, 6)), shapes={"ids": (3,)}, times=2)
    assert (made.coverage[0].reached, len(made.rounds)) == (0, 2)
    made = drawn(looked_up(40, (-1,), box=(5, 6)), shapes={"ids": (6,)}, times=2)
    assert {call.inputs["ids"][5].item() for call in made.rounds[-1]} == {*range(40)}


def test_rows_are_picked_while_there_is_time_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [*map(len, drawn(looked_up(40, (3,)), times=2, seconds=-1.0).rounds)] == [2]
    monkeypatch.setattr(module, "_ALL_BYTES", 2 * 3 * 4)
    made = drawn(looked_up(40, (3,)), looked_up(40, (3,)), times=2)
    assert [*map(len, made.rounds)] == [4, 3]
    assert [rows.reached for rows in made.coverage] == [9, 0]


@pytest.mark.parametrize(
    ("ids", "box", "first", "last"),
    [((4,), None, 0, 3), ((-1,), None, 0, 2), ((2, 3), None, (0, 0), (1, 2)), ((5,), (1, 3), 1, 2), ((), None, (), ())],
)
def test_the_first_and_the_last_row_that_only_the_original_has(ids: Any, box: Any, first: Any, last: Any) -> None:
    made = drawn(looked_up(5, ids, box), tables=Tables(shapes=frozenset({(9, 1)})), times=2)
    ((call, what),) = made.beyond
    rows = call.inputs["ids"]
    assert rows[first] == (5 if first != last else 8)
    assert rows[last] == 8
    assert what == "it refuses rows that the original takes: table has 5 of 9"


def test_without_ids_no_rows_are_picked() -> None:
    assert drawn(looked_up(5, (-1,)), tables=Tables(shapes=frozenset({(9, 1)})), shapes={"ids": (0,)}).beyond == ()


# Branches.


def branching(*, is_output: bool = False, computed: float | None = None) -> Graph:
    """``y = if condition then -x else |x|``, and two of one condition."""
    graph = Graph()
    x = graph.input("x", (1,))
    if computed is None:
        condition = graph.input("condition", (1,), np.bool_)
    else:
        limit, square = graph.tensor("limit", (), value=computed), graph.tensor("square", (1,))
        condition = (graph.output if is_output else graph.tensor)("condition", (1,), np.bool_)
        graph.builtin("MUL", [x, x], [square])
        graph.builtin("GREATER", [square, limit], [condition])
    y, z = graph.tensor("y", (1,)), graph.output("z", (1,))
    graph.builtin("IF", [condition, x], [y], thenSubgraphIndex=1, elseSubgraphIndex=2)
    graph.builtin("SUB", [y, x], [z])
    graph.builtin("IF", [condition, x], [graph.output("other", (1,))], thenSubgraphIndex=1, elseSubgraphIndex=2)
    return graph


def branch(op: str) -> Graph:
    graph = Graph()
    graph.builtin(op, [graph.input("a", (1,))], [graph.output("b", (1,))])
    return graph


def of_branches(*graphs: Graph) -> bytes:
    first, *others = graphs
    places = {"serve": 0} | {f"serve{number}": number + 3 for number in range(len(others))}
    return model(first, branch("NEG"), branch("ABS"), *others, signatures=places)


def test_branches_are_watched(tmp_path: Path) -> None:
    content = of_branches(branching(), anything((1,)), branching(is_output=True, computed=1.0))
    branches = Branches(ConvertedModel(content, None, [kernel()]), tmp_path)

    def taken() -> list[tuple[str, str, int]]:
        assert {(each.size, each.sampled, each.kind) for each in branches.coverage} == {(2, False, "branches")}
        return [(each.signature, each.name, each.reached) for each in branches.coverage]

    one, plain, two = "serve", "serve0", "serve1"
    assert taken() == [(one, "other", 0), (two, "other", 0)]
    x = np.ones(1, np.float32)
    watch = branches.new_round()
    watch(Call(one, {"x": x, "condition": np.array([True])}))
    watch(Call(plain, {"x0": x}))
    watch(Call(one, {"x": -x, "condition": np.array([True])}))
    watch(Call(two, {"x": x}))
    assert [reached for *_, reached in taken()] == [1, 1]
    assert not branches.complete
    watch = branches.new_round()
    watch(Call(two, {"x": 2 * x}))
    assert [reached for *_, reached in taken()] == [1, 2]
    assert not branches.complete
    watch(Call(one, {"x": x, "condition": np.array([False])}))
    assert branches.complete


@pytest.mark.parametrize(("limit", "reached", "more"), [(0.5, 2, None), (64.0, 2, 4), (1e12, 1, 30)])
def test_calls_are_added_while_a_branch_is_not_taken(limit: float, reached: int, more: int | None) -> None:
    content = of_branches(branching(computed=limit))
    plan = Plan(8 if more is None else 2, 0, {}, 1e-4, 60.0)
    made = drawn_rounds(ConvertedModel(content, None), ModelInputs(content), plan)
    (coverage,) = made.coverage
    assert coverage.reached == reached
    assert [*map(len, made.rounds)] == ([8] if more is None else [2, more])


# Kinds of numbers.


def kinds(*kinds: Kind, work: Any, keeps_state: bool = False) -> Kinds:
    return Kinds(kinds, work, keeps_state)


USUAL = Kind("usual", Manner(), 2)


@pytest.mark.parametrize("keeps_state", [False, True])
def test_calls_with_kinds_of_numbers(*, keeps_state: bool) -> None:
    """They end the last round, or are one of their own."""
    of_both = kinds(USUAL, Kind("zeros", Manner(scale=0), 5), work={2: 1}, keeps_state=keeps_state)
    made = drawn(anything((-1, -1)), anything((-1, 2)), kinds=of_both, times=2)
    assert [*map(len, made.rounds)] == [*map(len, made.results)] == ([4, 4, 4] if keeps_state else [4, 8])
    calls = made.rounds[-1][-4:]
    assert [(call.signature, call.kind and (call.kind.name, call.kind.size), call.thin) for call in calls] == [
        *(("serve0", ("usual", 2), True), ("serve1", ("usual", 2), True)),
        *(("serve0", ("zeros", 5), True), ("serve1", ("zeros", 5), True)),
    ]
    assert shapes(calls) == [(2, 2), (2, 2), (5, 5), (5, 2)]
    assert [np.abs(call.inputs["x0"]).max() > 0 for call in calls] == [True, True, False, False]
    for call, outputs in zip(calls, made.results[-1][-4:], strict=True):
        np.testing.assert_array_equal(outputs["y"], call.inputs["x0"])


@pytest.mark.parametrize(("keeps_state", "expected"), [(False, [(3, 7), (2, 2)]), (True, [])])
def test_a_size_that_the_model_refuses(*, keeps_state: bool, expected: Any) -> None:
    """The usual one, with at most the largest usual batch; what follows a refused call is lost with its state."""
    of_all = kinds(Kind("large", Manner(), 9), USUAL, work={2: 1}, keeps_state=keeps_state)
    made = drawn(anything((-1, -1)), kinds=of_all, times=2, function=refusing(lambda x: x.shape == (9, 9)))
    calls = [call for calls in made.rounds for call in calls if call.kind]
    assert shapes(calls) == expected
    assert [call.kind.size for call in calls if call.kind] == [shape[0] for shape in expected]
    made = drawn(anything((-1, -1)), kinds=of_all, times=2, function=refusing(lambda x: x.shape[0] not in {1, 3}))
    assert shapes([call for calls in made.rounds for call in calls if call.kind]) == ([] if keeps_state else [(3, 7)])


def test_calls_of_too_many_numbers_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them together take as many as is set, and one with other sizes an eighth of that."""
    monkeypatch.setattr(module, "_KINDS_NUMBERS", 16)
    made = drawn(anything((-1, -1)), kinds=kinds(*[USUAL] * 9, work={1: 1}), times=2)
    assert shapes(made.rounds[-1][2:]) == [(2, 2)] * 8
    made = drawn(anything((-1, -1)), kinds=kinds(USUAL._replace(size=3), work={1: 1}), times=2)
    assert shapes(made.rounds[-1][2:]) == [(3, 7)]
    made = drawn(anything((-1, -1)), kinds=kinds(*[USUAL._replace(size=7)] * 3, work={1: 1}), times=2)
    assert shapes(made.rounds[-1][2:]) == [(7, 7)] * 2


def test_two_calls_of_a_large_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KINDS_NUMBERS", 0)
    for graphs in (1, 2):
        large = kinds(*[USUAL._replace(size=3)] * 4, work={1: 100})
        made = drawn(*(anything((-1, -1)) for _ in range(graphs)), kinds=large, times=2)
        assert shapes(made.rounds[-1][2 * graphs :]) == [(3, 7)] * 2 * graphs


@pytest.mark.parametrize(
    ("dtypes", "are_of_one"),
    [([np.int32], True), ([np.float32], False), ([np.int32, np.float32], False), ([np.complex64], False)],
)
def test_integers_are_of_one_kind(dtypes: Sequence[Any], *, are_of_one: bool) -> None:
    """In each size."""
    graph = Graph()
    inputs = [graph.input(f"x{number}", (1, 1), dtype, signature=(-1, -1)) for number, dtype in enumerate(dtypes)]
    graph.custom("Anything", inputs, [graph.output("y", (1, 1), dtypes[0], signature=(-1, -1))])
    of_all = kinds(*(Kind("normal numbers", Manner(), size) for size in (2, 2, 4, 4)), work={2: 1})
    made = drawn(graph, kinds=of_all, times=2)
    assert [call.kind.size for call in made.rounds[-1] if call.kind] == ([2, 4] if are_of_one else [2, 2, 4, 4])


def test_kinds_keep_to_the_limit() -> None:
    function = refusing(lambda x: x.max() >= 2)
    made = drawn(anything((-1,), dtype=np.int32), kinds=kinds(USUAL, work={1: 1}), function=function, times=2)
    assert (made.limit, len([call for call in made.rounds[-1] if call.kind])) == (2, 1)
