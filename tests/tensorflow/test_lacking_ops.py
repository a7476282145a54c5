# pyright: reportUnknownLambdaType=false
"""Ops that LiteRT lacks and that are not rewritten: refused, custom ops, or left out."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import LitefuseError, UnsupportedOpsError
from litefuse.tools.cli.app import app
from litefuse.tools.scaffold.project import new_project, read_ops
from tests.tensorflow.checking import check, check_calls, custom_options, normal, op_counts
from tests.tensorflow.converted_ops import Case, calls_of, integers, lone, ops, uniform
from tests.tensorflow.saved_models import serving
from tests.tensorflow.test_composites import implements

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow


def test_an_op_without_rewriting_or_kernel_is_refused_with_the_reason(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(lone, "Erf", "float64")
    with pytest.raises(UnsupportedOpsError) as caught:
        litefuse.convert(path, allow_custom_ops="never")
    (op,) = caught.value.ops
    assert (op.op, op.operands) == ("Erf", ("float64[?,3,3]",))
    assert op.reason == "LiteRT's ops for it take float32, not float64"
    assert f"not rewritten: {op.reason}" in str(caught.value)


def test_an_op_of_the_pack_needs_no_permission_but_its_kernel(tensorflow: TensorFlow) -> None:
    inputs = [((2, 7, 8, 2), "float64"), ((None, 4), "float32"), ((None,), "int32"), np.array([3, 4], np.int32)]
    case = Case("CropAndResize", inputs, values={1: uniform(-0.3, 1.3), 2: integers(0, 2)})
    path = tensorflow.save(ops, [(case.op, case.inputs, case.attributes)])
    result = check_calls(tensorflow, path, calls_of([case]), kernel_pack=True)
    assert op_counts(result.model_bytes) == {"CropAndResize": 1}
    report = result.report
    assert report.custom_ops == report.pack_kernels == ("CropAndResize",)
    (lacking,) = report.lacking_ops
    assert (lacking.op, lacking.outcome, lacking.count) == ("CropAndResize", "pack", 1)
    assert "float64" in lacking.reason
    assert "needs kernels  CropAndResize (in litefuse's pack)\n" in report.details()
    with pytest.raises(UnsupportedOpsError, match="CropAndResize"):
        litefuse.convert(path, allow_custom_ops="never")


def test_an_allowed_op_is_a_custom_op_of_the_user(tensorflow: TensorFlow) -> None:
    report = litefuse.convert(tensorflow.save(lone, "Dawsn", "float32"), allow_custom_ops=["Dawsn"]).report
    reason = "it was chosen to be a custom op"
    assert [(each.op, each.outcome, each.reason) for each in report.lacking_ops] == [("Dawsn", "custom", reason)]
    assert (report.custom_ops, report.pack_kernels) == (("Dawsn",), ())


def test_a_misspelt_permission_is_named(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(lone, "Dawsn", "float32")
    with pytest.raises(UnsupportedOpsError, match="LiteRT has no op for Dawsn") as caught:
        litefuse.convert(path, allow_custom_ops=["Dawson", "Erf"])
    assert caught.value.hint == (
        "Allowed, but not among them: Dawson, Erf. Did you mean Dawsn?\n"
        "Allow them as custom ops: --allow-custom-ops Dawsn, in Python allow_custom_ops=['Dawsn'].\n"
        f"The interpreter needs kernels of Dawsn, which litefuse kernels new Dawsn --from {path} begins. Or write the "
        "model without them."
    )


def two_lacking(tf: Any) -> Any:
    def serve(x: Any) -> Any:
        return {"y": tf.math.special.dawsn(x), "z": tf.math.special.spence(x)}

    return serving(tf, serve, ("x", [None, 2], "float32"))


def test_the_permission_names_all_ops_and_those_with_kernels(
    tensorflow: TensorFlow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})

    @litefuse.custom_op("Dawsn")
    class Dawsn(litefuse.CustomOp):  # pyright: ignore[reportUnusedClass]
        def prepare(self, x: litefuse.TensorSpec, **_: Any) -> list[litefuse.TensorSpec]:
            return [x]

        def invoke(self, inputs: Any, outputs: Any, **_: Any) -> None:
            outputs[0][...] = inputs[0]

    with pytest.raises(UnsupportedOpsError) as caught:
        litefuse.convert(tensorflow.save(two_lacking))
    allow, ready, new = caught.value.hint.splitlines()
    assert "--allow-custom-ops Dawsn,Spence, in Python allow_custom_ops=['Dawsn', 'Spence']." in allow
    assert ready == "Kernels of Dawsn are registered already."
    assert new.startswith("The interpreter needs kernels of Spence, which litefuse kernels new Spence ")
    with pytest.raises(UnsupportedOpsError) as caught:
        litefuse.convert(tensorflow.save(two_lacking), allow_custom_ops=["Dawsn"])
    assert "--allow-custom-ops Dawsn,Spence," in caught.value.hint


def allowing(tf: Any) -> Any:
    """One op that LiteRT lacks, others that are rewritten, folded away, or that LiteRT has, and a composite."""
    custom = tf.function(lambda x: tf.sin(x) * 2.0, experimental_implements=implements("MySine"), autograph=False)

    def serve(x: Any) -> Any:
        folded = tf.math.lgamma(tf.constant(3.0))
        return {"y": tf.math.erf(x) + folded, "sine": custom(x), "diagonal": tf.linalg.diag_part(tf.stack([x, x], 2))}

    return serving(tf, serve, ("x", [None, 2], "float32"))


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["NoSuchOp"], "Of the model's ops, LiteRT lacks "),
        (["Erff", "Erf"], "Did you mean Erf? Of the model's ops, LiteRT lacks "),
        (["erf"], "Did you mean Erf? "),
        (["Mysine"], "Did you mean MySine? "),
        (["Ёлка"], "Of the model's ops, LiteRT lacks "),
        ([""], "Of the model's ops, LiteRT lacks "),
    ],
    ids=str,
)
def test_a_permission_that_no_op_needs_since_none_has_the_name(
    tensorflow: TensorFlow, names: list[str], hint: str, tmp_path: Path
) -> None:
    path, output = tensorflow.save(allowing), tmp_path / "model.tflite"
    with pytest.raises(LitefuseError, match=rf"^the model has no op {names[0]!r} that ") as caught:
        litefuse.convert(path, allow_custom_ops=names)
    assert caught.value.hint.startswith(hint)
    assert "Erf" in caught.value.hint
    if all(names):
        arguments = ["convert", str(path), "-o", str(output), f"--allow-custom-ops={','.join(names)}"]
        assert CliRunner().invoke(app, arguments).exit_code == 1
        assert not output.exists()


def test_permissions_that_are_not_needed_are_reported(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(allowing)
    report = litefuse.convert(path, allow_custom_ops=["Erf", "Const", "MySine", "Sin"]).report
    assert report.custom_ops == ("Erf", "MySine")
    assert report.needless_custom_ops == ("Const", "Sin")  # the only Sin is in the composite
    assert "Const, Sin: requested as custom ops, but the output has no such op" in report.details()
    assert not litefuse.convert(path, allow_custom_ops=True).report.needless_custom_ops


def test_the_beginnings_of_a_kernel_for_an_op_that_litert_lacks(tensorflow: TensorFlow, tmp_path: Path) -> None:
    """What ``litefuse kernels new Dawsn --from SAVED_MODEL`` writes has the op's types, and loads."""
    (call,) = read_ops(tensorflow.save(lone, "Dawsn", "float32"), ["Dawsn"], lambda _: None)["Dawsn"]
    assert [(each.dtype, each.shape) for each in (*call.inputs, *call.outputs) if each] == [
        ("float32", (None, 3, 3)),
        ("float32", (None, 3, 3)),
    ]
    assert call.reference is None
    folder = new_project("Dawsn", [call], "model", tmp_path / "dawsn").folder
    model = litefuse.convert(tensorflow.save(lone, "Dawsn", "float32"), allow_custom_ops=True).model_bytes
    kernel = runpy.run_path(str(folder / "dawsn.py"))["Dawsn"]
    runner = litefuse.Interpreter(model_content=model, custom_ops=[kernel]).get_signature_runner()
    (name,) = runner.get_input_details()
    (output,) = runner(**{name: np.ones((3, 3, 3), np.float32)}).values()
    assert np.array_equal(output, np.zeros((3, 3, 3)))


def printing(tf: Any) -> Any:
    """Prints in both ways, between what it computes."""
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        tf.print("x is", x, tf.shape(x), summarize=2)
        with tf.control_dependencies([tf.print("once more")]):
            y = tf.compat.v1.Print(x * 2.0, [x], "and again")
        return {"y": y + 1.0}

    module.serve = serve
    return module, {"serving_default": serve}


def test_nothing_is_printed(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(printing), normal({"x": (None, 3)}))
    assert result.report.op_counts == {"MUL": 1, "ADD": 1}


def parsing(tf: Any) -> Any:
    """``ParseSequenceExampleV2`` has several arguments of any number of tensors."""
    module = tf.Module()
    features = {"x": tf.io.FixedLenFeature([4], tf.float32), "y": tf.io.VarLenFeature(tf.int64)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="s")])
    def serve(s: Any) -> Any:
        parsed, _, _ = tf.io.parse_sequence_example(s, features)
        return {"x": parsed["x"], "y": parsed["y"].values}

    module.serve = serve
    return module, {"serving_default": serve}


def test_ops_with_groups_of_operands_and_results_are_named(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(parsing)
    with pytest.raises(
        UnsupportedOpsError, match=r"LiteRT has no op for ParseSequenceExampleV2:\n.* -> \(.*float32\[\?,4\]\)"
    ):
        litefuse.convert(path)


def beams(tf: Any) -> Any:
    """``CTCBeamSearchDecoder`` has several groups of results."""
    module = tf.Module()
    signature = [tf.TensorSpec([5, None, 4], tf.float32, name="x"), tf.TensorSpec([None], tf.int32, name="n")]

    @tf.function(input_signature=signature, autograph=False)
    def serve(x: Any, n: Any) -> Any:
        decoded, scores = tf.nn.ctc_beam_search_decoder(x, n, beam_width=3, top_paths=2)
        return {"values": decoded[0].values, "scores": scores}

    module.serve = serve
    return module


def test_an_op_with_groups_of_results(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(beams)
    for narrow in (False, True):
        with pytest.raises(UnsupportedOpsError, match="LiteRT has no op for CTCBeamSearchDecoder"):
            litefuse.convert(path, dtypes="narrow" if narrow else "keep")
    result = litefuse.convert(path, allow_custom_ops=["CTCBeamSearchDecoder"])
    (options,) = custom_options(result.model_bytes)["CTCBeamSearchDecoder"]
    assert (options["beam_width"], options["top_paths"]) == (3, 2)
    assert not [name for name in options if "egment" in name]


def calling_python(tf: Any) -> Any:
    module = tf.Module()

    def twice(x: Any) -> Any:
        return x * 2

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": tf.py_function(twice, [x], tf.float32)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_python_functions_are_not_in_the_model(tensorflow: TensorFlow) -> None:
    with pytest.raises(UnsupportedOpsError, match="EagerPyFunc") as raised:
        litefuse.convert(tensorflow.save(calling_python))
    assert "is not saved with the model" in raised.value.hint


def writing_checkpoints(tf: Any) -> Any:
    module = tf.Module()
    module.weight = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([], tf.string, name="path")])
    def save(path: Any) -> Any:
        tf.raw_ops.Save(filename=path, tensor_names=["weight"], data=[module.weight.read_value()])
        return {"path": path}

    module.save = save
    return module, {"save": save}


def test_checkpoints_are_not_written(tensorflow: TensorFlow) -> None:
    with pytest.raises(UnsupportedOpsError, match="Save") as raised:
        litefuse.convert(tensorflow.save(writing_checkpoints))
    assert "https://litefuse.github.io/litefuse/guides/training/" in raised.value.hint
