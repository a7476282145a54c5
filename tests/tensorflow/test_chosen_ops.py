# pyright: reportUnknownLambdaType=false
"""Ops that the user names become custom ops, whatever LiteRT or litefuse have for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.options import decode_map
from litefuse.tools.scaffold.project import read_ops
from tests.tensorflow.auditing import operators
from tests.tensorflow.checking import check, normal, op_counts
from tests.tensorflow.converted_ops import lone
from tests.tensorflow.saved_models import serving, stock_convert
from tests.tensorflow.test_composites import implements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.support.options.forms import CompositeForm
    from tests.tensorflow.process import TensorFlow


def model(tf: Any) -> Any:
    """Ops that are rewritten, kept as composites, or builtin ops: in the signature, a function, a branch and a loop."""
    shifted = tf.function(lambda x: tf.roll(x, 1, 1), autograph=False)

    def patches(x: Any) -> Any:
        return tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")

    def serve(x: Any) -> Any:
        rows = patches(x)
        _, looped = tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, tf.math.erf(t)), [tf.constant(0), x])
        chosen = tf.cond(tf.reduce_sum(x) > 0.0, lambda: shifted(x), lambda: x)
        return {
            "patches": rows,
            "looped": looped,
            "chosen": chosen,
            "relu": tf.nn.relu(tf.reshape(x, [tf.shape(x)[0], -1])),
            "einsum": tf.einsum("bhwc,cd->bhwd", x, tf.constant(np.eye(2, 5, dtype=np.float32))),
        }

    return serving(tf, serve, ("x", [None, 8, 8, 2], "float32"))


class Relu(CustomOp):
    op_name = "Relu"

    def prepare(self, x: TensorSpec) -> TensorSpec:
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = np.maximum(inputs[0], 0)


class Einsum(CustomOp):
    op_name = "Einsum"

    def prepare(self, a: TensorSpec, b: TensorSpec, *, equation: str) -> TensorSpec:
        assert a.shape is not None
        assert b.shape is not None
        self.equation = equation
        return TensorSpec((*a.shape[:-1], b.shape[1]), a.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = np.einsum("...c,cd->...d", *inputs)


NAMES = ["Einsum", "Erf", "ExtractImagePatches", "Relu", "Roll"]


def test_they_are_custom_ops_wherever_they_are(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(model)
    inputs = normal({"x": (None, 8, 8, 2)}, batches=(2, 1, 3))
    result = check(
        tensorflow, path, inputs, custom_ops=[Relu, Einsum], kernel_pack=True, rtol=1e-5, allow_custom_ops=NAMES
    )
    counts = op_counts(result.model_bytes)
    assert {name: counts.get(name) for name in NAMES} == dict.fromkeys(NAMES, 1)
    assert "STABLEHLO_COMPOSITE" not in counts
    assert result.report.needless_custom_ops == ()
    outcomes = {each.op: each.outcome for each in result.report.lacking_ops}
    assert outcomes == {
        **dict.fromkeys(["Einsum", "Relu"], "custom"),
        **dict.fromkeys(["Erf", "ExtractImagePatches", "Roll"], "pack"),
    }
    assert (
        "Relu                 1  custom op: needs a kernel of yours (not rewritten: it was chosen"
        in result.report.details()
    )


def test_without_names_litefuse_decides(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(model)
    for allowed in (True, False):
        result = check(tensorflow, path, normal({"x": (None, 8, 8, 2)}, batches=(2,)), allow_custom_ops=allowed)
        assert result.report.custom_ops == ()


def custom(model: bytes) -> list[tuple[str, bytes]]:
    """The custom ops of a model with their options."""
    found = [(name, op.customOptions) for _, _, name, op in operators(model)]
    return sorted((name, bytes(bytearray(data))) for name, data in found if data is not None and len(data))


def attributes(tf: Any) -> Any:
    """Ops with attributes of all kinds, which the stock converter leaves as custom ops."""

    def serve(x: Any, s: Any) -> Any:
        return {
            "patches": tf.raw_ops.ExtractImagePatches(
                images=x, ksizes=[1, 300, 3, 1], strides=[1, 2, 2, 1], rates=[1] * 4, padding="SAME"
            ),
            "erf": tf.raw_ops.Erf(x=x),
            "pooled": tf.raw_ops.FractionalMaxPool(value=x, pooling_ratio=[1.0, 1.44, 1.73, 1.0])[0],
            "texts": tf.raw_ops.DebugIdentityV3(input=x, debug_urls=["a", "ü"]),
            "csv": tf.raw_ops.DecodeCSV(records=s, record_defaults=[tf.constant([0.0])], field_delim=b"\xff")[0],
        }

    return serving(tf, serve, ("x", [1, 8, 8, 2], "float32"), ("s", [2], "string"))


def test_their_options_are_those_of_the_stock_converter(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(attributes)
    names = ["ExtractImagePatches", "Erf", "FractionalMaxPool", "DebugIdentityV3", "DecodeCSV"]
    ours = dict(custom(litefuse.convert(path, allow_custom_ops=names).model_bytes))
    theirs = dict(custom(tensorflow.call(stock_convert, str(path), {"allow_custom_ops": True})))
    # What the stock converter leaves out is there as well: lists of types, and empty ones.
    data = ours.pop("DecodeCSV")
    stock = theirs.pop("DecodeCSV")
    assert decode_map(data) == {**(decode_map(stock) or {}), "select_cols": [], "OUT_TYPE": [0]}
    assert ours == theirs
    assert [*ours] == sorted(names[:-1])


def composites(tf: Any) -> Any:
    """A composite with a fusion, which holds another and an op; one that is declared an op; a recognizable chain."""
    inner = tf.function(lambda x: tf.math.erf(x) * 2.0, experimental_implements=implements("Inner"), autograph=False)

    @tf.function(experimental_implements="embedding_matmul", autograph=False)
    def lookup(table: Any, ids: Any) -> Any:
        return tf.gather(table, ids)

    table = tf.constant(np.arange(12.0, dtype=np.float32).reshape(4, 3))

    def serve(x: Any) -> Any:
        ids = tf.cast(tf.reduce_sum(tf.abs(x), 1), tf.int32) % 4
        return {"rows": lookup(table, ids), "inner": inner(x)}

    return serving(tf, serve, ("x", [None, 3], "float32"))


class Lookup(CustomOp):
    op_name = "embedding_matmul"

    def prepare(self, table: TensorSpec, ids: TensorSpec) -> TensorSpec:
        assert table.shape is not None
        assert ids.shape is not None
        return TensorSpec((*ids.shape, table.shape[1]), table.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = inputs[0][inputs[1]]


class Inner(CustomOp):
    op_name = "Inner"

    def prepare(self, x: TensorSpec) -> TensorSpec:
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        from scipy.special import erf

        outputs[0][...] = erf(inputs[0]) * 2


def test_a_composite_is_a_custom_op_whatever_fusion_there_is(tensorflow: TensorFlow) -> None:
    result = check(
        tensorflow,
        tensorflow.save(composites),
        normal({"x": (None, 3)}, batches=(2, 1)),
        custom_ops=[Lookup, Inner],
        rtol=1e-5,
        composites={"embedding_matmul": "custom"},
    )
    assert result.report.custom_ops == ("Inner", "embedding_matmul")


def nested(tf: Any) -> Any:
    """A composite with a fusion, whose body calls another."""
    inner = tf.function(lambda x: tf.math.erf(x) * 2.0, experimental_implements=implements("Inner"), autograph=False)
    outer = tf.function(lambda x: inner(x) + 1.0, experimental_implements=implements("Outer"), autograph=False)
    return serving(tf, lambda x: {"y": outer(x)}, ("x", [None, 3], "float32"))


def test_a_composite_within_another_that_was_not_chosen(tensorflow: TensorFlow) -> None:
    path, inputs = tensorflow.save(nested), normal({"x": (None, 3)}, batches=(2, 1))
    result = check(tensorflow, path, inputs, custom_ops=[Inner], rtol=1e-5, composites={"Inner": "custom"})
    assert result.report.custom_ops == ("Inner",)
    reasons = {each.name: each.reason for each in result.report.composites}
    assert reasons == {"Inner": None, "Outer": "it holds 'Inner', whose form was chosen to be custom"}
    both: dict[str, CompositeForm] = {"Inner": "custom", "Outer": "custom"}
    assert litefuse.convert(path, composites=both).report.custom_ops == ("Outer",)
    assert litefuse.convert(path).report.custom_ops == ("Outer",)
    kept = check(tensorflow, path, inputs, custom_ops=[Inner], rtol=1e-5, composites={"*": "keep", "Inner": "custom"})
    assert kept.report.custom_ops == ("Inner",)


def test_an_op_in_a_composite_is_computed_as_the_body_has_it(tensorflow: TensorFlow) -> None:
    """A fusion is compared with the body, for which the user's kernel need not be here."""
    path = tensorflow.save(gelu)
    result = litefuse.convert(path, allow_custom_ops=["Erf"], composites={"bias_gelu": "keep"})
    (composite,) = result.report.composites
    assert composite.outcome == "fused"
    assert result.report.custom_ops == ("Erf",)


def gelu(tf: Any) -> Any:
    half = tf.function(lambda x: x * (1.0 + tf.math.erf(x)), experimental_implements="bias_gelu", autograph=False)
    return serving(tf, lambda x: {"y": half(x)}, ("x", [None, 3], "float32"))


def test_the_beginnings_of_a_kernel_for_an_op_that_is_rewritten(tensorflow: TensorFlow) -> None:
    (call,) = read_ops(tensorflow.save(lone, "Erf", "float32"), ["Erf"], lambda _: None)["Erf"]
    assert [(each.dtype, each.shape) for each in (*call.inputs, *call.outputs) if each] == [
        ("float32", (None, 3, 3)),
        ("float32", (None, 3, 3)),
    ]


@pytest.mark.parametrize("names", [["While"], ["Const"]])
def test_what_a_kernel_cannot_compute_is_said(tensorflow: TensorFlow, names: Sequence[str]) -> None:
    report = litefuse.convert(tensorflow.save(model), allow_custom_ops=names).report
    assert report.needless_custom_ops == tuple(names)
    assert f"{names[0]}: requested as custom ops, but the output has no such op" in report.details()
