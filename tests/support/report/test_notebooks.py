"""What notebooks show of results: the facts of the text, and names as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

import litefuse
from litefuse.conversion.verify.layers.layers import Layer, Layers
from litefuse.conversion.verify.targets.target_check import RefusedOps, TargetCheck, TargetReport
from litefuse.conversion.verify.verification import OutputVerdict, Verification
from litefuse.fusions.builder import Builder
from litefuse.fusions.composite import Composite
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.fusions.fusion import Fusion
from litefuse.ir.mlir import ir, mlir_context
from litefuse.kernels.generator.op_calls import Call
from litefuse.litert.differences.model_diff import ComparedFile, ModelDiff, OperatorChange, ValueChange
from litefuse.litert.inspection.facts import SignatureFacts, TensorFacts
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.inspection.litert_model_facts import LiteRTModelFacts
from litefuse.litert.inspection.saved_model_facts import SavedModelFacts
from litefuse.support.report import CompositeReport, OutputDifference, QuantizationReport, Report
from litefuse.tools.benchmarking.measurement import Benchmark, Input, Latency, Measurement, Memory, OpTime
from litefuse.tools.kernel_check.check import CheckedCall
from tests.litert.runtime.models import Graph, model
from tests.support.report.parsed_html import Parsed, parsed

HOSTILE = "</table><script>alert(1)</script><b onclick='x'>\x1b[31m\u202e\udc80"
SHOWN = HOSTILE.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e").replace("\udc80", r"\udc80")


HTML = "_repr_html_"  # the method by which notebooks ask for it


def shown(value: object) -> Parsed:
    """What a notebook shows of an object: text, and nothing that a name could add to it."""
    text = getattr(value, HTML)()
    text.encode()
    found = parsed(text)
    kinds = {"div", "style", "section", "h3", "table", "thead", "tbody", "tr", "td", "th", "p", "span"}
    assert {*found.tags} <= kinds
    assert found.attributes <= {"class", "scope", "colspan", "role", "aria-label", "title"}
    assert found.tags.count("div") == 1
    return found


OUTPUT = OutputVerdict(HOSTILE, HOSTILE, HOSTILE, (1, 2), 0.5, 1, HOSTILE, "differs")
LAYER = Layer(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, (3,), 0.5, 0.5, differs=True, through=(HOSTILE,))
LAYERS = Layers(HOSTILE, 1, (LAYER,), (HOSTILE,))
TENSOR = TensorFacts(HOSTILE, HOSTILE, (1, None))
SIGNATURE = SignatureFacts(HOSTILE, (TENSOR,), (TENSOR,))
VERIFICATION = Verification(HOSTILE, HOSTILE, 1e-4, 2, (OUTPUT,), layers=LAYERS)
MEASURED = Measurement(
    HOSTILE,
    HOSTILE,
    (Input(HOSTILE, HOSTILE, (1,)),),
    drawn=False,
    threads=1,
    xnnpack=True,
    load=0.1,
    cold=0.1,
    warm=Latency.of([0.1]),
    memory=Memory(5),
    profiled=0.1,
    notes=(HOSTILE,),
    ops=(OpTime(0, 0, HOSTILE, HOSTILE, HOSTILE, 0.1, 1.0, HOSTILE),),
)
QUANTIZED = QuantizationReport("int8", 0, 0.5, HOSTILE, HOSTILE, (OutputDifference(HOSTILE, HOSTILE, 1.0, 1.0),) * 2)
REPORT = Report(HOSTILE, (HOSTILE,), op_counts={HOSTILE: 1}, custom_ops=(HOSTILE,), size=5)
FILE = ComparedFile(HOSTILE, 5, "0" * 64)
CHANGED = OperatorChange("added", HOSTILE, HOSTILE, HOSTILE, None, (0, 0), (ValueChange(HOSTILE, HOSTILE, HOSTILE),))
REFUSED = RefusedOps(HOSTILE, HOSTILE, 2, (HOSTILE,), hint=HOSTILE)


@pytest.mark.parametrize(
    "value",
    [
        REPORT,
        Benchmark((MEASURED,), cpu=HOSTILE, versions={HOSTILE: HOSTILE}),
        CompositeReport(HOSTILE, HOSTILE, 1, "inlined", reason=HOSTILE),
        QUANTIZED,
        VERIFICATION,
        LAYERS,
        TargetCheck(HOSTILE, (TargetReport("gpu", "refused", refused=(REFUSED,)),), ((HOSTILE, HOSTILE),)),
        CheckedCall(HOSTILE, Call((), (), {}, b""), HOSTILE, VERIFICATION),
        ModelDiff(FILE, FILE, operators=(CHANGED,)),
        SavedModelFacts(HOSTILE, (HOSTILE,), HOSTILE, (SIGNATURE,), {HOSTILE: HOSTILE}, 1, 1, (), (), {HOSTILE: 1}),
        LiteRTModelFacts(HOSTILE, 5, HOSTILE, (SIGNATURE,), (), {HOSTILE: 1}, metadata=(HOSTILE,)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_hostile_names_are_shown_as_text(value: object) -> None:
    found = shown(value)
    texts = [*found.texts["h3"], *found.texts.get("p", ()), *(cell for row in found.rows for cell in row)]
    assert any(SHOWN in each for each in texts)


@pytest.mark.parametrize(
    "value",
    [
        Report(""),
        QuantizationReport("auto", 0, None, ""),
        Verification("", "", 0.0, 0, ()),
        Layers("", 0),
        Layers("", 0, problem="why"),
        TargetCheck("", ()),
        ModelDiff(ComparedFile("", 0, ""), ComparedFile("", 0, "")),
        CheckedCall("", Call((), (), {}, b""), ""),
        SavedModelFacts("", (), "", (), {}, 0, 0, (), (), {}),
        LiteRTModelFacts("", 0, "", (), (), {}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_nothing_to_show(value: object) -> None:
    shown(value)


def test_a_verification() -> None:
    equal = replace(OUTPUT, name="y", signature="s", dtype="float32", problem="", verdict="equal", error=1e-7)
    differs = replace(equal, name="z", verdict="differs", error=0.25)
    found = shown(Verification("m.tflite", "saved", 1e-4, 3, (equal, differs)))
    assert found.rows[-2:] == [
        ["s", "y", "float32", "[1, 2]", "1e-07", "1", "", "✓equal"],
        ["s", "z", "float32", "[1, 2]", "0.25", "1", "", "✗differs"],
    ]
    assert found.row_classes[-2:] == ["good", "bad"]


def test_layers_without_their_tolerance() -> None:
    layer = replace(LAYER, tensor="t", original="n", output="", op="ADD", differs=False, error=0.0, added=0.0)
    found = shown(Layers("s", 2, (layer,)))
    assert ["first that differs", "none"] in found.rows
    assert ["compared", "1 of 1 tensors"] in found.rows


def test_a_quantization_without_the_size_after_it() -> None:
    assert shown(QuantizationReport("int8", 4000, 0.01, "samples")).rows[0] == ["size", "4,000 bytes before"]


def test_a_conversion_and_its_file(demo_model: Path, tmp_path: Path) -> None:
    result = litefuse.convert(litefuse.tools.demo.SAVED_MODEL)
    assert shown(result).rows[0] == ["file", f"{result.path}, until save() keeps it elsewhere"]
    result.save(tmp_path / "kept.tflite", copy=False)
    found = shown(result)
    assert found.rows[0] == ["file", str(tmp_path / "kept.tflite")]
    assert "embedding_matmul is EMBEDDING_LOOKUP" in next(row[1] for row in found.rows if row[0] == "fused")
    assert found.rows[1:] == shown(result.report).rows
    (tmp_path / "kept.tflite").unlink()
    assert shown(result).rows[0] == ["file", f"{tmp_path / 'kept.tflite'}, which is no longer there"]


def test_models_that_are_loaded(demo_model: Path) -> None:
    interpreter = litefuse.Interpreter(demo_model)
    found = shown(interpreter)
    assert found.texts["h3"] == [str(demo_model), "Signature embed", "Signature serving_default"]
    assert found.rows == [
        row
        for signature in inspect_litert_model(demo_model).signatures
        for role, part in (("in", signature.inputs), ("out", signature.outputs))
        for each in part
        for row in [[role, each.name, f"{each.dtype} [{', '.join(str(size or '?') for size in each.shape or ())}]"]]
    ]
    assert len(found.rows) > 3


def test_a_compiled_model_and_one_that_is_closed() -> None:
    graph = Graph()
    x, y = graph.input("x", (1, 2), signature=(-1, 2)), graph.output("y", (1, 2), signature=(-1, 2))
    graph.builtin("ABS", [x], [y])
    content = model(graph, signatures={"s": 0})
    compiled = litefuse.CompiledModel(content)
    assert shown(compiled).rows == [["in", "x", "float32 [?, 2]"], ["out", "y", "float32 [?, 2]"]]
    compiled.close()
    assert shown(compiled).texts["p"] == ["It is closed."]


def test_strings_and_handles() -> None:
    graph = Graph()
    text, handle = graph.input("text", (2,), "STRING"), graph.input("handle", (), "RESOURCE")
    graph.custom("Foo", [text, handle], [graph.output("y", (2,))])
    rows = shown(litefuse.Interpreter(model(graph, signatures={"s": 0}))).rows
    assert rows == [
        ["in", "handle", "no numbers or strings"],
        ["in", "text", "string [2]"],
        ["out", "y", "float32 [2]"],
    ]


def test_an_interpreter_of_a_model_without_signatures() -> None:
    graph = Graph()
    x, y = graph.input(HOSTILE[:-1], (2,)), graph.output("y", (2,))
    graph.builtin("ABS", [x], [y])
    found = shown(litefuse.Interpreter(model(graph)))
    assert found.texts["h3"] == ["model content", "Inputs and outputs"]
    assert [row[::2] for row in found.rows] == [["in", "float32 [2]"], ["out", "float32 [2]"]]


BODY = """
func.func private @composite(%x: tensor<?x3xf32>) -> tensor<?x3xf32> attributes {tf._implements = "scaled"} {
  %0 = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %1 = "tf.Mul"(%x, %0) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  %2 = "tf.Relu"(%1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %3 = "tf.Mul"(%2, %2) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %3 : tensor<?x3xf32>
}
"""


class Kept(Fusion):
    seen: ClassVar[list[Composite]] = []

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        self.seen.append(composite)
        return b.op("tfl.relu", composite.args, composite.result_types)


def test_a_composite_when_its_conversion_is_over() -> None:
    def kept(_: object) -> Fusion:
        return Kept()

    with mlir_context():
        FuseComposites([], None, kept).run(ir.Module.parse(BODY))
    (composite,) = Kept.seen
    assert composite.body_ops == ["tf.Mul", "tf.Relu", "tf.Mul"]
    assert repr(composite) == "<Composite scaled(float32[?,3]) -> (float32[?,3]), function composite>"
    assert isinstance(composite.attributes, dict)
    composite.attributes.clear()
    composite.attributes.update({HOSTILE: HOSTILE, "many": [*range(500)]})
    found = shown(composite)
    assert found.rows[:4] == [
        ["function", "", "composite"],
        ["argument", "0", "float32[?,3]"],
        ["result", "0", "float32[?,3]"],
        ["attribute", SHOWN, repr(HOSTILE)],
    ]
    assert found.rows[4][2].endswith("…")
    assert found.rows[5:] == [["2", "tf.Mul"], ["1", "tf.Relu"]]
