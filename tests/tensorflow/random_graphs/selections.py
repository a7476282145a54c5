# pyright: reportUnknownLambdaType=false
"""Steps that choose, order and spread elements by other elements, some into sizes that only the call knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tensorflow.random_graphs.graph import ANY, FLOATS, INTEGERS, NUMBERS, Graph, NoStep, step


@step(NUMBERS, range(1, 4), resizes=True)
def masked(g: Graph, x: Any) -> Any:
    """Its rows, or elements, where a condition holds; the first row always."""
    tf = g.tf
    if g.chance(0.4):
        return tf.concat([tf.reshape(x, [-1])[:1], tf.boolean_mask(x, x > tf.cast(0, x.dtype))], 0)
    rows = tf.reduce_max(tf.reshape(x, tf.stack([tf.shape(x)[0], -1])), 1)
    return tf.boolean_mask(x, tf.logical_or(rows > tf.cast(1, x.dtype), tf.range(tf.shape(x)[0]) < 1))


@step(FLOATS, range(1, 4))
def places(g: Graph, x: Any) -> Any:
    """Where elements are larger than a bound, one row each, before which comes a row of zeros."""
    tf = g.tf
    return tf.concat([tf.zeros([1, x.shape.rank], tf.int64), tf.where(x > g.pick([0.0, 0.7]))], 0)


@step(INTEGERS, range(1, 3))
def distinct(g: Graph, x: Any) -> Any:
    """Each number once."""
    return g.tf.unique(g.tf.reshape(x, [-1]))[g.number(0, 1)]


@step(ANY, range(1, 4), resizes=True)
def repeated(g: Graph, x: Any) -> Any:
    """Each row several times."""
    axis = g.number(0, x.shape.rank - 1)
    size = x.shape[axis]
    if size and g.chance(0.5):
        return g.tf.repeat(x, g.random.integers(0, 3, size=size).tolist(), axis)
    return g.tf.repeat(x, g.number(1, 3), axis)


@step(ANY, range(4))
def counted(g: Graph, x: Any) -> Any:
    """The numbers up to a size of it, as a vector."""
    tf = g.tf
    count = tf.size(x) if x.shape.rank == 0 or g.chance(0.3) else tf.shape(x)[g.axis(x)]
    return tf.cast(tf.range(count), tf.float32) * 0.5 if g.chance(0.6) else tf.range(count + 1, 0, -1)


@step(ANY, range(1, 5))
def filled(g: Graph, x: Any) -> Any:
    """One number in its shape, or in part of that."""
    tf = g.tf
    return g.pick(
        [
            lambda: tf.zeros_like(x),
            lambda: tf.fill(tf.shape(x)[:1], 1.5),
            lambda: tf.ones(tf.shape(x)),
            lambda: tf.eye(tf.shape(x)[0]),
            lambda: tf.sequence_mask(tf.range(tf.shape(x)[0]), 3),
        ]
    )()


@step(NUMBERS, range(1, 4))
def ordered(g: Graph, x: Any) -> Any:
    """Its elements in order along the last axis; of integers, the places of the largest."""
    tf = g.tf
    if not x.shape[-1]:
        raise NoStep
    if x.dtype.is_floating:
        return tf.sort(x, direction=g.pick(["ASCENDING", "DESCENDING"]))
    return tf.math.top_k(x, 1)[1]


@step(ANY, range(1, 4))
def rolled(g: Graph, x: Any) -> Any:
    """Shifted along an axis, what falls out coming back at the other end."""
    return g.tf.roll(x, g.number(-2, 3), g.axis(x))


@step(FLOATS, range(2, 4))
def picked(g: Graph, x: Any) -> Any:
    """An element of each row, or rows at places that its numbers say."""
    tf = g.tf
    size = x.shape[1]
    if not size:
        raise NoStep
    index = tf.cast(tf.abs(tf.floor(tf.clip_by_value(tf.reduce_sum(x[:, 0:1], -1), -9.0, 9.0) * 3.0)), tf.int32) % size
    if x.shape.rank == 3:
        index = index[:, 0]
    return g.pick(
        [
            lambda: tf.gather(x, index, axis=1, batch_dims=1),
            lambda: tf.gather_nd(x, tf.stack([tf.range(tf.shape(x)[0]), index], 1)),
            lambda: tf.gather(tf.transpose(x, [1, 0, *range(2, x.shape.rank)]), index),
        ]
    )()


@step(NUMBERS, range(1, 4))
def updated(g: Graph, x: Any) -> Any:
    """Some rows replaced or added to."""
    tf, rows = g.tf, x.shape[0]
    if not rows:
        raise NoStep
    places = g.random.permutation(rows)[: g.number(1, rows)].reshape(-1, 1).astype("int32")
    update = g.pick([tf.tensor_scatter_nd_update, tf.tensor_scatter_nd_add])
    return update(x, places, tf.gather(x, (places[:, 0] + 1) % rows))


@step(FLOATS, range(2, 5))
def of_matrices(g: Graph, x: Any) -> Any:
    """Parts of matrices: bands, diagonals, traces; and what makes matrices of vectors."""
    tf = g.tf
    return g.pick(
        [
            lambda: tf.linalg.band_part(x, g.number(-1, 2), g.number(-1, 2)),
            lambda: tf.linalg.diag_part(x),
            lambda: tf.linalg.trace(x),
            lambda: tf.linalg.diag(x),
            lambda: tf.linalg.matrix_transpose(x),
            lambda: tf.linalg.norm(x, axis=-1),
        ]
    )()


@step(FLOATS, (4,), sized=True)
def patches(g: Graph, x: Any) -> Any:
    """Windows of images, crops, turns and mirror images."""
    tf = g.tf
    height, width = x.shape.as_list()[1:3]
    if min(height, width) < 2 or not x.shape[3]:
        raise NoStep
    return g.pick(
        [
            lambda: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], g.pick(["SAME", "VALID"])),
            lambda: tf.image.flip_left_right(x),
            lambda: tf.image.rot90(x),
            lambda: tf.image.central_crop(x, 0.5),
            lambda: tf.image.crop_to_bounding_box(x, 0, 1, height - 1, width - 1),
            lambda: tf.image.resize_with_crop_or_pad(x, 4, 4),
            lambda: tf.image.per_image_standardization(x),
        ]
    )()


@step(FLOATS, range(1, 4))
def statistics(g: Graph, x: Any) -> Any:
    """Means, variances, norms and the like along an axis."""
    tf, axis = g.tf, g.axis(x)
    return g.pick(
        [
            lambda: tf.nn.moments(x, [axis])[1],
            lambda: tf.math.reduce_std(x, axis),
            lambda: tf.math.reduce_euclidean_norm(x, axis),
            lambda: tf.clip_by_norm(x, 1.5, axis),
            lambda: tf.math.reduce_prod(tf.clip_by_value(x, -1.5, 1.5), axis),
            lambda: tf.nn.zero_fraction(tf.nn.relu(x)),
            lambda: tf.math.count_nonzero(tf.nn.relu(x), axis),
            lambda: tf.math.cumprod(tf.clip_by_value(x, -1.5, 1.5), axis),
        ]
    )()


@step(FLOATS, range(3))
def bucketed(g: Graph, x: Any) -> Any:
    """Between which bounds each element lies."""
    tf = g.tf
    bounds = np.sort(g.random.normal(size=4)).astype("float32")
    return tf.reshape(tf.searchsorted(bounds, tf.reshape(x, [-1])), tf.shape(x))
