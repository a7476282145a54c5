# pyright: reportUnknownLambdaType=false
"""What a composite becomes is the user's choice: its fused op, a custom op, a composite with its body, or its body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import LitefuseError, NotFusedError
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.support.options.forms import CompositeForm
from tests.tensorflow.checking import check, normal, op_counts, run_calls
from tests.tensorflow.test_composites import EXAMPLE, MyCustomFusedOp, implements

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow

GELU = 'name: "scaled_gelu" attr { key: "scale" value { f: 1.5 } } attr { key: "axes" value { list { i: 1 i: 2 } } }'
SHAPES = {"a": (None, 3), "b": (None, 3)}


def model(tf: Any) -> Any:
    """Four composites: a custom op, one without a fusion that calls the first, an embedding lookup, and a loop."""

    @tf.function(experimental_implements=EXAMPLE)
    def my_custom_fused_op(a: Any, b: Any) -> Any:
        return tf.nn.relu(a - b) + b * 10.0

    @tf.function(experimental_implements=GELU, autograph=False)
    def scaled_gelu(x: Any, y: Any) -> Any:
        # Erf is no LiteRT op: it is rewritten, in here too.
        return 1.5 * x * 0.5 * (1.0 + tf.math.erf(x / np.sqrt(2.0))), my_custom_fused_op(y, x)

    @tf.function(experimental_implements="embedding_matmul")
    def lookup(table: Any, ids: Any) -> Any:
        return tf.gather(table, ids)

    @tf.function(experimental_implements=implements("PowerSum", "tfl_fusable_op: b: false"), autograph=False)
    def power_sum(x: Any) -> Any:
        zero = tf.constant(0)
        _, total = tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, t * 0.5 + x), [zero, tf.zeros_like(x)])
        return total

    module = tf.Module()
    module.table = tf.Variable(np.random.default_rng(1).normal(0, 1, (5, 3)).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name=name) for name, shape in SHAPES.items()])
    def serve(a: Any, b: Any) -> Any:
        first, second = scaled_gelu(a, b)
        third, _ = scaled_gelu(second, b)
        ids = tf.cast(tf.reduce_sum(tf.abs(a), 1), tf.int32) % 5
        return {
            "first": first,
            "third": third,
            "rows": lookup(module.table, ids),
            "sum": power_sum(my_custom_fused_op(a, b)),
        }

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.fixture(scope="module")
def saved_model(tensorflow: TensorFlow) -> Path:
    return tensorflow.save(model)


def calls() -> list[dict[str, np.ndarray[Any, Any]]]:
    return normal(SHAPES, batches=(1, 3, 3))


class ScaledGelu(CustomOp):
    """Zeros, which show that it was run."""

    op_name = "scaled_gelu"

    def prepare(self, x: TensorSpec, y: TensorSpec, *, scale: float, axes: list[int]) -> list[TensorSpec]:
        assert scale == 1.5
        assert axes == [1, 2]
        return [TensorSpec(x.shape, x.dtype), TensorSpec(y.shape, y.dtype)]

    def invoke(self, inputs: Any, outputs: Any) -> None:
        del inputs
        outputs[0][...] = 0
        outputs[1][...] = 0


def test_keep(tensorflow: TensorFlow, saved_model: Path, tmp_path: Path) -> None:
    result = check(tensorflow, saved_model, calls(), composites="keep", require_fused=True)
    assert {(each.name, each.fused_into) for each in result.report.composites} == {
        (name, f"STABLEHLO_COMPOSITE {name}")
        for name in ("my_custom_fused_op", "scaled_gelu", "embedding_matmul", "PowerSum")
    }
    assert result.report.custom_ops == ()
    counts = op_counts(result.model_bytes)
    # One in the body of scaled_gelu, which is there once, and one in the signature.
    assert counts["STABLEHLO_COMPOSITE"] == 2 + 2 + 1 + 1
    operators = {
        each.name: each for each in inspect_litert_model(result.save(tmp_path / "model.tflite")).custom_operators
    }
    assert operators["scaled_gelu"].options == {"scale": 1.5, "axes": [1, 2]}
    assert operators["my_custom_fused_op"].options == {"example_option": 10}
    first = calls()[0]
    (outputs,) = run_calls(result.model_bytes, [("serving_default", first)], custom_ops=[ScaledGelu])
    assert np.array_equal(outputs["first"], np.zeros((1, 3)))  # a kernel of the name computes it


def test_each_by_its_name(tensorflow: TensorFlow, saved_model: Path) -> None:
    forms: dict[str, CompositeForm] = {
        "embedding_*": "builtin",
        "my_custom_fused_op": "builtin",
        "PowerSum": "inline",
        "scaled_gelu": "keep",
    }
    result = check(tensorflow, saved_model, calls(), composites=forms)
    outcomes = {each.name: (each.fused_into, each.reason) for each in result.report.composites}
    assert outcomes == {
        "embedding_matmul": ("EMBEDDING_LOOKUP", None),
        "my_custom_fused_op": (None, "its form was chosen to be builtin, and its fusion gives my_custom_fused_op"),
        "PowerSum": (None, "its form was chosen to be inline"),
        "scaled_gelu": ("STABLEHLO_COMPOSITE scaled_gelu", None),
    }
    with pytest.raises(NotFusedError, match="chosen to be inline"):
        litefuse.convert(saved_model, composites=forms, require_fused=["PowerSum"])


def nameless(tf: Any, name: str) -> Any:
    annotated = tf.function(lambda x: x * 2.0 + 1.0, experimental_implements=name)
    return tf.Module(), {
        "serving_default": tf.function(annotated, input_signature=[tf.TensorSpec([None, 3], name="x")])
    }


@pytest.mark.parametrize("name", [" ", "\n", "a\x00b"], ids=repr)
@pytest.mark.parametrize("form", ["custom", "keep"])
def test_names_that_no_op_can_have(tensorflow: TensorFlow, name: str, form: CompositeForm) -> None:
    path = tensorflow.save(nameless, name)
    result = check(tensorflow, path, normal({"x": (None, 3)}), composites=form)
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert composite.reason == f"its name {name.strip()!r} is not a valid op name: annotate it with another one"
    with pytest.raises(NotFusedError, match="is not a valid op name"):
        litefuse.convert(path, composites=form, require_fused=True)


def test_custom(tensorflow: TensorFlow, saved_model: Path) -> None:
    class Lookup(CustomOp):
        op_name = "embedding_matmul"

        def prepare(self, table: TensorSpec, ids: TensorSpec) -> TensorSpec:
            assert table.shape is not None
            assert ids.shape is not None
            return TensorSpec((*ids.shape, *table.shape[1:]), table.dtype)

        def invoke(self, inputs: Any, outputs: Any) -> None:
            table, ids = inputs
            outputs[0][...] = table[ids]

    forms: dict[str, CompositeForm] = {"embedding_matmul": "custom"}
    result = check(tensorflow, saved_model, calls(), composites=forms, custom_ops=[Lookup, MyCustomFusedOp])
    assert set(result.report.custom_ops) == {"embedding_matmul", "my_custom_fused_op"}
    assert op_counts(result.model_bytes)["EMBEDDING_LOOKUP"] == 0


def einsum(tf: Any) -> Any:
    @tf.function(experimental_implements='name: "tf.einsum" attr { key: "equation" value { s: "bij,jk->bik" } }')
    def product(x: Any, y: Any) -> Any:
        return tf.einsum("bij,jk->bik", x, y)

    @tf.function(experimental_implements='name: "tf.einsum" attr { key: "equation" value { s: "ij,jk" } }')
    def other(x: Any, y: Any) -> Any:
        return tf.einsum("bij,jk->bik", x, y)

    module = tf.Module()
    weights = np.random.default_rng(2).normal(0, 1, (4, 2)).astype(np.float32)
    spec = tf.TensorSpec([None, 3, 4], tf.float32, name="x")
    module.serve = tf.function(lambda x: {"y": product(x, weights), "z": other(x, weights)}, input_signature=[spec])
    return module, {"serving_default": module.serve}


def test_einsum(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(einsum)
    result = check(tensorflow, path, normal({"x": (None, 3, 4)}, batches=(1, 3, 3)))
    assert {(each.fused_into, each.reason) for each in result.report.composites} == {
        ("STABLEHLO_COMPOSITE tf.einsum", None),
        (None, "the equation 'ij,jk' has 'ij' for an operand that is float32[?,3,4]"),
    }
    (operator,) = inspect_litert_model(result.save(tmp_path / "model.tflite")).custom_operators
    assert operator.options == {"equation": "bij,jk->bik"}


def test_unknown_names_and_forms(saved_model: Path) -> None:
    with pytest.raises(LitefuseError, match=r"annotated as 'gelu', whose form was chosen(.|\n)*'scaled_gelu'"):
        litefuse.convert(saved_model, composites={"gelu": "keep"})
    with pytest.raises(LitefuseError, match=r"(?s)unknown form 'kept' of composites.*fuse, .*, keep, generate, inline"):
        litefuse.convert(saved_model, composites="kept")  # pyright: ignore[reportArgumentType]


class Wrong(CustomOp):
    """Computes something else than the body of ``my_custom_fused_op``."""

    op_name = "my_custom_fused_op"

    def prepare(self, a: TensorSpec, b: TensorSpec) -> TensorSpec:
        del b
        return TensorSpec(a.shape, a.dtype)

    def invoke(self, inputs: Any, outputs: Any, *, example_option: int) -> None:
        outputs[0][...] = np.maximum(inputs[0] - inputs[1], 0) + inputs[1] * (example_option + 1)


def test_custom_ops_are_checked(tensorflow: TensorFlow, saved_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the kernels that are registered here, which the process that converts does not know of itself."""
    forms: dict[str, CompositeForm] = {"scaled_gelu": "inline"}

    def outcome(**options: Any) -> Any:
        report = litefuse.convert(saved_model, composites=forms, **options).report
        return next(each for each in report.composites if each.name == "my_custom_fused_op")

    registered: dict[str, type[CustomOp]] = {"my_custom_fused_op": MyCustomFusedOp}
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", registered)
    checked = outcome()
    assert checked.outcome == "fused"
    assert checked.error < 1e-6
    registered["my_custom_fused_op"] = Wrong
    assert outcome(checks=litefuse.Checks(fusions=False)).unchecked == "the check of fusions is off"
    refused = outcome()
    assert refused.outcome == "inlined"
    assert "it computes something else" in refused.reason
    registered.clear()
    assert outcome().unchecked == "no kernel for it here"
    check(tensorflow, saved_model, calls(), composites=forms, custom_ops=[MyCustomFusedOp])


def in_control_flow(tf: Any, kind: str) -> Any:
    """A composite that only a loop, a branch or a loop in a branch calls."""

    @tf.function(experimental_implements='name: "acme.act" attr { key: "k" value { f: 2.5 } }')
    def act(x: Any) -> Any:
        return tf.nn.relu(x) * 2.5 - x

    def repeated(x: Any) -> Any:
        def goes_on(count: Any, _: Any) -> Any:
            return count < 3

        def step(count: Any, y: Any) -> Any:
            return count + 1, act(y) * 0.5

        return tf.while_loop(goes_on, step, (0, x))[1]

    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        if kind == "loop":
            return {"y": repeated(x)}
        taken = act if kind == "branch" else repeated
        return {"y": tf.cond(tf.reduce_sum(x) > 0.0, lambda: taken(x), lambda: -x)}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("kind", ["loop", "branch", "both"])
def test_keep_in_control_flow(tensorflow: TensorFlow, kind: str) -> None:
    path = tensorflow.save(in_control_flow, kind)
    result = check(tensorflow, path, normal({"x": (None, 4)}, batches=(1, 3, 2, 1)), composites="keep")
    assert result.report.op_counts["STABLEHLO_COMPOSITE"] == 1


def unusual_interfaces(tf: Any) -> Any:
    """Composites that return a value twice, or their argument, that take none, or have an attribute without a form."""

    @tf.function(experimental_implements='name: "twice"')
    def twice(x: Any) -> Any:
        y = tf.sin(x)
        return y, y, x, x, y > 0, y > 0

    @tf.function(experimental_implements='name: "ramp"')
    def ramp() -> Any:
        return tf.constant([1.0, 2.0, 3.0, 4.0])

    @tf.function(experimental_implements=implements("typed", "T: type: DT_FLOAT"))
    def typed(x: Any) -> Any:
        return x + x

    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {f"y{number}": y for number, y in enumerate([*twice(x), x * ramp(), typed(x)])}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("form", ["keep", "builtin"])
def test_unusual_interfaces(tensorflow: TensorFlow, form: CompositeForm) -> None:
    inputs = normal({"x": (None, 4)}, batches=(1, 3, 2, 1))
    result = check(tensorflow, tensorflow.save(unusual_interfaces), inputs, composites=form)
    reasons = {each.name: each.reason for each in result.report.composites}
    if form == "keep":
        assert reasons["twice"] is None
        assert reasons["ramp"] == "it has no arguments, and STABLEHLO_COMPOSITE must have some"
        assert "the attribute 'T' (f32) is not an int" in str(reasons["typed"])
    else:
        assert reasons["typed"] == "its form was chosen to be builtin, and its fusion gives typed"
