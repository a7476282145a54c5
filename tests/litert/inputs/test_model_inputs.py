"""What graphs made by hand say of their inputs, and the values that are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.errors import InterpreterError
from litefuse.litert.inputs.model_inputs import LEVELS, Manner, ModelInputs
from litefuse.litert.inputs.uses import Count, Meaning, Padding, Rows, Words
from litefuse.litert.runtime.interpreter import Interpreter
from tests.every import every
from tests.litert.runtime.models import Graph, model

Arrays = dict[str, npt.NDArray[Any]]


def read(graph: Graph, *others: Graph) -> ModelInputs:
    return ModelInputs(model(graph, *others, signatures={"main": 0}))


def draws(inputs: ModelInputs, count: int = 8, *, batch: int = 3, size: int = 7, **manner: Any) -> list[Arrays]:
    drawer = inputs.drawer("main", Random(1))
    shapes = inputs.shapes("main", batch=batch, size=size)
    return [drawer.draw(shapes, Manner(**manner)) for _ in range(count)]


def runs(graph: Graph, *others: Graph, count: int = 8) -> ModelInputs:
    """What the inputs are, after the runtime has taken what is drawn of them."""
    content = model(graph, *others, signatures={"main": 0})
    inputs = ModelInputs(content)
    interpreter = Interpreter(content)
    for drawn in draws(inputs, count):
        interpreter.get_signature_runner("main")(**drawn)
    return inputs


def uses(inputs: ModelInputs, name: str = "x") -> list[Any]:
    return [use for _, use in inputs.signatures["main"][name].uses]


def table(graph: Graph, rows: int, width: int = 2) -> int:
    return graph.tensor("table", [rows, width], value=np.arange(rows * width).reshape(rows, width))


def test_paddings_are_what_blocks_need() -> None:
    graph = Graph()
    image = graph.input("image", (1, 4, 5, 1))
    paddings = graph.input("paddings", (2, 2), np.int32)
    blocks = graph.tensor("blocks", [2], np.int32, value=np.array([2, 3]))
    graph.builtin("SPACE_TO_BATCH_ND", [image, blocks, paddings], [graph.output("y", (6, 2, 2, 1))])
    (drawn,) = draws(runs(graph), 1)
    np.testing.assert_array_equal(drawn["paddings"], [[0, 0], [0, 1]])


def test_blocks_and_crops_fit_any_image() -> None:
    graph = Graph()
    given = [
        graph.input("image", (3, 4, 5, 1)),
        graph.input("blocks", (2,), np.int32),
        graph.input("crops", (2, 2), np.int32),
    ]
    graph.builtin("BATCH_TO_SPACE_ND", given, [graph.output("y", (3, 4, 5, 1))])
    runs(graph)


def test_ids_come_from_the_table_and_each_of_them_once() -> None:
    graph = Graph()
    x = graph.input("x", [1, 1], np.int32, signature=[-1, -1])
    y = graph.output("y", [1, 1, 2], signature=[-1, -1, 2])
    graph.builtin("GATHER", [table(graph, 500), x], [y], axis=0)
    inputs = runs(graph)
    assert uses(inputs) == [Rows("table", 500, 0, 0, 499, weighty=True, row=(2,))]
    for drawn in draws(inputs):
        assert {0, 499} <= set(drawn["x"].reshape(-1).tolist())
    drawer = inputs.drawer("main", Random(0))
    (deck,) = drawer.decks
    seen = set[int]()
    for left in (500, 400, 300, 200, 100):
        assert deck.left == left
        seen |= set(drawer.draw({"x": (10, 10)}, Manner(covering=True))["x"].reshape(-1).tolist())
        drawer.settle(ran=True)
    assert seen == set(range(500))
    assert drawer.left == {}


def test_what_a_model_refuses_is_not_counted() -> None:
    graph = Graph()
    x = graph.input("x", [5], np.int32)
    graph.builtin("GATHER", [table(graph, 5), x], [graph.output("y", [5, 2])], axis=0)
    drawer = read(graph).drawer("main", Random(0))
    drawer.draw({"x": (12,)}, Manner(covering=True))
    drawer.settle(ran=False)
    assert drawer.left == {"x": 5}
    for left in (3, 1, 0):  # what was refused comes before what would repeat
        drawer.draw({"x": (2,)}, Manner(covering=True))
        drawer.settle(ran=True)
        assert drawer.left == ({"x": left} if left else {})


def test_a_clip_does_not_narrow_the_ids() -> None:
    graph = Graph()
    x = graph.input("x", [40], np.int32)
    few = graph.tensor("few", [40], np.int32)
    nine = graph.tensor("nine", [], np.int32, value=9)
    graph.builtin("MINIMUM", [x, nine], [few])
    graph.builtin("GATHER", [table(graph, 100), few], [graph.output("y", [40, 2])], axis=0)
    drawn = [each["x"] for each in draws(read(graph))]
    assert every(np.abs(each).max() >= 99 for each in drawn)
    assert len({*np.concatenate(drawn).tolist()} & set(range(100))) > 80


@pytest.mark.parametrize(("op", "number", "first"), [("ADD", 5, -5), ("SUB", 5, 5)])
def test_ids_that_are_moved(op: str, number: int, first: int) -> None:
    graph = Graph()
    x = graph.input("x", [64], np.int32)
    moved = graph.tensor("moved", [64], np.int32)
    graph.builtin(op, [x, graph.tensor("n", [], np.int32, value=number)], [moved])
    graph.builtin("GATHER", [table(graph, 30), moved], [graph.output("y", [64, 2])], axis=0)
    inputs = runs(graph)
    values = np.concatenate([each["x"] for each in draws(inputs)])
    assert (values.min(), values.max()) == (first, first + 29)


def test_ids_from_behind() -> None:
    """Negative ids, as Keras has them: x < 0 ? x + n : x."""
    graph = Graph()
    x = graph.input("x", [64], np.int32)
    zero, count = graph.tensor("zero", [], np.int32, value=0), graph.tensor("count", [], np.int32, value=30)
    negative = graph.tensor("negative", [64], np.bool_)
    moved, chosen = graph.tensor("moved", [64], np.int32), graph.tensor("chosen", [64], np.int32)
    graph.builtin("LESS", [x, zero], [negative])
    graph.builtin("ADD", [x, count], [moved])
    graph.builtin("SELECT_V2", [negative, moved, x], [chosen])
    graph.builtin("GATHER", [table(graph, 30), chosen], [graph.output("y", [64, 2])], axis=0)
    values = np.concatenate([each["x"] for each in draws(runs(graph))])
    assert (values.min(), values.max()) == (-30, 29)


@pytest.mark.parametrize("shape", [[2], [1, 2]])
def test_ids_that_are_moved_by_a_number_of_their_column(shape: list[int]) -> None:
    graph = Graph()
    x, moved = graph.input("x", [64, 2], np.int32), graph.tensor("moved", [64, 2], np.int32)
    graph.builtin("ADD", [x, graph.tensor("by", shape, np.int32, value=np.reshape([5, -7], shape))], [moved])
    graph.builtin("GATHER", [table(graph, 30), moved], [graph.output("y", [64, 2, 2])], axis=0)
    values = np.concatenate([each["x"] for each in draws(runs(graph))])
    assert (values.min(0).tolist(), values.max(0).tolist()) == ([-5, 7], [24, 36])


@pytest.mark.parametrize("axis", [1, -1, 0])
def test_each_column_is_an_id_of_its_own_table(axis: int) -> None:
    """Or each row."""
    graph, last = Graph(), axis != 0
    x = graph.input("x", [1, 2] if last else [2, 1], np.int32, signature=[-1, 2] if last else [2, -1])
    columns = [graph.tensor(f"c{i}", [1], np.int32, signature=[-1]) for i in range(2)]
    graph.builtin("UNPACK", [x], columns, num=2, axis=axis)
    for number, (column, rows) in enumerate(zip(columns, (5, 2000), strict=True)):
        value = graph.tensor("t", [rows, 2], value=np.zeros([rows, 2]))
        graph.builtin("GATHER", [value, column], [graph.output(f"y{number}", [1, 2], signature=[-1, 2])], axis=0)
    inputs = runs(graph)
    given: list[Any] = [each["x"] for each in draws(inputs, 20)]
    drawn = np.concatenate([each if last else each.T for each in given])
    assert (drawn[:, 0].min(), drawn[:, 0].max()) == (0, 4)
    assert (drawn[:, 1].min(), drawn[:, 1].max()) == (0, 1999)
    assert sorted(deck.size for deck in inputs.drawer("main", Random(0)).decks) == [5, 2000]


@pytest.mark.parametrize("order", [(2, 0, 1), (1, 2, 0), (0, 2, 1)])
def test_columns_behind_a_transposition(order: tuple[int, ...]) -> None:
    graph = Graph()
    sizes = (1, 2, 3)
    x = graph.input("x", list(sizes), np.int32)
    turned = [sizes[axis] for axis in order]
    moved = graph.tensor("moved", turned, np.int32)
    graph.builtin("TRANSPOSE", [x, graph.tensor("order", [3], np.int32, value=order)], [moved])
    axis = order.index(1)
    columns = [graph.tensor(f"c{number}", turned[:axis] + turned[axis + 1 :], np.int32) for number in range(2)]
    graph.builtin("UNPACK", [moved], columns, num=2, axis=axis)
    for number, (column, rows) in enumerate(zip(columns, (5, 2000), strict=True)):
        value = graph.tensor("t", [rows, 2], value=np.zeros([rows, 2]))
        shape = [*turned[:axis], *turned[axis + 1 :], 2]
        graph.builtin("GATHER", [value, column], [graph.output(f"y{number}", shape)], axis=0)
    drawn = np.concatenate([call["x"] for call in draws(runs(graph), 20)])
    assert drawn.max((0, 2)).tolist() == [4, 1999]


def test_behind_a_computed_transposition_all_elements_are_ids() -> None:
    graph = Graph()
    x, order = graph.input("x", [3, 2], np.int32), graph.input("order", [2], np.int32)
    first, second = (graph.tensor(name, [3, 2], np.int32) for name in ("first", "second"))
    graph.builtin("TRANSPOSE", [x, order], [first])
    graph.builtin("TRANSPOSE", [first, graph.tensor("c", [2], np.int32, value=[1, 0])], [second])
    graph.builtin("GATHER", [table(graph, 50), second], [graph.output("y", [3, 2, 2])], axis=0)
    drawn = np.stack([call["x"] for call in draws(read(graph), 60)])
    assert (drawn.min(0) >= 0).all()
    assert (drawn.max(0) < 50).all()
    assert (drawn.max(0) > 40).all()


@pytest.mark.parametrize("cut", ["STRIDED_SLICE", "SLICE", "SPLIT", "GATHER"])
def test_a_part_of_an_input(cut: str) -> None:
    graph = Graph()
    x = graph.input("x", [4, 3], np.int32)
    part = graph.tensor("part", [4, 1], np.int32)

    def constant(value: Sequence[int] | int) -> int:
        return graph.tensor("c", np.shape(value), np.int32, value=value)

    if cut == "STRIDED_SLICE":
        graph.builtin(cut, [x, constant([0, 1]), constant([4, 2]), constant([1, 1])], [part])
    elif cut == "SLICE":
        graph.builtin(cut, [x, constant([0, 1]), constant([-1, 1])], [part])
    elif cut == "GATHER":
        graph.builtin(cut, [x, constant([1])], [part], axis=1)
    else:
        others = [graph.tensor("other", [4, 1], np.int32) for _ in range(2)]
        graph.builtin(cut, [constant(1), x], [others[0], part, others[1]], numSplits=3)
        graph.outputs += others
    graph.builtin("GATHER", [table(graph, 50), part], [graph.output("y", [4, 1, 2])], axis=0)
    inputs = runs(graph)
    drawn = np.concatenate([each["x"] for each in draws(inputs)])
    assert (drawn[:, 1].min(), drawn[:, 1].max()) == (0, 49)
    assert drawn[:, 0].min() < 0


_ANY = [0, 1, 2]


@pytest.mark.parametrize(
    ("begin", "end", "masks", "ids", "dynamic"),
    [
        (0, 2, {}, [0, 1], [0, 1]),
        (-2, 3, {}, [1, 2], _ANY),
        (1, -1, {}, [1], _ANY),
        (-2, -1, {}, [1], _ANY),
        (1, 9, {}, [1, 2], [1, 2]),
        (2, 2, {"beginMask": 1}, [0, 1], [0, 1]),
        (-1, 2, {"beginMask": 1}, [0, 1], [0, 1]),
        (1, 1, {"endMask": 1}, [1, 2], _ANY),
        (1, -2, {"endMask": 1}, [1, 2], _ANY),
        (1, 0, {"shrinkAxisMask": 1}, [1], [1]),
        (-1, 0, {"shrinkAxisMask": 1}, [2], _ANY),
    ],
)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_slices(
    begin: int, end: int, masks: dict[str, int], ids: list[int], dynamic: list[int], is_dynamic: bool
) -> None:
    """Of a dynamic dimension, what is counted from its end may be any: then all are ids."""
    graph = Graph()
    x = graph.input("x", [3], np.int32, signature=[-1] if is_dynamic else None)
    part = graph.tensor("part", [] if "shrinkAxisMask" in masks else [len(ids)], np.int32)
    cut = [graph.tensor("c", [1], np.int32, value=[number]) for number in (begin, end, 1)]
    graph.builtin("STRIDED_SLICE", [x, *cut], [part], **masks)
    graph.builtin("GATHER", [table(graph, 50), part], [graph.output("y", [2])], axis=0)
    drawn = np.stack([call["x"] for call in draws(read(graph), 60, size=3)])
    drawn_as_ids = [index for index in range(3) if 40 < drawn[:, index].max() < 50 and drawn[:, index].min() >= 0]
    assert drawn_as_ids == (dynamic if is_dynamic else ids)


def test_classes_and_those_that_are_none() -> None:
    graph = Graph()
    x = graph.input("x", [40], np.int32)
    depth = graph.tensor("depth", [], np.int32, value=12)
    on, off = graph.tensor("on", [], value=1.0), graph.tensor("off", [], value=0.0)
    graph.builtin("ONE_HOT", [x, depth, on, off], [graph.output("y", [40, 12])], axis=-1)
    values = {*np.concatenate([each["x"] for each in draws(runs(graph))]).tolist()}
    assert values == {*range(-1, 13)}


def test_coordinates() -> None:
    graph = Graph()
    x = graph.input("x", [30, 2], np.int32)
    values = graph.tensor("values", [4, 9], value=np.zeros([4, 9]))
    graph.builtin("GATHER_ND", [values, x], [graph.output("y", [30])])
    drawn = np.concatenate([each["x"] for each in draws(runs(graph))])
    assert drawn.min(0).tolist() == [0, 0]
    assert drawn.max(0).tolist() == [3, 8]


def test_real_numbers_that_are_ids() -> None:
    graph = Graph()
    x = graph.input("x", [50])
    ids = graph.tensor("ids", [50], np.int32)
    graph.builtin("CAST", [x], [ids])
    graph.builtin("GATHER", [table(graph, 20), ids], [graph.output("y", [50, 2])], axis=0)
    values = np.concatenate([each["x"] for each in draws(runs(graph))])
    assert values.dtype == np.float32
    assert {*values.tolist()} == {*range(20)}


def test_padding_is_at_the_end_of_rows() -> None:
    graph = Graph()
    x = graph.input("x", [6, 9], np.int32)
    zero = graph.tensor("zero", [], np.int32, value=0)
    graph.builtin("NOT_EQUAL", [x, zero], [graph.output("mask", [6, 9], np.bool_)])
    graph.builtin("GATHER", [table(graph, 20), x], [graph.output("y", [6, 9, 2])], axis=0)
    inputs = runs(graph)
    assert Padding(0) in uses(inputs)
    drawn = [each["x"] for each in draws(inputs)]
    assert any((each[:, -1] == 0).sum() >= 2 for each in drawn)
    assert every((each != 0).any(1).all() for each in drawn)


@pytest.mark.parametrize("op", ["EQUAL", "NOT_EQUAL", "LESS", "MAXIMUM"])
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 1e30])
def test_integers_are_compared_with_what_is_no_integer(op: str, number: float) -> None:
    graph = Graph()
    x, real = graph.input("x", [6, 9], np.int32), graph.tensor("real", [6, 9])
    graph.builtin("CAST", [x], [real], inDataType=2, outDataType=0)
    bound = graph.tensor("bound", [], value=np.array(number, np.float32))
    graph.builtin(op, [real, bound], [graph.output("y", [6, 9], np.float32 if op == "MAXIMUM" else np.bool_)])
    runs(graph)


def test_truth_values_are_masks() -> None:
    graph = Graph()
    x = graph.input("x", [6, 9], np.bool_)
    graph.builtin("LOGICAL_NOT", [x], [graph.output("y", [6, 9], np.bool_)])
    first, second = (each["x"] for each in draws(runs(graph), 2))
    assert (np.diff(first.astype(int), axis=1) <= 0).all()  # a beginning of each row
    assert not (np.diff(second.astype(int), axis=1) <= 0).all()
    assert first[:, 0].all()
    assert second[:, 0].all()
    assert not first.all()


def test_a_mask_of_integers() -> None:
    graph = Graph()
    x = graph.input("x", [6, 9], np.int32)
    truth = graph.output("truth", [6, 9], np.bool_)
    graph.builtin("CAST", [x], [truth])
    inputs = runs(graph)
    assert uses(inputs) == [Meaning.MASK]
    assert {*np.concatenate([each["x"] for each in draws(inputs)]).reshape(-1).tolist()} == {0, 1}


def test_lengths() -> None:
    graph = Graph()
    x = graph.input("x", [8, 1], np.int32)
    places = graph.tensor("places", [1, 6], np.int32, value=[range(6)])
    graph.builtin("LESS", [places, x], [graph.output("y", [8, 6], np.bool_)])
    inputs = runs(graph)
    assert uses(inputs) == [Count(6)]
    assert {*np.concatenate([each["x"] for each in draws(inputs)]).reshape(-1).tolist()} == {*range(7)}


@pytest.mark.parametrize(
    ("op", "number", "is_image"),
    [
        ("MUL", 1 / 255, True),
        ("MUL", 1 / 127.5, True),
        ("SUB", 103.939, True),
        ("MUL", 2.0, False),
        ("SUB", 1.0, False),
    ],
)
def test_pixels(op: str, number: float, is_image: bool) -> None:
    graph = Graph()
    x = graph.input("x", [1, 8, 8, 3])
    graph.builtin(op, [x, graph.tensor("n", [], value=number)], [graph.output("y", [1, 8, 8, 3])])
    inputs = runs(graph)
    assert (Meaning.IMAGE in uses(inputs)) == is_image
    values = np.concatenate([each["x"] for each in draws(inputs)])
    assert (values.max() > 200) == is_image
    assert (values.min() >= 0) == is_image


def test_an_image_that_is_resized() -> None:
    graph = Graph()
    x = graph.input("x", [1, 8, 8, 3])
    size = graph.tensor("size", [2], np.int32, value=[4, 4])
    graph.builtin("RESIZE_BILINEAR", [x, size], [graph.output("y", [1, 4, 4, 3])])
    assert uses(runs(graph)) == [Meaning.IMAGE]


def words_of_table(keys: Sequence[Any], dtype: Any, default: Any) -> tuple[Graph, Graph]:
    """A model that looks its input up in a table, and what fills that."""
    graph, initial = Graph(), Graph()
    values: Any = object if dtype is np.int64 else np.int64
    handles: list[int] = []
    graph.builtin("CALL_ONCE", [], [], initSubgraphIndex=1)
    x = graph.input("x", [20], dtype)
    for each in (graph, initial):
        handles.append(each.tensor("handle", [1], "RESOURCE"))
        each.builtin("HASHTABLE", [], [handles[-1]], tableId=7, keyDtype=_TYPES[dtype], valueDtype=_TYPES[values])
    missing = graph.tensor("default", [1], values, value=[default])
    graph.builtin("HASHTABLE_FIND", [handles[0], x, missing], [graph.output("y", [20], values)])
    named = initial.tensor("keys", [len(keys)], dtype, value=np.array(keys, dtype))
    numbers: Any = [str(i) for i in range(len(keys))] if values is object else range(len(keys))
    numbered = initial.tensor("values", [len(keys)], values, value=np.array(numbers, values))
    initial.builtin("HASHTABLE_IMPORT", [handles[1], named, numbered], [])
    return graph, initial


_TYPES = {object: 5, np.int64: 4}


def test_words_of_the_vocabulary_and_others() -> None:
    inputs = runs(*words_of_table([b"cat", b"dog", b"emu"], object, -1))
    assert Words((b"cat", b"dog", b"emu"), None) in uses(inputs)
    words = {*np.concatenate([each["x"] for each in draws(inputs)]).tolist()}
    assert {b"cat", b"dog", b"emu", b"CAT", b"Dog", b""} <= words
    assert any(not word.isascii() for word in words)
    assert any(len(word) == 8 and word.isalpha() for word in words)
    (known,) = draws(inputs, 1, covering=True)
    assert {*known["x"].tolist()} == {b"cat", b"dog", b"emu"}
    assert every(word in {b"cat", b"dog", b"emu"} for each in draws(inputs, limit=10) for word in each["x"].tolist())


def test_numbers_that_are_looked_up() -> None:
    inputs = runs(*words_of_table([10, 20, 35], np.int64, b""))
    assert {*np.concatenate([each["x"] for each in draws(inputs)]).tolist()} == {9, 10, 20, 35, 36}


def string_op(name: str, options: dict[str, Any], result: Any = object) -> Graph:
    graph = Graph()
    x = graph.input("x", [40], object)
    graph.custom(name, [x], [graph.output("y", [40], result)], options)
    return graph


def test_strings_that_are_numbers() -> None:
    for drawn in draws(runs(string_op("StringToNumber", {"out_type": 2}, np.int32))):
        assert every(str(int(word)).encode() == word for word in drawn["x"].tolist())
    for drawn in draws(runs(string_op("StringToNumber", {}, np.float32))):
        assert np.isfinite([float(word) for word in drawn["x"].tolist()]).all()


def test_strings_that_are_base64() -> None:
    runs(string_op("DecodeBase64", {}))


def test_letters_of_an_expression() -> None:
    options = {"pattern": "[#~]", "rewrite": "", "replace_global": True}
    drawn = np.concatenate([each["x"] for each in draws(runs(string_op("StaticRegexReplace", options)))])
    assert any(b"#" in word for word in drawn.tolist())
    assert any(b" " in word for word in drawn.tolist())
    assert b"" in drawn.tolist()


def test_what_decides_on_sizes_is_small() -> None:
    graph = Graph()
    x = graph.input("x", [1], np.int32)
    graph.builtin("FILL", [x, graph.tensor("v", [], value=1.0)], [graph.output("y", [1], signature=[-1])])
    inputs = runs(graph)
    assert uses(inputs) == [Meaning.SMALL]
    assert every(0 <= each["x"].item() < 10 for each in draws(inputs, 50))


def test_what_decides_how_often_a_loop_turns_is_small() -> None:
    graph, condition, body = Graph(), Graph(), Graph()
    x = graph.input("x", [], np.int32)
    graph.builtin("WHILE", [x], [graph.output("y", [], np.int32)], condSubgraphIndex=1, bodySubgraphIndex=2)
    zero = condition.tensor("zero", [], np.int32, value=0)
    condition.builtin("GREATER", [condition.input("i", [], np.int32), zero], [condition.output("c", [], np.bool_)])
    one = body.tensor("one", [], np.int32, value=1)
    body.builtin("SUB", [body.input("i", [], np.int32), one], [body.output("j", [], np.int32)])
    inputs = runs(graph, condition, body)
    assert Meaning.SMALL in uses(inputs)
    assert every(abs(each["x"].item()) < 10 for each in draws(inputs, 50))


def test_a_divisor_is_not_zero() -> None:
    graph = Graph()
    x, y = graph.input("x", [9], np.int32), graph.input("y", [9], np.int32)
    graph.builtin("FLOOR_DIV", [x, y], [graph.output("z", [9], np.int32)])
    drawn = draws(runs(graph))
    assert every((each["y"] > 0).all() for each in drawn)
    assert any((each["x"] < 0).any() for each in drawn)


def test_ids_within_branches_composites_and_loops() -> None:
    def lookup() -> Graph:
        inner = Graph()
        ids = inner.input("ids", [6], np.int32)
        inner.builtin("GATHER", [table(inner, 77), ids], [inner.output("r", [6, 2])], axis=0)
        return inner

    graph = Graph()
    truth, x = graph.input("truth", [], np.bool_), graph.input("x", [6], np.int32)
    graph.builtin("IF", [truth, x], [graph.output("y", [6, 2])], thenSubgraphIndex=1, elseSubgraphIndex=2)
    assert Rows("table", 77, 0, 0, 76, weighty=True, row=(2,)) in uses(runs(graph, lookup(), lookup()))
    graph = Graph()
    x = graph.input("x", [6], np.int32)
    graph.composite("mine", [x], [graph.output("y", [6, 2])], {}, 1)
    assert uses(runs(graph, lookup())) == [Rows("table", 77, 0, 0, 76, weighty=True, row=(2,))]


def test_integers_of_which_nothing_is_known() -> None:
    graph = Graph()
    x = graph.input("x", [5000], np.int32)
    graph.builtin("ADD", [x, x], [graph.output("y", [5000], np.int32)])
    (drawn,) = draws(runs(graph), 1)
    assert drawn["x"].min() == -100
    assert drawn["x"].max() == 100
    for limit, most in zip(LEVELS[1:], (9, 1, 0), strict=True):
        (drawn,) = draws(read(graph), 1, limit=limit)
        assert (drawn["x"].min(), drawn["x"].max()) == (0, most)


@pytest.mark.parametrize(("dtype", "least", "greatest"), [("int8", -128, 127), ("uint8", 0, 255), ("bool", 0, 1)])
def test_integers_of_one_byte(dtype: str, least: int, greatest: int) -> None:
    graph = Graph()
    graph.outputs.append(graph.input("x", [5000], np.dtype(dtype)))
    (drawn,) = draws(read(graph), 1)
    assert drawn["x"].dtype == dtype
    assert (drawn["x"].min(), drawn["x"].max()) == (least, greatest)


def test_numbers_and_strings_of_which_nothing_is_known() -> None:
    graph = Graph()
    for name, dtype, shape in (
        ("f", np.float16, [40, 50]),
        ("c", np.complex64, [3]),
        ("s", object, [40]),
        ("n", np.float32, []),
    ):
        graph.outputs.append(graph.input(name, shape, dtype))
    (drawn,) = draws(read(graph), 1)
    assert drawn["f"].dtype == np.float16
    assert abs(float(drawn["f"].astype(np.float64).std()) - 1) < 0.1
    assert np.imag(drawn["c"]).any()
    assert drawn["n"].shape == ()
    texts = drawn["s"].tolist()
    assert {len(text.split()) > 1 for text in texts} == {True, False}
    (large,) = draws(read(graph), 1, scale=100)
    assert large["n"].dtype == np.float32
    assert float(large["f"].astype(np.float64).std()) > 50
    (same,) = draws(read(graph), 1, constant=True)
    assert len({*same["f"].reshape(-1).tolist()}) == 1


def test_the_same_seed_gives_the_same() -> None:
    inputs = runs(*words_of_table([b"cat", b"dog"], object, -1))
    first, again, other = (inputs.calls(batch=3, seed=seed)["main"]["x"].tolist() for seed in (0, 0, 1))
    assert first == again != other


def test_shapes_that_do_not_fit() -> None:
    graph = Graph()
    graph.outputs.append(graph.input("x", [1, 3], signature=[-1, 3]))
    inputs = read(graph)
    assert inputs.shapes("main", batch=2, size=9) == {"x": (2, 3)}
    assert inputs.shapes("main", batch=2, size=9, given={"x": (5, 3), "y": ()}) == {"x": (5, 3)}
    for shape in ((5, 4), (3,), ()):
        with pytest.raises(InterpreterError, match=r"does not fit the input 'x', which is float32 \[\?, 3\]"):
            inputs.shapes("main", batch=2, size=9, given={"x": shape})


def test_inputs_with_no_elements() -> None:
    graph = Graph()
    x = graph.input("x", [1, 4], np.int32, signature=[-1, 4])
    graph.builtin("GATHER", [table(graph, 9), x], [graph.output("y", [1, 4, 2], signature=[-1, 4, 2])], axis=0)
    inputs = read(graph)
    for covering in (False, True):
        (drawn,) = draws(inputs, 1, batch=0, covering=covering)
        assert drawn["x"].shape == (0, 4)


def test_outputs_that_follow_from_inputs() -> None:
    graph = Graph()
    x = graph.input("x", [1, 3], signature=[-1, 3])
    graph.builtin("ABS", [x], [graph.output("y", [1, 3])])
    graph.builtin("SHAPE", [x], [graph.output("shape", [2], np.int32)])
    constant = graph.tensor("constant", [2], value=[1, 2])
    graph.builtin("NEG", [constant], [graph.output("same", [2])])
    assert read(graph).moving == {"main": frozenset({"y"})}


def test_outputs_that_follow_from_what_another_signature_wrote() -> None:
    write, get = Graph(), Graph()
    for graph in (write, get):
        graph.builtin("VAR_HANDLE", [], [graph.tensor("v", [1], "RESOURCE")], container="", sharedName="v")
    x = write.input("x", [2])
    write.builtin("ASSIGN_VARIABLE", [0, x], [])
    get.builtin("READ_VARIABLE", [0], [get.output("y", [2])])
    for order in ({"write": 0, "get": 1}, {"get": 1, "write": 0}):
        assert ModelInputs(model(write, get, signatures=order)).moving["get"] == frozenset({"y"})


def of_numbers(*shape: int) -> ModelInputs:
    graph = Graph()
    graph.builtin("TANH", [graph.input("x", shape)], [graph.output("y", shape)])
    return read(graph)


def test_columns_have_scales_and_means_of_their_own() -> None:
    (drawn,) = draws(of_numbers(400, 40), 1, columns=True, scale=10)
    means, deviations = drawn["x"].mean(0), drawn["x"].std(0)
    assert 10 < means.std() < 40
    assert deviations.min() < 3
    assert 10 < deviations.max() < 40


@pytest.mark.parametrize(
    ("shape", "most"), [((50,), 3), ((50, 4), 3), ((5, 10, 4), 3), ((2, 4), 2), ((), 1), ((0, 4), 0)]
)
def test_rows_repeat(shape: tuple[int, ...], most: int) -> None:
    inputs = of_numbers(*shape)
    rows = [drawn["x"].reshape(-1, *shape[1:][-1:]) for drawn in draws(inputs, repeated=True)]
    assert max(len({row.tobytes() for row in row_of}) for row_of in rows) == most
    assert len({drawn.tobytes() for drawn in rows}) == (len(rows) if most else 1)
