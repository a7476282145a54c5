"""Every command takes a file whose data and options stand behind the flatbuffer, as those of more than 2 GB have them.

What it prints and writes is what it makes of the same model with all of it inside.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.litert.runtime.model_reader import Model
from tests.litert.runtime.models import Graph, model
from tests.litert.targets.models import buffers_behind, serving
from tests.tools.cli.test_cli import run

_RANDOM = np.random.default_rng(53)
KERNEL = """
import litefuse
import numpy as np

@litefuse.custom_op("Scale")
class Scale(litefuse.CustomOp):
    def prepare(self, x, shift, *, factor):
        return x

    def invoke(self, inputs, outputs, *, factor):
        np.multiply(inputs[0] + inputs[1], factor, out=outputs[0])
"""


def dense(graph: Graph, x: int, name: str) -> int:
    weights = graph.tensor(f"{name}/weights", (64, 64), value=_RANDOM.standard_normal((64, 64)) / 8)
    bias = graph.tensor(f"{name}/bias", (64,), value=_RANDOM.standard_normal(64))
    y = graph.tensor(f"{name}/y", (2, 64))
    graph.builtin("FULLY_CONNECTED", [x, weights, bias], [y])
    return y


def plain() -> bytes:
    """Two dense layers."""
    graph = Graph()
    y = dense(graph, dense(graph, graph.input("x", (2, 64)), "first"), "second")
    graph.outputs.append(y)
    return serving(graph)


def with_custom_ops() -> bytes:
    """A dense layer, a composite whose body has constants, and a custom op that has options and a constant."""
    graph, body = Graph(), Graph()
    x = graph.input("x", (2, 64))
    scaled, y = graph.tensor("scaled", (2, 64)), graph.output("y", (2, 64))
    shift = graph.tensor("shift", (64,), value=_RANDOM.standard_normal(64))
    graph.composite("my.Norm", [dense(graph, x, "first")], [scaled], {"axis": 1}, 1)
    graph.custom("Scale", [scaled, shift], [y], {"factor": 3})
    a, result = body.input("a", (2, 64)), body.output("r", (2, 64))
    product, factors = body.tensor("p", (2, 64)), body.tensor("f", (64,), value=_RANDOM.standard_normal(64))
    body.builtin("MUL", [a, factors], [product])
    body.builtin("ADD", [product, a], [result])
    return model(graph, body, signatures={"serving_default": 0})


class Files:
    """The same model twice, in folders of their own.

    Attributes:
        folders: The folders; the file of the second has data and options behind its flatbuffer.
    """

    def __init__(self, folder: Path, content: bytes) -> None:
        self.folders = (folder / "inside", folder / "behind")
        for place, written in zip(self.folders, (content, buffers_behind(content)), strict=True):
            place.mkdir()
            (place / "model.tflite").write_bytes(written)
            (place / "kernel.py").write_text(KERNEL)
            np.savez(place / "x.npz", x=np.random.default_rng(1).standard_normal((2, 64)).astype(np.float32))
            np.savez(place / "samples.npz", x=np.random.default_rng(2).standard_normal((8, 64)).astype(np.float32))

    def run(self, *arguments: str, code: int = 0) -> list[str]:
        """Runs a command in each folder, where ``@`` is; returns what it printed, with that folder as ``@``."""
        printed: list[str] = []
        for folder in self.folders:
            outcome = run(*(argument.replace("@", str(folder)) for argument in arguments))
            assert outcome.code == code, outcome
            printed.append(outcome.out.replace(str(folder), "@"))
        return printed

    def written(self, name: str) -> list[Mapping[str, bytes]]:
        """What is in the files of a folder in each of the two, or in a file, by their names."""
        return [
            {
                path.relative_to(folder).as_posix(): path.read_bytes().replace(str(folder).encode(), b"@")
                for path in sorted([folder / name, *(folder / name).rglob("*")])
                if path.is_file()
            }
            for folder in self.folders
        ]


@pytest.fixture
def custom(tmp_path: Path) -> Files:
    return Files(tmp_path, with_custom_ops())


@pytest.fixture
def floats(tmp_path: Path) -> Files:
    return Files(tmp_path, plain())


def test_the_files_differ_in_nothing_but_where_their_data_are(custom: Files) -> None:
    inside, behind = (folder / "model.tflite" for folder in custom.folders)
    assert [Model(path.read_bytes()).has_buffers_behind for path in (inside, behind)] == [False, True]
    outcome = run("diff", inside, behind)
    assert outcome.code == 0, outcome


def test_inspect(custom: Files) -> None:
    def facts(printed: str) -> dict[str, Any]:
        found = json.loads(printed)
        sizes = found.pop("sizes")
        del found["size"], found["data_behind"], found["read"]
        return {**found, "layers": sizes["layers"]}

    inside, behind = map(facts, custom.run("inspect", "@/model.tflite", "--json"))
    assert inside == behind
    assert inside["custom_operators"][1]["options"] == {"factor": 3}
    custom.run("inspect", "@/model.tflite", "--ops", "--tensors", "--sizes", "--all")


def test_run(custom: Files) -> None:
    custom.run("run", "@/model.tflite", "--inputs", "@/x.npz", "--kernels", "@/kernel.py", "-o", "@/out.npz")
    inside, behind = (np.load(folder / "out.npz")["y"] for folder in custom.folders)
    np.testing.assert_array_equal(inside, behind)
    assert inside.std() > 0


@pytest.mark.parametrize("swapped", [False, True])
def test_verify(custom: Files, swapped: bool) -> None:
    model, original = (str(folder / "model.tflite") for folder in custom.folders[:: -1 if swapped else 1])
    outcome = run("verify", model, original, "--layers", "--kernels", str(custom.folders[0] / "kernel.py"))
    assert outcome.code == 0, outcome


def test_benchmark(custom: Files) -> None:
    limits = ("--repeat", "3", "--seconds", "0.1", "--kernels", "@/kernel.py", "--json")
    for printed in custom.run("benchmark", "@/model.tflite", *limits):
        assert "Scale" in printed


@pytest.mark.parametrize("target", ["cpu", "litert", "gpu"])
def test_check(custom: Files, target: str) -> None:
    inside, behind = (
        run("check", folder / "model.tflite", "--target", target, "--kernels", folder / "kernel.py")
        for folder in custom.folders
    )
    assert inside.code == behind.code, behind


FORMS = ["dynamic", "weights", "float16", "int8", "int16", "auto"]


@pytest.mark.parametrize("form", FORMS)
def test_quantize(floats: Files, form: str) -> None:
    samples = ("--samples", "@/samples.npz") if form in {"int8", "int16", "auto"} else ()
    error = ("--max-error", "0.1") if form == "auto" else ()
    floats.run("quantize", "@/model.tflite", "-o", "@/q.tflite", "--quantize", form, *samples, *error)
    inside, behind = (folder / "q.tflite" for folder in floats.folders)
    assert inside.read_bytes() == behind.read_bytes()
    assert len(inside.read_bytes()) < len((floats.folders[0] / "model.tflite").read_bytes())


@pytest.mark.parametrize("form", FORMS)
def test_quantize_beside_custom_ops(custom: Files, form: str) -> None:
    samples = ("--samples", "@/samples.npz") if form in {"int8", "int16", "auto"} else ()
    arguments = (*samples, "--kernels", "@/kernel.py", *(("--max-error", "0.1") if form == "auto" else ()))
    custom.run("quantize", "@/model.tflite", "-o", "@/q.tflite", "--quantize", form, *arguments)
    inside, behind = (folder / "q.tflite" for folder in custom.folders)
    assert inside.read_bytes() == behind.read_bytes()


@pytest.mark.parametrize("op", ["Scale", "my.Norm"])
def test_a_kernel_is_begun(custom: Files, op: str) -> None:
    custom.run("kernels", "new", op, "--from", "@/model.tflite", "--output", "@/new")
    inside, behind = custom.written("new")
    assert inside == behind
    assert op != "Scale" or b"factor" in b"".join(inside.values())


def test_kernels_are_generated(custom: Files) -> None:
    custom.run("kernels", "generate", "@/model.tflite", "-o", "@/generated", "--always")
    inside, behind = ([*each] for each in custom.written("generated"))
    assert inside == behind


def test_an_application_for_microcontrollers(floats: Files) -> None:
    floats.run("export-micro", "@/model.tflite", "-o", "@/micro")
    inside, behind = floats.written("micro")
    for name in ("micro/samples.cc", "micro/model.cc", "micro/model.h"):
        assert inside[name] == behind[name]


def test_a_page(custom: Files) -> None:
    custom.run("report", "@/model.tflite", "-o", "@/page.html", "--no-time", "--kernels", "@/kernel.py")
    for files in custom.written("page.html"):
        assert b"factor" in files["page.html"]


def test_node_data(custom: Files) -> None:
    custom.run("report", "@/model.tflite", "--explorer", "--no-time", "-o", "@/data")
    inside, behind = custom.written("data")
    assert inside == behind
