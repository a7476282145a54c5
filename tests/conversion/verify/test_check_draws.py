"""Which arguments the self-check gives: constants of calls, drawn ones, and those beside steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify.check_calls import Draw
from litefuse.conversion.verify.check_draws import (
    JUDGED_FIRST,
    DrawnArguments,
    Draws,
    asks_for_nan,
    constant_arguments,
    reason_against,
)
from litefuse.conversion.verify.standalone import StandaloneModel
from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.types import TensorType
from litefuse.litert.inputs.drawer import Manner
from litefuse.litert.inputs.kinds import Kind
from tests.every import every
from tests.litert.runtime.models import Graph, model

LARGEST = 1 << 25
CALL = '{f = @%s, config = "", config_proto = "", executor_type = ""}'


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [
        ([(LARGEST,)], None),
        ([(LARGEST,), (1,)], "its arguments have 34 million elements"),
        ([(None, LARGEST // 4)], None),
        ([(None, None, LARGEST // 8)], "its arguments have 67 million elements"),
        ([(2,), None], "argument 1 is of unknown rank"),
        ([], None),
    ],
)
def test_types_without_arguments(shapes: Sequence[Any], reason: str | None) -> None:
    assert reason_against([TensorType("float32", shape) for shape in shapes], 4) == reason


def constants_of(*calls: str) -> list[dict[str, Any]]:
    """Of a function of two arguments, whose calls are given these operands."""
    types = {
        "x": "tensor<2xf32>",
        "a": "tensor<2xf32>",
        "b": "tensor<2xf32>",
        "i": "tensor<i32>",
        "s": "tensor<1x!tf_type.string>",
        "n": "tensor<2xbf16>",
        "u": "tensor<*xf32>",
        "w": "tensor<262145xi8>",
        "m": "tensor<262144xi8>",
    }
    lines: list[str] = []
    for number, operands in enumerate(calls):
        given = operands.split()
        kinds = ", ".join(types[name] for name in given)
        names = ", ".join(f"%{name}" for name in given)
        lines.append(f'%r{number} = "tf.PartitionedCall"({names}) {CALL % "f"} : ({kinds}) -> tensor<f32>')
    first, second = (types[name] for name in calls[0].split()[:2]) if calls else (types["x"], types["x"])
    text = f"""
func.func @main(%x: tensor<2xf32>) {{
  %a0 = "tf.Const"() {{value = dense<[1.0, 2.0]> : tensor<2xf32>}} : () -> tensor<2xf32>
  %a = "tf.Identity"(%a0) : (tensor<2xf32>) -> tensor<2xf32>
  %b = "tf.Const"() {{value = dense<[1.0, 3.0]> : tensor<2xf32>}} : () -> tensor<2xf32>
  %i = "tf.Const"() {{value = dense<7> : tensor<i32>}} : () -> tensor<i32>
  %s = "tf.Const"() {{value = dense<["t"]> : tensor<1x!tf_type.string>}} : () -> tensor<1x!tf_type.string>
  %m = "tf.Const"() {{value = dense<1> : tensor<262144xi8>}} : () -> tensor<262144xi8>
  %w = "tf.Const"() {{value = dense<1> : tensor<262145xi8>}} : () -> tensor<262145xi8>
  {chr(10).join(lines)}
  return
}}
func.func private @f(%x: {first}, %y: {second}) -> tensor<f32> {{
  %0 = "tf.Const"() {{value = dense<0.0> : tensor<f32>}} : () -> tensor<f32>
  return %0 : tensor<f32>
}}"""
    with mlir_context():
        module = ir.Module.parse(text)
        constants = constant_arguments(module, functions(module)["f"])
    return [{name: value.tolist() for name, value in arguments.items()} for arguments in constants]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ((), []),
        (("x a",), [{"x1": [1, 2]}]),
        (("a x",), [{"x0": [1, 2]}]),
        (("x x",), []),
        (("x a", "x a"), [{"x1": [1, 2]}]),
        (("x a", "x b", "x a"), [{"x1": [1, 2]}, {"x1": [1, 3]}]),
        (("x a", "x x"), []),
        (("i a", "i b"), [{"x0": 7, "x1": [1, 2]}, {"x0": 7, "x1": [1, 3]}]),
        (("s x",), [{"x0": [b"t"]}]),
        (("w x",), []),
    ],
)
def test_constants_of_calls(calls: Sequence[str], expected: list[dict[str, Any]]) -> None:
    assert constants_of(*calls) == expected


def test_as_many_constants_as_are_taken() -> None:
    ((name, value),) = constants_of("m x")[0].items()
    assert (name, len(value)) == ("x0", 262144)


@pytest.mark.parametrize(
    ("op", "asks"),
    [
        ('"tf.IsNan"(%x) : (tensor<2xf32>) -> tensor<2xi1>', True),
        ('"tf.IsFinite"(%x) : (tensor<2xf32>) -> tensor<2xi1>', True),
        ('"tf.NotEqual"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>', True),
        ('"tf.Less"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>', False),
        ('"tf.Equal"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>', False),
        ('"tf.Less"(%x, %inf) : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>', True),
        ('"tf.Less"(%x, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>', False),
        ('"tf.Less"(%one, %inf) : (tensor<f32>, tensor<f32>) -> tensor<i1>', False),  # an option
        ('"tf.Maximum"(%x, %inf) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>', False),
        (
            f'"tf.PartitionedCall"(%x) {CALL % "g"} : (tensor<2xf32>) -> tensor<2xi1>',
            True,
        ),
    ],
)
def test_functions_that_ask_for_nan(op: str, asks: bool) -> None:
    text = f"""
func.func private @f(%x: tensor<2xf32>, %y: tensor<2xf32>) {{
  %inf = "tf.Const"() {{value = dense<0x7F800000> : tensor<f32>}} : () -> tensor<f32>
  %one = "tf.Const"() {{value = dense<1.0> : tensor<f32>}} : () -> tensor<f32>
  %0 = {op}
  return
}}
func.func private @g(%x: tensor<2xf32>) -> tensor<2xi1> {{
  %0 = "tf.IsInf"(%x) : (tensor<2xf32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}}"""
    with mlir_context():
        module = ir.Module.parse(text)
        assert asks_for_nan(module, functions(module)["f"]) is asks


class Drawn:
    """What is drawn: the size and the scale, one after the other."""

    moving = frozenset({"y0"})

    def draw(self, size: int, manner: Manner | None = None) -> Any:
        return {"x0": np.float32(size), "x1": np.float32(1.0 if manner is None else manner.scale)}

    def covering(self) -> Iterator[Any]:
        yield {"x0": np.float32(-1), "x1": np.float32(0)}


class Composite:
    """A composite whose results do or do not move, or have steps."""

    def __init__(self, *, moved: bool = True, steps: bool = False) -> None:
        self.moved, self.steps = moved, steps

    def kinds(self, *, thorough: bool) -> list[Kind]:
        return [Kind("small", Manner(scale=0.1), 2), Kind("large", Manner(scale=10), 130 if thorough else 1)]

    def size(self, wanted: int) -> int:
        return wanted

    def may_have_steps(self) -> bool:
        return self.steps

    def body(self, _: int, *, replaced: bool = False) -> Any:
        def run(arguments: Any) -> Any:
            return {"y0": np.array(arguments["x1"] > 2, np.float32)}

        return run


ONE = [TensorType("float32", (None, 2))]


def drawn(
    composite: Composite, *, fixed: Any = (None, None, None), constants: Any = (), types: Any = ONE, **more: Any
) -> list[Draw]:
    made: Any = Drawn()

    def further(size: int) -> Any:
        return {"x0": np.float32(1000 + size)} if size != 2 else None

    draws = Draws(made, types, fixed, further, constants, begin=None, kernel=False, **more)
    given: Any = composite
    return [*draws.calls(given)]


def told(draws: Sequence[Draw]) -> list[tuple[str, int, float]]:
    """The kinds, the sizes, and the first argument; those of rows are left out."""
    assert [draw.number for draw in draws] == [*range(1, len(draws) + 1)]
    usual = [draw for draw in draws if draw.kind.name not in JUDGED_FIRST]
    return [(draw.kind.name, draw.kind.size, float(draw.arguments["x0"])) for draw in usual]


NORMAL = [("normal numbers", 1, 1.0), ("normal numbers", 3, 3.0), ("normal numbers", 3, 3.0)]
ROWS = ("the rows of its tables", 1, -1.0)


def test_usual_numbers_then_other_kinds() -> None:
    draws = drawn(Composite())
    assert told(draws) == [*NORMAL, ROWS, ("small", 2, 2.0), ("large", 130, 130.0)]
    assert [draw.usual for draw in draws] == [True] * 3 + [False] * (len(draws) - 3)
    assert not any(draw.foreign for draw in draws)


def test_rows_are_drawn_in_all_sizes() -> None:
    of_rows = [draw.kind for draw in drawn(Composite()) if draw.kind.name in JUDGED_FIRST]
    assert {kind.size for kind in of_rows if kind.manner.repeated} >= {130, 12, 3, 2, 1}
    assert {kind.size for kind in of_rows if not kind.manner.repeated} >= {130, 3, 2, 1}
    assert every(kind.manner.columns for kind in of_rows)


def test_other_numbers_where_results_stand_still() -> None:
    kinds = [name for name, *_ in told(drawn(Composite(moved=False)))]
    assert kinds[3:-3] == ["numbers times 10", "numbers times 100", "equal numbers"]


def test_given_arguments() -> None:
    given = {"x0": np.float32(7)}
    draws = drawn(Composite(), fixed=[given] * 3)
    assert told(draws)[:3] == [("normal numbers", size, 7.0) for size in (1, 3, 3)]
    assert told(draws)[3:] == [("normal numbers", size, 2.0 if size == 2 else 1000.0 + size) for size in (130, 2, 3, 1)]


def test_constants_of_calls_take_turns() -> None:
    """And last of all, others stand in their place, which only tells."""
    constants = [{"x0": np.float32(number)} for number in (100, 200)]
    draws = drawn(Composite(), constants=constants)
    *own, foreign = [float(draw.arguments["x0"]) for draw in draws]
    assert own == [(200, 100)[number % 2] for number in range(len(draws) - 1)]
    assert foreign == 3
    assert [draw.foreign for draw in draws] == [False] * (len(draws) - 1) + [True]


def test_large_arguments_are_smaller() -> None:
    large = [TensorType("float32", (None, 1 << 10))]
    assert told(drawn(Composite(), types=large))[-1] == ("large", 3, 3.0)
    assert told(drawn(Composite(), types=[TensorType("float32", (None, 1000))]))[-1] == ("large", 130, 130.0)
    exactly = [TensorType("float32", (None, (1 << 17) // 130)), TensorType("float32", ((1 << 17) % 130,))]
    assert told(drawn(Composite(), types=exactly))[-1] == ("large", 130, 130.0)
    assert told(drawn(Composite(), types=[*exactly, TensorType("float32", (1,))]))[-1] == ("large", 3, 3.0)


def test_numbers_beside_steps() -> None:
    draws = [draw for draw in drawn(Composite(steps=True)) if draw.kind.name.endswith("a step")]
    values = np.array([draw.arguments["x1"] for draw in draws])
    assert len(values)
    assert (np.abs(values - 2) < 0.2).all()
    assert (values > 2).any()
    assert (values <= 2).any()


def drawing(rows: int, ids: int | None, *, width: int = 1, several: bool = False) -> DrawnArguments:
    """Of ids of a table, and with results of rows of a width."""
    graph = Graph()
    x = graph.input("x0", [ids or 1], np.int32, signature=None if ids else [-1])
    table = graph.tensor("table", [rows, 1], value=np.zeros((rows, 1)))
    graph.builtin("GATHER", [table, x], [graph.output("y0", [ids or 1, 1], signature=None if ids else [-1, 1])], axis=0)
    first, other = (StandaloneModel(model(graph, signatures={"serve": 0}), False) for _ in range(2))
    models = {1: first, 3: other if several else first}
    return DrawnArguments(models, [TensorType("float32", (None, width))], Random(0), Manner(in_range=True))


@pytest.mark.parametrize(("ids", "calls"), [(None, 1), (4, 24)])
def test_all_rows_are_picked(ids: int | None, calls: int) -> None:
    """In one call where there may be as many, else in several."""
    arguments = drawing(100, ids)
    first = arguments.draw(4)
    covering = [*arguments.covering()]
    assert len(covering) == pytest.approx(calls, abs=1)
    assert {*range(100)} == {*np.concatenate([call["x0"] for call in (first, *covering)]).tolist()}
    assert not [*arguments.covering()]
    assert arguments.moving == {"y0"}


def test_rows_of_large_tables_and_of_several_models_are_not() -> None:
    """More than 256 calls, or 4 million elements, take too long."""
    for arguments, covered in (
        (drawing(100, None), True),
        (drawing(100, None, several=True), False),
        (drawing(1024, 4), True),
        (drawing(1025, 4), False),
        (drawing(100, None, width=41_000), True),
        (drawing(100, None, width=45_000), False),
    ):
        arguments.draw(4)
        assert bool(next(arguments.covering(), None)) is covered
