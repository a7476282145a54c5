"""The folders that kernels begin in build and run as they are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from litefuse.errors import LitefuseError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AttrValue, GraphDef, NodeDef, TensorShapeProto
from litefuse.tools.demo import SAVED_MODEL
from litefuse.tools.scaffold.project import Project, module_name, new_project, read_ops
from tests.litert.runtime.models import DTYPES, Graph, model, unary
from tests.tools.scaffold.models import every_kind_of_option, scaled_sum

needs_compiler = pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which("c++") is None, reason="there is no C++ compiler"
)


def project(tmp_path: Path, content: bytes, op: str) -> Project:
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    return new_project(op, read_ops(path, [op], lambda _: None)[op], path.name, tmp_path / "made")


def run_tests(folder: Path, *more: str) -> tuple[dict[str, int], str]:
    """How many of the folder's tests passed, were skipped and failed; and what was printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *more, str(folder)]
    environment = {**os.environ, "CMAKE_BUILD_TYPE": "Debug"}  # compiles sooner
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    counts = {what: int(count) for count, what in re.findall(r"(\d+) (passed|skipped|failed|error)", done.stdout)}
    return counts, done.stdout + done.stderr


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@needs_compiler
def test_from_zeros_to_what_the_body_computes(tmp_path: Path) -> None:
    folder = project(tmp_path, scaled_sum(), "my.ScaledSum").folder

    counts, printed = run_tests(folder)
    assert counts == {"passed": 2, "skipped": 1}, printed
    assert "not computed yet: the kernel in my_scaled_sum.py gives zeros" in printed

    edit(folder / "my_scaled_sum.py", "outputs[0][...] = 0", "outputs[0][...] = (a + b) * weights")
    counts, printed = run_tests(folder)
    assert counts == {"passed": 2, "skipped": 1}, printed
    assert "not computed yet: the kernel in my_scaled_sum.cc gives zeros" in printed

    body = """
    const float* a = node.input(0).data<float>();
    const float* b = node.input(1).data<float>();
    const float* weights = node.input(2).data<float>();
    float* y = node.output(0).mutable_data<float>();
    for (int64_t i = 0; i < node.output(0).size(); ++i) y[i] = (a[i] + b[i]) * weights[i % 3];
    return true;"""
    edit(folder / "my_scaled_sum.cc", "    return true;\n  }\n\n private", f"{body}\n  }}\n\n private")
    counts, printed = run_tests(folder)
    assert counts == {"passed": 3}, printed

    edit(folder / "my_scaled_sum.py", "(a + b) * weights", "(a + b) * 2 * weights")
    counts, printed = run_tests(folder, "-k", "body")
    assert counts == {"failed": 1}, printed


@needs_compiler
def test_every_kind_of_option(tmp_path: Path) -> None:
    made = project(tmp_path, every_kind_of_option(), "TFEverything")

    assert made.calls == 2  # without bodies: everything is compared
    source = (made.folder / "tf_everything.cc").read_text()
    for declaration in (
        "int64_t option_class{};",
        "bool flag{};",
        "double rate{};",
        "std::string padding{};",
        "std::vector<int64_t> sizes{};",
        "std::vector<float> rates{};",
        "std::vector<std::string> names{};",
        "int64_t with_dash{};",
    ):
        assert f"  {declaration}\n" in source
    assert "mixed{}" not in source
    assert 'options.Get("rate", &options_.rate);  // not all calls have it' in source
    assert "node.has_input(1) && !node.CheckType" in source
    counts, printed = run_tests(made.folder)
    assert counts == {"passed": 4}, printed


def test_the_kernel_in_python_names_options_and_types(tmp_path: Path) -> None:
    folder = project(tmp_path, unary("Scale", {"factor": 2.0, "taps": [1, 2]}, output_shape=(2, 4)), "Scale").folder
    text = (folder / "scale.py").read_text()
    assert "class Scale(litefuse.CustomOp):" in text
    assert "    def prepare(self, x: litefuse.TensorSpec, *, factor: float, taps: list[int]) -> Any:\n" in text
    assert '        y = litefuse.TensorSpec((x.shape[0], 4), "float32")\n' in text
    assert "    Option ``taps``: [1, 2].\n" in text


@needs_compiler
def test_a_shape_that_is_not_known(tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.input("x", (4, 4)), graph.output("y", (1,), signature=(-1,))
    graph.custom("Positions", [x], [y])
    folder = project(tmp_path, model(graph), "Positions").folder
    assert (
        '"still to be written: the size 0 of output 0 (y), which is float32 [?] in the model"'
        in (folder / "positions.py").read_text()
    )
    counts, printed = run_tests(folder)
    assert counts == {"skipped": 2}, printed
    assert "still to be written: the size 0 of output 0 (y)" in printed
    assert "still to be written: the shape of output 0 (y)" in (folder / "positions.cc").read_text()


def test_strings_are_for_python_alone(tmp_path: Path) -> None:
    made = project(tmp_path, unary("Words", dtype="STRING"), "Words")
    assert made.files == ("README.md", "models/0.tflite", "test_words.py", "words.py")
    assert "no kernel in C++" in (made.folder / "README.md").read_text()
    counts, printed = run_tests(made.folder)
    assert counts == {"passed": 1}, printed


@needs_compiler
def test_dtypes(tmp_path: Path) -> None:
    names = [name for name in DTYPES if name != "STRING"]
    graph = Graph()
    inputs = [graph.input(f"x_{name}", (2, 3), name) for name in names]
    outputs = [graph.output(f"y_{name}", (2, 3), name) for name in names]
    graph.custom("Same", inputs, outputs)
    counts, printed = run_tests(project(tmp_path, model(graph), "Same").folder)
    assert counts == {"passed": 2}, printed


def test_a_composite_of_a_saved_model(tmp_path: Path) -> None:
    calls = read_ops(SAVED_MODEL, ["my_custom_fused_op"], lambda _: None)["my_custom_fused_op"]
    folder = new_project("my_custom_fused_op", calls, "demo", tmp_path / "made").folder
    edit(
        folder / "my_custom_fused_op.py",
        "outputs[0][...] = 0",
        "import numpy as np\n        outputs[0][...] = np.maximum(biasadd + biasadd_1, 0) * example_option",
    )
    counts, printed = run_tests(folder, "-k", "body or twice")
    assert counts == {"passed": 2}, printed


def test_a_composite_that_is_fused_otherwise(tmp_path: Path) -> None:
    (call,) = read_ops(SAVED_MODEL, ["embedding_matmul"], lambda _: None)["embedding_matmul"]
    assert len(call.inputs) == 2
    assert call.reference is not None


def test_a_composite_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match="my_custom_fused_op"):  # the names that there are
        read_ops(SAVED_MODEL, ["my_op"], lambda _: None)["my_op"]


def test_an_op_of_a_frozen_graph(tmp_path: Path) -> None:
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=2), TensorShapeProto.Dim(size=-1)])
    given = {"dtype": AttrValue(type=DataType.FLOAT32), "shape": AttrValue(shape=shape)}
    x = NodeDef(name="x", op="Placeholder", attr=given)
    y = NodeDef(name="y", op="Zeta", input=["x", "x"], attr={"T": AttrValue(type=DataType.FLOAT32)})
    path = tmp_path / "graph.pb"
    path.write_bytes(GraphDef(node=[x, y]).SerializeToString())
    (call,) = read_ops(path, ["Zeta"], lambda _: None)["Zeta"]
    assert [each and (each.name, each.shape) for each in call.inputs] == [("x", (2, None)), ("input_1", (2, None))]


def test_types_that_no_kernel_takes(tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match="a type that kernels cannot take"):
        project(tmp_path, unary("Small", dtype="INT4"), "Small")


@pytest.mark.parametrize(
    ("op", "module"),
    [
        ("ExtractImagePatches", "extract_image_patches"),
        ("IRFFT2D", "irfft2_d"),
        ("odml.rms_norm", "odml_rms_norm"),
        ("TFLite_Detection_PostProcess", "tf_lite_detection_post_process"),
        ("3d", "op3d"),
    ],
)
def test_module_names(op: str, module: str) -> None:
    assert module_name(op) == module
