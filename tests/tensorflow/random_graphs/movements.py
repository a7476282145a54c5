# pyright: reportUnknownLambdaType=false
"""Steps that move elements, repeat them and leave some out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tensorflow.random_graphs.graph import ANY, NUMBERS, Graph, NoStep, step


@step(ANY, range(2, 6), resizes=True)
def transposed(g: Graph, x: Any) -> Any:
    """Another order of the axes, the first often kept."""
    order = g.random.permutation(x.shape.rank).tolist()
    if g.chance(0.6):
        order = [0, *(axis for axis in order if axis != 0)]
    return g.tf.transpose(x, order)


@step(ANY, range(1, 6), resizes=True)
def reshaped(g: Graph, x: Any) -> Any:
    """Another shape, in constants or computed from the shape at hand."""
    tf, sizes = g.tf, x.shape.as_list()
    if sizes.count(None) > 1:
        return tf.reshape(x, tf.concat([tf.shape(x)[:1], [-1]], 0))
    known = int(np.prod([size for size in sizes if size is not None]))
    factor = g.pick([each for each in range(1, known + 1) if known % each == 0] or [1])
    if known == 0 or None not in sizes:
        return tf.reshape(x, [factor, known // factor])
    if sizes[0] is None:
        rows = tf.shape(x)[0]
        return tf.reshape(x, g.pick([[-1, factor, known // factor], [rows, known], [rows, factor, known // factor]]))
    return tf.reshape(x, [known, -1])


@step(ANY)
def expanded(g: Graph, x: Any) -> Any:
    """One axis more."""
    return g.tf.expand_dims(x, g.number(-x.shape.rank - 1, x.shape.rank))


@step(ANY, range(1, 6))
def squeezed(g: Graph, x: Any) -> Any:
    """One axis of size 1 less, or all of them, counted from either end."""
    ones = [axis for axis, size in enumerate(x.shape.as_list()) if size == 1]
    if not ones:
        raise NoStep
    dropped = ones if g.chance(0.3) else [g.pick(ones)]
    return g.tf.squeeze(x, [axis - x.shape.rank if g.chance(0.5) else axis for axis in dropped])


@step(ANY, range(1, 6), resizes=True)
def sliced(g: Graph, x: Any) -> Any:
    """Part of an axis, or one place of it."""
    axis = g.number(0, x.shape.rank - 1)
    size = x.shape[axis]
    index: list[Any] = [slice(None)] * x.shape.rank
    if size is None:
        index[axis] = g.pick([slice(None, None, -1), slice(None, 1), slice(None, -1), slice(0, None, 2)])
    elif size < 2:
        raise NoStep
    else:
        index[axis] = g.pick([slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1), -1, 0])
    return x[tuple(index)]


@step(NUMBERS, range(1, 6), resizes=True)
def padded(g: Graph, x: Any) -> Any:
    """More elements at the ends of an axis."""
    tf, axis = g.tf, g.number(0, x.shape.rank - 1)
    paddings = [[0, 0]] * x.shape.rank
    paddings[axis] = [g.number(0, 2), g.number(0, 2)]
    if g.chance(0.3):
        if (x.shape[axis] or 0) < 3:
            raise NoStep
        return tf.pad(x, paddings, g.pick(["REFLECT", "SYMMETRIC"]))
    return tf.pad(x, paddings, constant_values=tf.constant(g.pick([0, 1, -2]), x.dtype))


@step(ANY, range(1, 6), resizes=True)
def concatenated(g: Graph, x: Any) -> Any:
    """Itself and others of its shape."""
    others = [value for value in g.values if value.dtype == x.dtype and value.shape.as_list() == x.shape.as_list()]
    other = g.pick(others) if others else x
    return g.tf.concat([x, other] if g.chance(0.7) else [other, x, x], g.axis(x))


@step(ANY, range(1, 6))
def stacked(g: Graph, x: Any) -> Any:
    """A new axis, and perhaps one of its places again."""
    tf, axis = g.tf, g.number(-x.shape.rank - 1, x.shape.rank)
    both = tf.stack([x, tf.reverse(x, [0])], axis)
    return tf.unstack(both, axis=axis)[g.number(0, 1)] if g.chance(0.4) else both


@step(ANY, range(1, 6))
def split(g: Graph, x: Any) -> Any:
    """Parts of an axis, put together in another order."""
    tf, axis = g.tf, g.axis(x)
    size = x.shape[axis]
    if size is None or size < 2:
        raise NoStep
    if size % 2 == 0 and g.chance(0.5):
        first, second = tf.split(x, 2, axis)
    else:
        first, second = tf.split(x, [1, size - 1], axis)
    return g.pick([lambda: first, lambda: second, lambda: tf.concat([second, first], axis)])()


@step(ANY, range(1, 6), resizes=True)
def tiled(g: Graph, x: Any) -> Any:
    """Repeated along an axis."""
    multiples = [1] * x.shape.rank
    multiples[g.axis(x)] = g.number(1, 3)
    return g.tf.tile(x, multiples)


@step(ANY, range(1, 6))
def reversed_(g: Graph, x: Any) -> Any:
    """An axis the other way round."""
    return g.tf.reverse(x, [g.axis(x)])


@step(ANY, range(1, 6))
def gathered(g: Graph, x: Any) -> Any:
    """Some places of an axis, in any order."""
    axis = g.number(0, x.shape.rank - 1)
    size = x.shape[axis]
    if not size:
        raise NoStep
    places = g.random.integers(0, size, size=g.pick([(), (3,), (2, 2)]))
    return g.tf.gather(x, np.asarray(places, g.pick(["int32", "int64"])), axis=axis)


@step(ANY, range(1, 5))
def broadcast(g: Graph, x: Any) -> Any:
    """To a shape with one more axis in front."""
    tf = g.tf
    return tf.broadcast_to(x, tf.concat([[g.number(1, 3)], tf.shape(x)], 0))


@step(NUMBERS, range(1, 5))
def largest(g: Graph, x: Any) -> Any:
    """The largest elements of the last axis."""
    if (x.shape[-1] or 0) < 2:
        raise NoStep
    return g.tf.math.top_k(x, 2)[0]


@step(frozenset({"int32", "int64"}), range(4))
def one_hot(g: Graph, x: Any) -> Any:
    """Rows with a one at the place that a number says."""
    return g.tf.one_hot(x, g.number(1, 4), axis=g.pick([-1, 0, x.shape.rank]))


@step(frozenset({"int32", "int64"}), range(4))
def looked_up(g: Graph, x: Any) -> Any:
    """Rows of a table."""
    tf, rows = g.tf, g.number(2, 6)
    return tf.gather(g.constant([rows, g.number(1, 4)]), x % rows)


@step(NUMBERS, range(1, 4))
def scattered(g: Graph, x: Any) -> Any:
    """Its rows at other places of a larger tensor."""
    rows = x.shape[0]
    if not rows or None in x.shape.as_list():
        raise NoStep
    places = g.random.permutation(rows + 2)[:rows].reshape(-1, 1).astype("int32")
    return g.tf.scatter_nd(places, x, [rows + 2, *x.shape.as_list()[1:]])


@step(NUMBERS, range(1, 4))
def segments(g: Graph, x: Any) -> Any:
    """Sums over rows of one number."""
    rows = x.shape[0]
    if not rows:
        raise NoStep
    return g.tf.math.unsorted_segment_sum(x, g.random.integers(0, 3, size=rows).astype("int32"), 3)
