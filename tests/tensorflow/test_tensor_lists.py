# pyright: reportUnknownLambdaType=false
"""TensorArray, map_fn and scan: the lists behind them become dense tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import ConversionError
from tests.tensorflow.checking import check, interpreter, op_counts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

Arrays = dict[str, "npt.NDArray[Any]"]


def serving(tf: Any, name: str, shapes: tuple[tuple[int | None, ...], ...], dtype: str) -> Any:
    """A module that serves a function of this file, with a weight and a bias for it."""
    random = np.random.default_rng(1)
    module = tf.Module()
    module.kernel = tf.Variable((random.standard_normal((3, 3)) * 0.5).astype(np.float32))
    module.bias = tf.Variable(random.standard_normal(3).astype(np.float32))
    specs = [tf.TensorSpec(shape, dtype, name=f"x{number}") for number, shape in enumerate(shapes)]

    def serve(*values: Any) -> Any:
        return globals()[name](tf, module, *values)

    module.serve = tf.function(serve, input_signature=specs)
    return module, {"serving_default": module.serve}


def save(tensorflow: TensorFlow, function: Callable[..., Any], *shapes: tuple[int | None, ...], dtype: str) -> Path:
    return tensorflow.save(serving, function.__name__, shapes, dtype)


def sets(shapes: tuple[tuple[int | None, ...], ...], dtype: str) -> list[Arrays]:
    """Inputs with 4, 1 and 6 in the place of the first open size, and 2, 3 and 5 in that of the second."""
    random = np.random.default_rng(2)
    found: list[Arrays] = []
    for sizes in ((4, 2), (1, 3), (6, 5)):
        values: Arrays = {}
        for number, shape in enumerate(shapes):
            given = iter(sizes)
            filled = [next(given) if size is None else size for size in shape]
            value = random.standard_normal(filled) * (1 if dtype == "float32" else 50)
            values[f"x{number}"] = value.astype(dtype) if dtype != "bool" else value > 0
        found.append(values)
    return found


def map_to_several(tf: Any, module: Any, x: Any) -> Any:
    kinds = (tf.float32, tf.int64, tf.bool, tf.float32)

    def each(row: Any) -> Any:
        return tf.matmul(row, module.kernel) + module.bias, tf.argmax(row, 0), tf.reduce_sum(row) > 0.0, tf.norm(row)

    matrix, best, positive, length = tf.map_fn(each, x, fn_output_signature=kinds)
    return {"matrix": matrix, "best": best, "positive": positive, "length": length}


def map_of_two(tf: Any, module: Any, x: Any, y: Any) -> Any:
    return {"y": tf.map_fn(lambda pair: pair[0] * 2.0 + tf.transpose(pair[1]), (x, y), fn_output_signature=tf.float32)}


def map_in_map(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.map_fn(lambda rows: tf.map_fn(lambda row: tf.cumsum(row) + module.bias, rows), x)}


def of_no_items(tf: Any, module: Any, x: Any) -> Any:
    mapped = tf.map_fn(lambda row: tf.matmul(row, module.kernel), x[:0])
    array = tf.TensorArray(tf.float32, size=0, element_shape=[2, 3])
    for i in tf.range(tf.shape(x[:0])[0]):
        array = array.write(i, x[i] + module.bias)
    return {"y": tf.concat([mapped, x, array.stack()], 0), "counts": tf.stack([tf.shape(mapped)[0], array.size()])}


def sorted_in_map(tf: Any, module: Any, x: Any) -> Any:
    return tf.map_fn(lambda rows: tf.map_fn(tf.sort, rows), x)


def reversed_in_map(tf: Any, module: Any, x: Any) -> Any:
    return tf.map_fn(lambda rows: tf.map_fn(lambda row: tf.reverse(row, [0])[1:], rows)[:, 0], x)


def map_of_indices(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.map_fn(lambda i: x[i] * tf.cast(i + 1, tf.float32), tf.range(tf.shape(x)[0]), tf.float32)}


def vectorized(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.vectorized_map(lambda row: tf.reduce_sum(row, 0) + module.bias, x)}


def scan_sums(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.scan(lambda total, row: tf.tanh(tf.matmul(total, module.kernel)) + row, x)}


def scan_of_two(tf: Any, module: Any, x: Any) -> Any:
    first = (tf.zeros_like(x[0]), tf.constant(0))
    total, count = tf.scan(lambda state, row: (state[0] + row, state[1] + tf.shape(row)[0]), x, first)
    return {"total": total, "count": count}


def scan_backwards(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.scan(lambda total, row: total * 0.5 + row + module.bias, x, reverse=True)}


def fold(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.foldl(lambda total, row: tf.sin(total) + row, x), "z": tf.foldr(lambda t, row: t * row + 1.0, x)}


def written(tf: Any, module: Any, x: Any) -> Any:
    """Filled out of order, some places never."""
    n = tf.shape(x)[0]
    array = tf.TensorArray(tf.float32, size=n + 2, element_shape=[None, 3])
    for i in tf.range(n):
        array = array.write(n - i, x[i] + module.bias)
    return {"y": array.stack(), "size": array.size()}


def grown(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in tf.range(tf.shape(x)[0]):
        array = array.write(i, tf.matmul(x[i], module.kernel))
    return {"y": array.stack(), "size": array.size()}


def grown_on_condition(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=1, dynamic_size=True, element_shape=[None, 3])
    count = 0
    for i in tf.range(tf.shape(x)[0]):
        if i % 3 != 1:
            array = array.write(count, x[i])
            count += 1
    return {"y": array.stack(), "count": count}


def read_back(tf: Any, module: Any, x: Any) -> Any:
    """Each item is made of the one before, which is read out of the list."""
    n = tf.shape(x)[0]
    array = tf.TensorArray(tf.float32, size=n + 1, clear_after_read=False, element_shape=x.shape[1:])
    array = array.write(0, x[0] * 0.5)
    for i in tf.range(n):
        array = array.write(i + 1, tf.tanh(array.read(i) + x[i]))
    return {"y": array.stack()}


def concatenated(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
    for i in tf.range(tf.shape(x)[0]):
        array = array.write(i, x[i] * 2.0)
    return {"y": array.concat()}


def scattered(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=9).scatter(tf.range(tf.shape(x)[0]) + 2, x)
    return {"y": array.stack(), "some": array.gather([3, 2, 3]), "one": array.read(2)}


def scattered_twice(tf: Any, module: Any, x: Any) -> Any:
    """What is written later counts, also within one scatter."""
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True).scatter([4, 0, 1, 2, 3], tf.tile(x[:1], [5, 1, 1]))
    array = array.scatter([1, 3, 1], tf.stack([x[0], x[0] * 2.0, x[0] * 3.0]))
    return {"y": array.stack(), "size": array.size()}


def unstacked(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=tf.shape(x)[0]).unstack(x)
    total = tf.zeros_like(x[0])
    for i in tf.range(array.size()):
        total = total * 0.5 + array.read(i)
    return {"y": total}


def unstacked_and_grown(tf: Any, module: Any, x: Any) -> Any:
    """Made of a tensor of known length, and longer after the loop."""
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False).unstack(x)
    n = array.size()
    for i in tf.range(n):
        array = array.write(n + i, array.read(i) * 2.0 + module.bias)
    return {"y": array.stack(), "size": array.size()}


def read_in_a_condition(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False).unstack(x)
    count = tf.constant(0)
    while count < array.size() and tf.reduce_sum(array.read(count)) < 4.0:
        count += 1
    return {"count": count}


def chosen_item(tf: Any, module: Any, x: Any) -> Any:
    """Written in a branch of a loop, by one of two lists of one kind."""
    n = tf.shape(x)[0]
    low, high = tf.TensorArray(tf.float32, size=n), tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        if tf.reduce_sum(x[i]) > 0.0:
            high = high.write(i, x[i])
            low = low.write(i, tf.zeros_like(x[i]))
        else:
            high = high.write(i, tf.zeros_like(x[i]))
            low = low.write(i, x[i] - module.bias)
    return {"low": low.stack(), "high": high.stack()}


def windows(tf: Any, module: Any, x: Any) -> Any:
    """The size of an item is the difference of two numbers that change."""
    twice, n = tf.concat([x, -x], 0), tf.shape(x)[0]
    array = tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        array = array.write(i, tf.tanh(twice[i : i + 2] + module.bias))
    return {"y": array.stack()}


def parts(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=3).split(x, [2, 2, 2])
    total = tf.zeros([2, 3])
    for i in tf.range(3):
        total = total + array.read(i) * tf.cast(i + 1, tf.float32)
    return {"y": total, "all": array.stack()}


def made_in_a_branch(tf: Any, module: Any, x: Any) -> Any:
    n = tf.shape(x)[0]
    if tf.reduce_sum(x) > 0.0:
        array = tf.TensorArray(tf.float32, size=n).unstack(x)
    else:
        array = tf.TensorArray(tf.float32, size=n).unstack(-x)
    return {"y": array.stack()}


def nested_loops(tf: Any, module: Any, x: Any) -> Any:
    """Written in an inner loop; another list is made anew in each turn of the outer one."""
    n = tf.shape(x)[0]
    outer = tf.TensorArray(tf.float32, size=2 * n)
    for i in tf.range(n):
        inner = tf.TensorArray(tf.float32, size=2)
        for j in tf.range(2):
            inner = inner.write(j, x[i] * tf.cast(j + 1, tf.float32))
        pair = inner.stack()
        for j in tf.range(2):
            outer = outer.write(2 * i + j, pair[j] + module.bias)
    return {"y": outer.stack()}


def never_read(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
    total = tf.zeros([3])
    for i in tf.range(tf.shape(x)[0]):
        array = array.write(i, x[i])
        total += tf.reduce_sum(x[i], 0)
    return {"y": total}


def pooled(tf: Any, module: Any, x: Any) -> Any:
    """What an item is made of goes through many kinds of ops, its sizes being open."""
    n = tf.shape(x)[0]

    def each(row: Any) -> Any:
        a = tf.concat([row, row * 2.0], 1)
        b = tf.reshape(a, [tf.shape(row)[0], 2, 3])
        c = tf.transpose(tf.reduce_max(b, 1))
        d = tf.einsum("ab,ac->bc", tf.transpose(c), row)
        return tf.pad(tf.nn.softmax(c), [[0, 1], [0, 0]]), d, tf.boolean_mask(row, [True, False, True], axis=1)

    kinds = (tf.float32, tf.float32, tf.float32)
    a, b, c = tf.map_fn(each, x, fn_output_signature=kinds)
    return {"a": a, "b": b, "c": c, "n": n}


def heads(tf: Any, module: Any, x: Any) -> Any:
    """Parts up to where all of them end, which no turn changes."""
    array = tf.TensorArray(tf.float32, size=3, infer_shape=False)
    end = tf.minimum(tf.shape(x)[1], 2)
    for i in tf.range(3):
        array = array.write(i, x[:, :end] * tf.cast(i, tf.float32))
    return {"y": array.stack()}


def numbers(tf: Any, module: Any, x: Any) -> Any:
    """A dtype's way through a list: in, out, and in again at another place."""
    n = tf.shape(x)[0]
    source = tf.TensorArray(x.dtype, size=n).unstack(x)
    target = tf.TensorArray(x.dtype, size=n)
    for i in tf.range(n):
        target = target.write(n - 1 - i, source.read(i))
    return {"y": target.stack()}


def stack(tf: Any, module: Any, x: Any) -> Any:
    """A list that grows at its end, and shrinks again: the ops under a TensorArray's."""
    raw = tf.raw_ops
    n = tf.shape(x)[0]
    shape = tf.constant([-1, 3])
    empty = raw.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=tf.float32)
    full = tf.while_loop(
        lambda i, _: i < n,
        lambda i, items: (i + 1, raw.TensorListPushBack(input_handle=items, tensor=tf.tanh(x[i]))),
        [0, empty],
    )[1]
    length = raw.TensorListLength(input_handle=full)

    def take(i: Any, items: Any, total: Any) -> Any:
        rest, last = raw.TensorListPopBack(input_handle=items, element_shape=shape, element_dtype=tf.float32)
        return i + 1, rest, total * 0.5 + last

    _, rest, total = tf.while_loop(lambda i, *_: i < n - 1, take, [0, full, tf.zeros_like(x[0])])
    found = raw.TensorListElementShape(input_handle=rest, shape_type=tf.int32)
    first = raw.TensorListStack(input_handle=rest, element_shape=found, element_dtype=tf.float32)
    return {"length": length, "total": total, "first": first}


def summed(tf: Any, module: Any, x: Any) -> Any:
    """What gradients make of lists: sums of them, and zeros of their form."""
    raw = tf.raw_ops
    shape = tf.constant([-1, 3])
    items = raw.TensorListFromTensor(tensor=x, element_shape=shape)
    double = raw.TensorListFromTensor(tensor=2.0 * x, element_shape=shape)
    total = raw.AddN(inputs=[items, double, raw.ZerosLike(x=items)])
    total = raw.TensorListSetItem(input_handle=total, index=0, item=tf.tanh(x[0]))
    return {"y": raw.TensorListStack(input_handle=total, element_shape=shape, element_dtype=tf.float32)}


def resized(tf: Any, module: Any, x: Any) -> Any:
    raw = tf.raw_ops
    shape = tf.constant([-1, 3])
    items = raw.TensorListFromTensor(tensor=x, element_shape=shape)
    results: dict[str, Any] = {}
    for name, size in (("three", 3), ("two", 2), ("seven", 7)):
        items = raw.TensorListResize(input_handle=items, size=size)
        results[name] = raw.TensorListStack(input_handle=items, element_shape=shape, element_dtype=tf.float32)
    return results


_OPEN = [
    map_to_several,
    map_in_map,
    map_of_indices,
    vectorized,
    scan_sums,
    scan_of_two,
    scan_backwards,
    fold,
    written,
    grown,
    grown_on_condition,
    read_back,
    heads,
    concatenated,
    scattered,
    scattered_twice,
    unstacked,
    unstacked_and_grown,
    read_in_a_condition,
    chosen_item,
    made_in_a_branch,
    nested_loops,
    never_read,
    pooled,
    resized,
    stack,
    summed,
    windows,
]


@pytest.mark.parametrize("shape", [(None, None, 3), (4, 2, 3)], ids=str)
@pytest.mark.parametrize("function", _OPEN, ids=lambda function: function.__name__)
def test_float_lists(tensorflow: TensorFlow, function: Any, shape: tuple[int | None, ...]) -> None:
    path = save(tensorflow, function, shape, dtype="float32")
    check(tensorflow, path, sets((shape,), "float32"))


def test_no_items(tensorflow: TensorFlow) -> None:
    """LiteRT prepares the body of a loop that it never takes."""
    shape = (None, 2, 3)
    check(tensorflow, save(tensorflow, of_no_items, shape, dtype="float32"), sets((shape,), "float32"))


@pytest.mark.parametrize("function", [sorted_in_map, reversed_in_map], ids=lambda function: function.__name__)
@pytest.mark.parametrize("shape", [(None, 2, None, 3), (2, None, None, 3), (2, 4, 2, 3)], ids=str)
def test_items_sized_by_lists(tensorflow: TensorFlow, function: Any, shape: tuple[int | None, ...]) -> None:
    check(tensorflow, save(tensorflow, function, shape, dtype="float32"), sets((shape,), "float32"))


def test_map_over_two_inputs(tensorflow: TensorFlow) -> None:
    shapes = ((None, 2, 3), (None, 3, 2))
    check(tensorflow, save(tensorflow, map_of_two, *shapes, dtype="float32"), sets(shapes, "float32"))


def test_split_into_equal_parts(tensorflow: TensorFlow) -> None:
    path = save(tensorflow, parts, (6, 3), dtype="float32")
    check(tensorflow, path, sets(((6, 3),), "float32"))


@pytest.mark.parametrize("dtype", ["bool", "float16", "int8", "uint8", "int16", "int32", "int64"])
def test_dtypes(tensorflow: TensorFlow, dtype: str) -> None:
    path = save(tensorflow, numbers, (None, None, 3), dtype=dtype)
    check(tensorflow, path, sets(((None, None, 3),), dtype))


def unequal_parts(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 3]).read(1)}


def different_shapes(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=2, infer_shape=False)
    return {"y": array.write(0, x[:1]).write(1, x[:2]).concat()}


def growing_parts(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=3, infer_shape=False)
    for i in range(3):
        array = array.write(i, tf.abs(x[: i + 1]))
    return {"y": array.concat()}


def growing_in_a_loop(tf: Any, module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=4, infer_shape=False, element_shape=[3, None])
    for i in tf.range(4):
        array = array.write(i, tf.transpose(x)[:, i:])
    return {"y": array.read(2)}


@pytest.mark.parametrize(
    ("function", "rows", "reason"),
    [
        (unequal_parts, 4, "lengths of the parts are not known, or not equal"),
        (different_shapes, 4, "[1, 3] and [2, 3]"),
        (growing_parts, None, "dimension 0 of its items is of several sizes: 1, 2, 3"),
        (growing_in_a_loop, None, "dimension 1 of its items changes from iteration to iteration"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_no_dense_tensor_is_refused(
    tensorflow: TensorFlow, function: Any, rows: int | None, reason: str
) -> None:
    with pytest.raises(ConversionError) as caught:
        litefuse.convert(save(tensorflow, function, (rows, 3), dtype="float32"))
    assert reason in str(caught.value)
    assert "TensorArray" in str(caught.value).partition(":")[0]
    assert "TensorArray is converted when" in str(caught.value)


def test_complex_numbers_cannot_be_collected(tensorflow: TensorFlow) -> None:
    with pytest.raises(ConversionError, match="do not take complex64"):
        litefuse.convert(save(tensorflow, numbers, (None, 3), dtype="complex64"))


def cumulated(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.map_fn(tf.math.cumulative_logsumexp, x)}


def largest(tf: Any, module: Any, x: Any) -> Any:
    count = 1 + tf.cast(x[0, 0] > 0.0, tf.int32)
    return {"y": tf.map_fn(lambda row: tf.math.top_k(row, count).values, tf.concat([x, x], 1))}


def scaled(tf: Any, module: Any, x: Any) -> Any:
    def each(image: Any) -> Any:
        return tf.image.resize(image[None], 2 * tf.shape(image)[:2])[0]

    return {"y": tf.map_fn(each, x[:, :, None, None])}


def convolved(tf: Any, module: Any, x: Any) -> Any:
    def each(image: Any) -> Any:
        return tf.nn.conv2d(
            image[None], module.kernel[:2, :, None, None], [1, 2, 1, 1], [[0, 0], [1, 1], [1, 1], [0, 0]]
        )

    return {"y": tf.map_fn(each, tf.stack([x, x], 2)[..., None])}


@pytest.mark.parametrize("shape", [(4, None), (None, None)], ids=str)
@pytest.mark.parametrize(
    ("function", "op"),
    [
        (cumulated, "EXP"),
        (largest, "TOPK_V2"),
        (scaled, "RESIZE_BILINEAR"),
        (convolved, "CONV_2D"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_no_item_is_computed_for_its_size(
    tensorflow: TensorFlow, function: Any, op: str, shape: tuple[int | None, ...]
) -> None:
    result = check(tensorflow, save(tensorflow, function, shape, dtype="float32"), sets((shape,), "float32"))
    assert op_counts(result.model_bytes)[op] == 1


def filled(tf: Any, module: Any, x: Any) -> Any:
    """The size of an item is a number that the body computes, in each turn the same."""
    longest = tf.cast(tf.math.ceil(tf.abs(x[:, 0])), tf.int32)
    return {"y": tf.map_fn(lambda row: tf.fill([tf.reduce_max(longest)], row[0]), x)}


def filled_differently(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.map_fn(lambda row: tf.fill([tf.cast(row[0], tf.int32)], row[0]), x)}


def test_items_sized_by_a_computed_number(tensorflow: TensorFlow) -> None:
    shape = (None, 3)
    check(tensorflow, save(tensorflow, filled, shape, dtype="float32"), sets((shape,), "float32"))


def test_items_sized_by_a_number_that_changes_are_an_error_of_the_runtime(tensorflow: TensorFlow) -> None:
    path = save(tensorflow, filled_differently, (None, 3), dtype="float32")
    same, different = np.full((4, 3), 2, np.float32), np.arange(2, 14, dtype=np.float32).reshape(4, 3)
    model = check(tensorflow, path, {"x0": same}).model_bytes
    with pytest.raises((RuntimeError, ValueError)):
        interpreter(model).get_signature_runner()(x0=different)


def growing_items(tf: Any, module: Any, x: Any) -> Any:
    """The items have other sizes in each turn: TensorFlow concatenates them, a dense tensor cannot hold them."""
    array = tf.TensorArray(tf.float32, size=4, infer_shape=False)
    for i in tf.range(4):
        array = array.write(i, x[: tf.maximum(4 - i, 1)])
    return {"y": array.concat()}


def test_items_of_changing_size_are_an_error_of_the_runtime(tensorflow: TensorFlow) -> None:
    model = litefuse.convert(save(tensorflow, growing_items, (None, 3), dtype="float32")).model_bytes
    run = interpreter(model).get_signature_runner()
    with pytest.raises((RuntimeError, ValueError)):
        run(x0=np.ones((4, 3), np.float32))


def test_a_list_that_nobody_reads_is_not_made(tensorflow: TensorFlow) -> None:
    result = check(
        tensorflow, save(tensorflow, never_read, (None, None, 3), dtype="float32"), sets(((None, None, 3),), "float32")
    )
    assert op_counts(result.model_bytes)["DYNAMIC_UPDATE_SLICE"] == 0


def decoder(tf: Any, form: str) -> Any:
    """A loop that writes a word for each row of an open batch, and reads the last one, in different shapes."""
    random = np.random.default_rng(2)
    words, weights = (tf.constant(random.normal(size=size).astype(np.float32)) for size in ([7, 4], [4, 7]))
    module = tf.Module()

    def turn(step: Any, last: Any, written: Any) -> Any:
        x = tf.gather(words, last)[:, 0]
        if form == "reshape":
            x = tf.reshape(tf.reshape(x, [-1, 2, 2]) * 1.5, [-1, 4])
        word = tf.argmax(tf.matmul(x + tf.cast(step, tf.float32), weights), -1, output_type=tf.int32)
        if form == "new axis":
            last = word[:, None]
        elif form == "ellipsis":
            last = word[..., tf.newaxis]
        elif form == "several":
            last = word[tf.newaxis, ..., tf.newaxis][0]
        else:
            last = tf.expand_dims(word, 1)
        return step + 1, last, written.write(step, word)

    @tf.function(input_signature=[tf.TensorSpec([None, 1], tf.int32, name="first")], autograph=False)
    def serve(first: Any) -> Any:
        array = tf.TensorArray(tf.int32, 5, element_shape=[None])

        def before_the_end(step: Any, *_: Any) -> Any:
            return step < 5

        return {"words": tf.while_loop(before_the_end, turn, [0, first, array])[2].stack()}

    module.serve = serve
    return module


@pytest.mark.parametrize("form", ["new axis", "ellipsis", "several", "reshape"])
def test_words_of_an_open_batch(tensorflow: TensorFlow, form: str) -> None:
    random = np.random.default_rng(4)
    inputs = [{"first": random.integers(0, 7, (batch, 1)).astype(np.int32)} for batch in (3, 1, 6)]
    check(tensorflow, tensorflow.save(decoder, form), inputs)
