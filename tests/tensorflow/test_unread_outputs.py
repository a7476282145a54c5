"""Models that use some of an op's outputs: through every way to run one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert import interpreter as litert
from click.testing import CliRunner

from litefuse.kernels import native_library
from litefuse.tools.cli.app import app
from tests.kernels.pack.one_op import FORMS
from tests.tensorflow.checking import check
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import Arrays, TensorFlow

WORDS = np.array([b"to be or", b"", "nöt to be".encode()], object)
IMAGES = np.random.default_rng(0).normal(size=(3, 5, 4, 2)).astype(np.float32)


def pieces(tf: Any) -> Any:
    def serve(s: Any) -> Any:
        return {"y": tf.strings.split(s).flat_values}

    return serving(tf, serve, ("s", [None], "string"))


def places(tf: Any) -> Any:
    def serve(x: Any) -> Any:
        return {"y": tf.nn.max_pool_with_argmax(x, 2, 2, "SAME").argmax}

    return serving(tf, serve, ("x", [None, 5, 4, 2], "float32"))


def maxima(tf: Any) -> Any:
    def serve(x: Any) -> Any:
        return {"y": tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")[0]}

    return serving(tf, serve, ("x", [None, 5, 4, 2], "float32"))


def ngrams(tf: Any) -> Any:
    def serve(s: Any) -> Any:
        return {"y": tf.strings.ngrams(tf.strings.split(s), 2).flat_values}

    return serving(tf, serve, ("s", [None], "string"))


@pytest.mark.parametrize(
    ("builder", "inputs"),
    [
        (pieces, [{"s": WORDS}, {"s": WORDS[:1]}]),
        (places, [{"x": IMAGES}, {"x": IMAGES[:1]}]),
        (maxima, [{"x": IMAGES}, {"x": IMAGES[:1]}]),
        (ngrams, [{"s": WORDS}, {"s": WORDS[:1]}]),
    ],
)
def test_outputs_that_nothing_reads(
    tensorflow: TensorFlow, builder: Any, inputs: list[Arrays], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In litefuse's interpreter, the stock one with the pack as a delegate, and both commands that run models."""
    saved = tensorflow.save(builder)
    model, arrays, outputs = tmp_path / "m.tflite", tmp_path / "in.npz", tmp_path / "out.npz"

    check(tensorflow, saved, inputs, kernel_pack=True).save(model)

    (expected,) = (answer["y"] for answer in tensorflow.run_calls(saved, [("serving_default", inputs[0])]))
    given: dict[str, Any] = {key: value.astype(bytes) if key == "s" else value for key, value in inputs[0].items()}
    np.savez(arrays, **given)
    run = CliRunner().invoke(app, ["run", str(model), "--inputs", str(arrays), "-o", str(outputs)])
    assert run.exit_code == 0, run.output
    with np.load(outputs) as found:
        assert found["y"].astype(expected.dtype).tolist() == expected.tolist()  # these ops copy values
    verified = CliRunner().invoke(app, ["verify", str(model), str(saved)])
    assert verified.exit_code == 0, verified.output

    if "native" in FORMS:
        delegate = litert.load_delegate(str(native_library()))
        stock = litert.Interpreter(model_path=str(model), experimental_delegates=[delegate])
        for _ in range(2):
            answer = stock.get_signature_runner("serving_default")(**inputs[0])["y"]
            assert answer.tolist() == expected.tolist()
