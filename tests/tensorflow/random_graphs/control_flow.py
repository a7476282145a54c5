# pyright: reportUnknownLambdaType=false
"""Steps with functions: branches, loops, calls, and variables."""

from __future__ import annotations

from typing import Any

from tests.tensorflow.random_graphs.graph import ANY, FLOATS, NUMBERS, Graph, NoStep, step


@step(NUMBERS)
def branch(g: Graph, x: Any) -> Any:
    """One of two or three functions, by what the value is."""
    tf = g.tf
    total = tf.reduce_sum(tf.clip_by_value(x, -1, 1))
    functions = [lambda: g.inner().preserving(x, g.number(0, 2)) for _ in range(3)]
    if g.chance(0.5):
        return tf.cond(total > tf.cast(0, x.dtype), functions[0], functions[1])
    index = tf.cast(total, tf.int32) % 3
    return tf.switch_case(index, functions)


@step(NUMBERS)
def loop(g: Graph, x: Any) -> Any:
    """Some turns of a loop; what it does not change, it may still use."""
    tf = g.tf
    counted = g.chance(0.5)

    def body(turn: Any, value: Any) -> tuple[Any, Any]:
        value = g.inner().preserving(value, g.number(1, 2))
        if counted:
            value += tf.cast(turn, x.dtype)
        return turn + 1, value

    turns = g.number(0, 3)
    shape = tf.TensorShape(x.shape)
    return tf.while_loop(lambda turn, _: turn < turns, body, (0, x), (tf.TensorShape([]), shape))[1]


@step(FLOATS, range(1, 5))
def each_row(g: Graph, x: Any) -> Any:
    """A function of each row: a loop that reads from a list of tensors and writes to another."""

    def function(row: Any) -> Any:
        inner = g.inner()
        for _ in range(g.number(1, 2)):
            row = inner.extend(row)
        return g.tf.cast(row, g.tf.float32)

    return g.tf.map_fn(function, x)


@step(FLOATS, range(2, 4), sized=True)
def running(g: Graph, x: Any) -> Any:
    """What a loop over the rows carries along, at each row."""
    return g.tf.scan(lambda carried, row: g.inner().preserving(row, 1) + carried * 0.5, x)


@step(ANY)
def called(g: Graph, x: Any) -> Any:
    """A function that is called from two places."""
    count = g.number(1, 2)
    function = g.tf.function(lambda value: g.inner().preserving(value, count), autograph=False)
    return function(function(x))


@step(FLOATS)
def remembered(g: Graph, x: Any) -> Any:
    """A variable that each call changes."""
    tf = g.tf
    if g.depth:
        raise NoStep
    shape = g.broadcastable(x)
    with tf.init_scope():
        variable = tf.Variable(g.elements(shape))
    g.variables.append(variable)
    if g.chance(0.5):
        before = variable.read_value()
        variable.assign(before * 0.5 + 1.0)
        return x + (before if g.chance(0.5) else variable)
    variable.assign_add(tf.fill(shape, tf.reduce_sum(tf.clip_by_value(x, -1.0, 1.0))) * 0.1)
    return x * 0.5 + variable


@step(FLOATS, range(2, 6))
def weighted(g: Graph, x: Any) -> Any:
    """A product with a variable that nothing changes."""
    tf, size = g.tf, x.shape[-1]
    if not size or g.depth:
        raise NoStep
    with tf.init_scope():
        kernel, bias = tf.Variable(g.elements([size, size])), tf.Variable(g.elements([size]))
    g.variables += [kernel, bias]
    return tf.matmul(x, kernel) + bias
