"""Which constants the engine does not see, and that all of them come back."""

from __future__ import annotations

import pytest

from litefuse.ir.engine.hidden_constants import hidden_constants
from litefuse.ir.mlir import ir, mlir_context

_MATRIX, _SCALAR = "tensor<?x3xf32>", "tensor<f32>"
_TWO = f'%c = "tf.Const"() {{value = dense<2.0> : {_SCALAR}}} : () -> {_SCALAR}'
_ZERO = f'%c = "tf.Const"() {{value = dense<0.0> : {_SCALAR}}} : () -> {_SCALAR}'
_OPEN = '%o = "tf.Const"() {value = dense<-1> : tensor<1xi32>} : () -> tensor<1xi32>'
_ORDER = '%n = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>'
_BINARY = f"({_SCALAR}, {_MATRIX}) -> {_MATRIX}"
_NEGATIVE = f'%n = "tf.Neg"(%x) : ({_MATRIX}) -> {_MATRIX}'
_SQUARES = f'%s = "tf.Square"(%x) : ({_MATRIX}) -> {_MATRIX}'


def _module(*lines: str) -> ir.Module:
    body = "\n".join(lines)
    return ir.Module.parse(f"func.func @main(%x: {_MATRIX}, %v: tensor<3xf32>) {{\n{body}\nreturn\n}}")


@pytest.mark.parametrize(
    "lines",
    [
        (_TWO, f'%y = "tf.Sub"(%c, %x) : {_BINARY}'),
        (_TWO, f'%y = "tf.RealDiv"(%c, %x) : {_BINARY}'),
        (_TWO, _NEGATIVE, f'%y = "tf.AddV2"(%c, %n) : {_BINARY}'),
        (_ZERO, f'%y = "tf.Mul"(%c, %x) : {_BINARY}'),
        (_TWO, f'%r = "tf.Rsqrt"(%c) : ({_SCALAR}) -> {_SCALAR}', f'%y = "tf.Sub"(%r, %x) : {_BINARY}'),
        (
            _SQUARES,
            '%a = "tf.Const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>',
            f'%y = "tf.Sum"(%s, %a) {{keep_dims = false}} : ({_MATRIX}, tensor<2xi32>) -> {_SCALAR}',
        ),
        (_TWO, _OPEN, f'%y = "tf.Reshape"(%c, %o) : ({_SCALAR}, tensor<1xi32>) -> tensor<?xf32>'),
        (
            *(_TWO, _OPEN, f'%r = "tf.Rsqrt"(%c) : ({_SCALAR}) -> {_SCALAR}'),
            f'%y = "tf.Reshape"(%r, %o) : ({_SCALAR}, tensor<1xi32>) -> tensor<?xf32>',
        ),
    ],
    ids=[
        *("difference", "quotient", "sum with a negative", "product with 0", "computed", "norm"),
        *("reshape to an open shape", "computed reshape"),
    ],
)
def test_hidden(lines: tuple[str, ...]) -> None:
    with mlir_context():
        module = _module(*lines)
        with hidden_constants(module):
            assert str(module).count("tfl.external_const") == 1
        assert "tfl.external_const" not in str(module)
        assert str(module).count("tfl.pseudo_const") == 1


def test_of_a_reshape_what_is_reshaped_is_hidden() -> None:
    with mlir_context():
        module = _module(_TWO, _OPEN, f'%y = "tf.Reshape"(%c, %o) : ({_SCALAR}, tensor<1xi32>) -> tensor<?xf32>')
        with hidden_constants(module):
            (line,) = [line for line in str(module).splitlines() if "tfl.external_const" in line]
    assert line.endswith(f"-> {_SCALAR}")


@pytest.mark.parametrize(
    "lines",
    [
        (_TWO, f'%y = "tf.AddV2"(%c, %x) : {_BINARY}'),
        (_TWO, f'%y = "tf.Sub"(%x, %c) : ({_MATRIX}, {_SCALAR}) -> {_MATRIX}'),
        (_TWO, f'%y = "tf.Sub"(%c, %v) : ({_SCALAR}, tensor<3xf32>) -> tensor<3xf32>'),
        (_TWO, f'%y = "tf.Mul"(%c, %x) : {_BINARY}'),
        (
            _SQUARES,
            '%a = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>',
            f'%y = "tf.Sum"(%s, %a) {{keep_dims = false}} : ({_MATRIX}, tensor<1xi32>) -> tensor<?xf32>',
        ),
        (_TWO, _OPEN, f'%y = "tf.Reshape"(%c, %o) : ({_SCALAR}, tensor<1xi32>) -> tensor<1xf32>'),
        (
            *(_TWO, _OPEN, f'%p = "tf.Mul"(%c, %x) : {_BINARY}'),
            f'%y = "tf.Reshape"(%p, %o) : ({_MATRIX}, tensor<1xi32>) -> tensor<?xf32>',
        ),
        (
            *(_TWO, _ORDER, f'%t = "tf.Transpose"(%x, %n) : ({_MATRIX}, tensor<2xi32>) -> tensor<3x?xf32>'),
            f'%s = "tf.AddV2"(%t, %c) : (tensor<3x?xf32>, {_SCALAR}) -> tensor<3x?xf32>',
            f'%y = "tf.Transpose"(%s, %n) : (tensor<3x?xf32>, tensor<2xi32>) -> {_MATRIX}',
        ),
    ],
    ids=[
        *("sum", "second", "of a vector", "product", "norm of rows", "reshape to a known shape"),
        *("reshape of a product", "sum between transpositions"),
    ],
)
def test_not_hidden(lines: tuple[str, ...]) -> None:
    with mlir_context():
        module = _module(*lines)
        with hidden_constants(module):
            assert "tfl.external_const" not in str(module)
