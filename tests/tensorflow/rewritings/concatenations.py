"""Ops that are moved behind a concatenation, with neutral elements for the pieces that have none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.tensorflow.rewritings.form import FLOATS, NUMBERS, Form, Maker, Named

_Operation = Callable[[Any, Any, Any], Any]

_BINARY: Mapping[str, _Operation] = {
    "sum": lambda _tf, x, c: x + c,
    "sum_with_constant_first": lambda _tf, x, c: c + x,
    "difference": lambda _tf, x, c: x - c,
    "difference_from_constant": lambda _tf, x, c: c - x,
    "product": lambda _tf, x, c: x * c,
    "product_with_constant_first": lambda _tf, x, c: c * x,
    "quotient": lambda _tf, x, c: x // c,
    "quotient_of_constant": lambda _tf, x, c: c // x,
    "maximum": lambda tf, x, c: tf.maximum(x, c),
    "minimum": lambda tf, x, c: tf.minimum(x, c),
    "remainder": lambda _tf, x, c: x % c,
    "squared_difference": lambda tf, x, c: tf.math.squared_difference(x, c),
    "comparison": lambda _tf, x, c: x < c,
    "comparison_of_constant": lambda _tf, x, c: c <= x,
    "equality": lambda tf, x, c: tf.equal(x, c),
}
_OF_FLOATS: Mapping[str, _Operation] = {
    "real_quotient": lambda _tf, x, c: x / c,
    "real_quotient_of_constant": lambda _tf, x, c: c / x,
    "power": lambda tf, x, c: tf.pow(tf.abs(x), c),
}
_UNARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "negative": lambda _tf, x: -x,
    "absolute": lambda tf, x: tf.abs(x),
    "rectified": lambda tf, x: tf.nn.relu(x),
    "square": lambda tf, x: tf.square(x),
    "sign": lambda tf, x: tf.sign(x),
    "condition": lambda tf, x: tf.cast(x, tf.bool),
    "inverted_condition": lambda tf, x: tf.logical_not(tf.cast(x, tf.bool)),
}
_UNARY_OF_FLOATS: Mapping[str, Callable[[Any, Any], Any]] = {
    "tanh": lambda tf, x: tf.tanh(x),
    "exp": lambda tf, x: tf.exp(x),
    "root": lambda tf, x: tf.sqrt(tf.abs(x)),
    "floor": lambda tf, x: tf.floor(x),
    "sigmoid": lambda tf, x: tf.sigmoid(x),
    "leaky": lambda tf, x: tf.nn.leaky_relu(x, 0.4),
    "elu": lambda tf, x: tf.nn.elu(x),
    "reciprocal": lambda tf, x: tf.math.reciprocal(x + 7),
    "nan": lambda tf, x: tf.math.is_nan(x),
    "finite": lambda tf, x: tf.math.is_finite(x),
    "infinite": lambda tf, x: tf.math.is_inf(x),
}
_CONDITIONS = {"comparison", "comparison_of_constant", "equality"}
# Which pieces have the op.
_PLACES = {
    "but the last": (1, 1, 1, 0),
    "but the first": (0, 1, 1, 1),
    "two without": (1, 0, 1, 1, 0),
    "all": (1, 1, 1),
}


def _joined(operation: _Operation, places: tuple[int, ...], axis: int) -> Form:
    def form(m: Maker, _x: Any, y: Any) -> Any:
        doubled = m.tf.concat([y, y], 1)
        pieces = [
            operation(m.tf, piece, m(number + 2)) if has_op else m.tf.reshape(piece, piece.shape)
            for number, (has_op, piece) in enumerate(zip(places, m.tf.split(doubled, 8, 1), strict=False))
        ]
        return m.tf.concat([m.tf.squeeze(piece, 1) for piece in pieces], 0) if axis == 0 else m.tf.concat(pieces, 1)

    return form


def _vectors(operation: _Operation) -> Form:
    """Pieces that are inputs as they are, with the constants of vectors."""

    def form(m: Maker, x: Any, y: Any) -> Any:
        return m.tf.concat([operation(m.tf, y, m([1, 2, 3, 4])), operation(m.tf, y, m([3, 2, 1, 5])), x], 0)

    return form


def _scalars(operation: _Operation) -> Form:
    def form(m: Maker, x: Any, y: Any) -> Any:
        return m.tf.concat([operation(m.tf, y, m(2)), operation(m.tf, y, m(3)), operation(m.tf, y, m(1)), x], 0)

    return form


def _both(first: _Operation, second: _Operation) -> Form:
    def form(m: Maker, x: Any, y: Any) -> Any:
        return m.tf.concat([first(m.tf, y, m(2)), first(m.tf, y, m(3)), second(m.tf, y, m(2)), x], 0)

    return form


def _unary(operation: Callable[[Any, Any], Any]) -> Form:
    def form(m: Maker, x: Any, y: Any) -> Any:
        return m.tf.concat([operation(m.tf, y), operation(m.tf, x), operation(m.tf, y + x)], 1)

    return form


def _forms() -> Iterator[Named]:
    for dtypes, operations in ((NUMBERS, _BINARY), (FLOATS, _OF_FLOATS)):
        for name, operation in operations.items():
            for where, places in _PLACES.items():
                if name in _CONDITIONS and 0 in places:
                    continue
                yield f"{name}, {where}", dtypes, _joined(operation, places, 1)
            if name not in _CONDITIONS:
                yield f"{name}, of rows", dtypes, _joined(operation, (1, 1, 0, 1), 0)
                yield f"{name}, vectors", dtypes, _vectors(operation)
                yield f"{name}, scalars", dtypes, _scalars(operation)
            if name not in _CONDITIONS:
                yield f"{name} and sum", dtypes, _both(operation, _BINARY["sum"])
    for dtypes, unary in ((NUMBERS, _UNARY), (FLOATS, _UNARY_OF_FLOATS)):
        for name, operation in unary.items():
            yield name, dtypes, _unary(operation)


CONCATENATIONS = list(_forms())
