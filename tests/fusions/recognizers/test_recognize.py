from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from litefuse.conversion.verify.self_check import self_check
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.fusions.composites.outcome import CheckResult, Outcome
from litefuse.fusions.recognizers.recognize import RecognizeComposites
from litefuse.fusions.recognizers.recognizer import Recognition
from litefuse.ir.call_graph import functions, operations
from litefuse.ir.engine.lowering import run_mlir_passes
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import run_passes

_TEXT = (Path(__file__).parents[2] / "mlir" / "recognize_composites.mlir").read_text().split("// -----")[0]


@contextmanager
def lstm(*changes: tuple[str, str]) -> Generator[ir.Module]:
    """The module of the pass's text test, a loop that is an LSTM layer, with changes."""
    text = _TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    with mlir_context():
        yield ir.Module.parse(text)


def main_ops(module: ir.Module) -> set[str]:
    return {op.name for op in operations(functions(module)["main"])}


_ALL_STEPS: tuple[tuple[str, str], ...] = ()
# Without a list of outputs; y is one of the states.
_STATES_ALONE = (
    ('%y = "tf.TensorListStack"', '%unused = "tf.TensorListStack"'),
    ("(%r#2, %item)", "(%in, %item)"),
    ("return %y, %r#3, %r#4 : tensor<?x?x2xf32>", "return %r#2, %r#2, %r#3 : tensor<?x2xf32>"),
    (
        "-> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {",
        "-> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {",
    ),
    ("%r:7", "%r:6"),
    ("%n, %out, ", "%n, "),
    ("tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?x2xf32>", "tensor<?x2xf32>"),
    ("%out: tensor<!tf_type.variant>, ", ""),
    ("tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>", "tensor<i32>, tensor<?x2xf32>"),
    ("%14, %13", "%13"),
    (
        '"tf.TensorListSetItem"(%out, %t, %13) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, ',
        '"tf.Identity"(%13) : (',
    ),
    ("tensor<?x2xf32>) -> tensor<!tf_type.variant>", "tensor<?x2xf32>) -> tensor<?x2xf32>"),
)


@pytest.mark.parametrize("changes", [_ALL_STEPS, _STATES_ALONE], ids=["outputs of all steps", "states alone"])
def test_recognized_layer_passes_its_check(changes: tuple[tuple[str, str], ...]) -> None:
    outcomes: list[Outcome] = []
    with lstm(*changes) as module:
        run_passes(module, [RecognizeComposites([]), FuseComposites(outcomes, self_check)])
        run_mlir_passes(module, "inline{default-pipeline=}", "symbol-dce")
        assert "tfl.unidirectional_sequence_lstm" in main_ops(module)
    (outcome,) = outcomes
    assert (outcome.name, outcome.kind, outcome.unchecked, outcome.call_sites) == ("lstm_loop", "fused", None, 1)
    assert outcome.error is not None
    assert outcome.error < 1e-5


def failing(*_: Any, **__: Any) -> CheckResult:
    return CheckResult(problem="it differs")


def test_layer_whose_check_fails_is_a_loop_again() -> None:
    outcomes: list[Outcome] = []
    with lstm() as module:
        run_passes(module, [RecognizeComposites([]), FuseComposites(outcomes, failing)])
        run_mlir_passes(module, "inline{default-pipeline=}", "symbol-dce")
        assert "tf.While" in main_ops(module)
        assert not any(name.startswith("tfl.") for name in main_ops(module))
    assert [(outcome.kind, outcome.reason) for outcome in outcomes] == [("inlined", "it differs")]


_REASONS = {
    "as an LSTM: node loc(": [('"tf.Tanh"(%10)', '"tf.Relu"(%10)')],
    "it does not run over all items of its list": [('"tf.Less"(%t, %n)', '"tf.Less"(%n, %t)')],
    "its condition is not only that there are more steps": [('"tf.Less"(%t, %n)', '"tf.LessEqual"(%t, %n)')],
    "it writes neither the output of each step in its place nor only the last one": [
        ('"tf.TensorListSetItem"(%out, %t, %13)', '"tf.TensorListSetItem"(%out, %one, %13)')
    ],
    "it has side effects (PyFunc)": [
        ('%0 = "tf.MatMul"', '%s = "tf.PyFunc"(%x) {token = "f"} : (tensor<?x3xf32>) -> tensor<f32>\n%0 = "tf.MatMul"')
    ],
    "its list of outputs is not as long as its inputs": [
        ('"tf.TensorListReserve"(%item, %n)', '"tf.TensorListReserve"(%item, %zero)')
    ],
    "as a recurrent layer: the rank of its states is not known": [
        ("main(%x: tensor<?x?x3xf32>, %h: tensor<?x2xf32>", "main(%x: tensor<?x?x3xf32>, %h: tensor<*xf32>"),
        ("<tensor<*xf32>>>, tensor<?x2xf32>, tensor<?x2xf32>", "<tensor<*xf32>>>, tensor<*xf32>, tensor<?x2xf32>"),
    ],
    "as a recurrent layer: its output is not one of its states": [
        ('"tf.TensorListSetItem"(%out, %t, %13)', '"tf.TensorListSetItem"(%out, %t, %12)')
    ],
}


@pytest.mark.parametrize("reason", list(_REASONS))
def test_reason(reason: str) -> None:
    found: list[Recognition] = []
    with lstm(*_REASONS[reason]) as module:
        run_passes(module, [RecognizeComposites(found)])
        assert "tf.While" in main_ops(module)
    (recognition,) = found
    assert recognition.name is None
    assert recognition.reason is not None
    assert reason in recognition.reason
