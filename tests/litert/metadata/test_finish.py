"""Metadata, associated files and other names in files, which still compute the same."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from click.testing import CliRunner

import litefuse
from litefuse.conversion.generating import with_kernels
from litefuse.conversion.job import ConversionJob
from litefuse.errors import MetadataError
from litefuse.litert.export.edited_file import drop_names, edit_file
from litefuse.litert.inspection.litert_model import facts_of, inspect_litert_model
from litefuse.litert.inspection.litert_model_facts import litert_model_sections
from litefuse.litert.metadata.associated_files import pack_of
from litefuse.litert.metadata.description import Description, Finish
from litefuse.litert.metadata.finish import finish_file, model_metadata
from litefuse.litert.metadata.names import original_names, renaming, signature_names
from litefuse.support.options.conversion import Conversion
from litefuse.support.report import ChainReport, KernelReport, Report
from litefuse.support.report.text import sections_text
from litefuse.tools.cli.app import app
from litefuse.tools.demo import SAVED_MODEL
from tests.every import every
from tests.litert.differences.edited import edited
from tests.litert.runtime.models import Graph, model

PAIR = np.array([3, 4], np.float32)

METADATA: dict[str, Any] = {
    "name": "Doubler",
    "subgraph_metadata": [
        {
            "input_tensor_metadata": [{"name": "x", "description": "what is doubled"}],
            "output_tensor_metadata": [
                {"name": "y", "associated_files": [{"name": "labels.txt", "type": "TENSOR_AXIS_LABELS"}]}
            ],
        }
    ],
}


def doubler() -> bytes:
    graph = Graph()
    x, y = graph.input("x", (2,)), graph.output("y", (2,))
    graph.builtin("MUL", [x, graph.tensor("two", (2,), value=[2, 2])], [y])
    return model(graph, signatures={"serve": 0})


def behind(content: bytes) -> bytes:
    """The content with the buffers' data behind the flatbuffer, and the options of a custom op."""
    data: list[bytes] = []

    def take(loaded: Any) -> None:
        for each in loaded.buffers:
            if each.data is not None:
                data.append(bytes(each.data))
                each.data, each.size, each.offset = None, len(data[-1]), 1

    size = -(-len(edited(content, take)) // 16) * 16
    stored = [*data]
    data.clear()

    def place(loaded: Any) -> None:
        start = size
        take(loaded)
        for each in loaded.buffers:
            if each.size:
                each.offset = start
                start += -(-each.size // 16) * 16

    padded = [each.ljust(-(-len(each) // 16) * 16, b"\0") for each in stored]
    return edited(content, place).ljust(size, b"\0") + b"".join(padded)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "labels.txt").write_text("cat\ndog\n")
    (tmp_path / "m.json").write_text(json.dumps(METADATA))
    (tmp_path / "m.tflite").write_bytes(doubler())
    return tmp_path


def run(path: Path, signature: str, **inputs: Any) -> dict[str, Any]:
    return litefuse.Interpreter(path).get_signature_runner(signature)(**inputs)


@pytest.mark.parametrize("signatures", [{"serve": 0}, {}], ids=["signature", "none"])
def test_described_outputs_have_their_names(signatures: dict[str, int], tmp_path: Path) -> None:
    """Where the description has none: that of the signature, of the tensor, or its index."""
    graph = Graph()
    x, y, z = graph.input("x", (2,)), graph.output("y", (2,)), graph.output("z", (2,))
    graph.builtin("ADD", [x, x], [y])
    graph.builtin("MUL", [x, y], [z])
    path = tmp_path / "m.tflite"
    path.write_bytes(model(graph, signatures=signatures))
    edit_file(path, drop_names)
    described = [{"description": "sum"}, {"description": "product"}, {"description": "beyond"}]
    facts = replace(
        inspect_litert_model(path), model_metadata={"subgraph_metadata": [{"output_tensor_metadata": described}]}
    )
    text = sections_text(litert_model_sections(facts))
    rows = [line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith("  output ")]
    assert rows == [*(("y", "z") if signatures else ("tensor 1", "tensor 2")), "(no name)"]
    assert signatures or "  in   tensor 0  float32 [2]" in text


@pytest.mark.parametrize("is_behind", [False, True])
def test_a_file_with_everything(folder: Path, is_behind: bool) -> None:
    path = folder / "m.tflite"
    before = behind(doubler()) if is_behind else doubler()
    path.write_bytes(before)
    record = finish_file(path, Finish.of(folder / "m.json", {"x": "größe", "serve:y": "doubled"}))
    assert record == {"serve": {"inputs": {"größe": "x"}, "outputs": {"doubled": "y"}}}
    assert run(path, "serve", größe=PAIR)["doubled"].tolist() == [6, 8]
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        (entry,) = archive.infolist()
        assert (entry.filename, entry.compress_type, archive.read(entry)) == ("labels.txt", 0, b"cat\ndog\n")
        assert path.read_bytes()[entry.header_offset + 40 :].startswith(b"cat\ndog\n")
    facts = inspect_litert_model(path)
    assert facts.model_metadata == {**METADATA, "min_parser_version": "1.0.0"}
    assert [(each.name, each.size) for each in facts.associated_files] == [("labels.txt", 8)]
    assert facts.labels == {"labels.txt": ("cat", "dog")}
    assert "2 labels: cat, dog" in sections_text(litert_model_sections(facts))
    damaged = path.read_bytes().replace(b"cat\ndog\n", b"cat\ndo!\n")
    assert facts_of(damaged).labels == {"labels.txt": ()}
    assert [each.name for each in facts.signatures[0].inputs] == ["größe"]
    assert {each.name for each in facts.tensors} == {"größe", "doubled", "two"}
    assert facts.sizes is not None
    assert facts.sizes.total == facts.size
    assert (
        facts.sizes.files == facts.size - len(before) - (facts.sizes.structure - len(before) + 8) - facts.sizes.metadata
    )
    assert original_names(path.read_bytes()) == record
    difference = litefuse.diff(before, path)
    assert difference.categories == ("signatures", "names", "metadata")
    assert {each.what for each in difference.metadata} == {
        "TFLITE_METADATA",
        "LITEFUSE_ORIGINAL_NAMES",
        "file labels.txt",
    }


def test_the_same_file_for_the_same_metadata(folder: Path) -> None:
    contents: set[bytes] = set()
    for number in range(2):
        path = folder / f"{number}.tflite"
        path.write_bytes(doubler())
        finish_file(path, Finish.of(folder / "m.json", {"x": "z"}))
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_metadata_replaces_metadata_and_names_are_traced_back(folder: Path) -> None:
    path = folder / "m.tflite"
    finish_file(path, Finish.of(folder / "m.json", {"x": "a"}))
    once = path.stat().st_size
    (folder / "other.txt").write_text("x")
    finish_file(path, Finish.of({"associated_files": []}, {"a": "b", "y": "x"}))
    assert model_metadata(path.read_bytes()) == {"associated_files": [], "min_parser_version": "1.0.0"}
    assert pack_of(path.read_bytes()) is None
    assert original_names(path.read_bytes()) == {"serve": {"inputs": {"b": "x"}, "outputs": {"x": "y"}}}
    finish_file(path, Finish.of(None, {"b": "x"}))  # a name as it was
    assert original_names(path.read_bytes()) == {"serve": {"outputs": {"x": "y"}}}
    assert path.stat().st_size < 2 * once
    assert run(path, "serve", x=PAIR)["x"].tolist() == [6, 8]
    names = [each.name for each in inspect_litert_model(path).tensors]
    assert names.count("x") == 1  # not two tensors of one name in the subgraph


def test_renaming_keeps_files(folder: Path) -> None:
    path = folder / "m.tflite"
    finish_file(path, Finish.of(folder / "m.json", {}))
    finish_file(path, Finish.of(None, {"x": "z"}))
    assert zipfile.ZipFile(path).read("labels.txt") == b"cat\ndog\n"
    other = folder / "other.tflite"
    other.write_bytes(doubler())
    finish_file(other, Finish(), files_of=path)
    assert zipfile.ZipFile(other).read("labels.txt") == b"cat\ndog\n"
    assert run(other, "serve", x=PAIR)["y"].tolist() == [6, 8]


def test_archives_that_would_grow_are_not_copied(folder: Path) -> None:
    path = folder / "m.tflite"
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("large.txt", bytes(1 << 26))
    before = path.read_bytes()
    with pytest.raises(MetadataError, match="would become 67,108,864"):
        finish_file(path, Finish.of(None, {"x": "z"}))
    assert path.read_bytes() == before
    finish_file(path, Finish.of(folder / "m.json", {"x": "z"}))  # it is replaced
    assert zipfile.ZipFile(path).namelist() == ["labels.txt"]


def test_what_is_no_request() -> None:
    for rename in ({1: "x"}, {"x": None}, ["x=y"], "x=y"):
        wrong: Any = rename
        with pytest.raises(MetadataError, match="rename takes new names by the old ones"):
            Finish.of(None, wrong)
    wrong = 3
    with pytest.raises(MetadataError, match="metadata takes the path of a JSON file"):
        Finish.of(wrong, None)


def test_metadata_behind_the_flatbuffer(folder: Path) -> None:
    path = folder / "m.tflite"
    finish_file(path, Finish.of(METADATA | {"subgraph_metadata": []}, {"x": "z"}))
    content = path.read_bytes()
    assert model_metadata(content)
    assert model_metadata(behind(content)) == model_metadata(content)
    assert original_names(behind(content)) == original_names(content)


SIGNATURES = {
    "one": {"inputs": ["x", "y"], "outputs": ["z"]},
    "two": {"inputs": ["x"], "outputs": ["x:0", "w"]},
}


def test_names_and_signatures() -> None:
    assert renaming({"x": "a"}, SIGNATURES, "").names[("two", "inputs")] == {"x": "a"}
    found = renaming({"one:x": "y", "y": "x", "two:x:0": "r"}, SIGNATURES, "").names
    assert found[("one", "inputs")] == {"x": "y", "y": "x"}  # exchanged
    assert found[("two", "inputs")] == {}
    assert found[("two", "outputs")] == {"x:0": "r"}
    assert not renaming({"x": "x"}, SIGNATURES, "")


@pytest.mark.parametrize(
    ("rename", "message"),
    [
        ({"q": "a"}, r"unknown input or output 'q'(.|\n)*one: inputs x, y; outputs z; two: inputs x; outputs x:0, w"),
        ({"three:x": "a"}, "unknown input or output 'three:x'"),
        ({"y": "x"}, "two inputs of 'one' would have the name 'x'"),
        ({"x": "a", "one:x": "b"}, "'x' would get two names, 'a' and 'b'"),
        ({"x": ""}, "is not a valid name"),
        ({"x": "a\x1bb"}, "is not a valid name"),
        ({"x": "a" * 2000}, "is too long"),
    ],
)
def test_names_that_do_not_fit(rename: dict[str, str], message: str) -> None:
    with pytest.raises(MetadataError, match=message):
        renaming(rename, SIGNATURES, "m.tflite")


def test_two_subgraphs_of_two_signatures(tmp_path: Path) -> None:
    graphs: list[Graph] = []
    for op in ("NEG", "ABS"):
        graph = Graph()
        graph.builtin(op, [graph.input("x", ())], [graph.output("y", ())])
        graphs.append(graph)
    path = tmp_path / "m.tflite"
    path.write_bytes(model(*graphs, signatures={"neg": 0, "abs": 1}))
    finish_file(path, Finish.of(None, {"abs:x": "value", "y": "result"}))
    assert signature_names(path.read_bytes()) == {
        "neg": {"inputs": ["x"], "outputs": ["result"]},
        "abs": {"inputs": ["value"], "outputs": ["result"]},
    }
    assert run(path, "neg", x=np.float32(-2))["result"] == 2
    assert run(path, "abs", value=np.float32(-3))["result"] == 3


def test_counts_that_do_not_fit(folder: Path) -> None:
    before = (folder / "m.tflite").read_bytes()
    one: dict[str, Any] = {}
    two: dict[str, Any] = {"subgraph_metadata": [{"input_tensor_metadata": [{}, {}]}]}
    with pytest.raises(
        MetadataError, match=r"\[0\].input_tensor_metadata has 2 entries, and the model has 1 input(.|\n)*x"
    ):
        finish_file(folder / "m.tflite", Finish.of(two, None))
    with pytest.raises(MetadataError, match="describes 2 subgraphs, and the model has 1"):
        finish_file(folder / "m.tflite", Finish.of({"subgraph_metadata": [one, one]}, None))
    assert (folder / "m.tflite").read_bytes() == before
    assert {each.name for each in folder.iterdir()} == {"labels.txt", "m.json", "m.tflite"}


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "/etc/passwd",
        "sub/../../secret",
        ".",
        "",
        "a\\b",
        "C:secret",
        "link",
        "folder",
        "missing",
        "./labels.txt",
    ],
)
def test_files_stay_in_the_folder(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_text("secret")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "folder").mkdir()
    (inside / "labels.txt").write_text("x")
    path = inside / "m.json"
    path.write_text(json.dumps({"associated_files": [{"name": name}]}))
    with pytest.raises(MetadataError):
        Description.of(path)


def test_files_in_folders_below(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "en.txt").write_text("cat")
    (tmp_path / "m.json").write_text(json.dumps({"associated_files": [{"name": "labels/en.txt"}]}))
    assert [*Description.of(tmp_path / "m.json").files] == ["labels/en.txt"]


@pytest.mark.parametrize("text", ["", "{", "[" * 5000, '{"name": "a", "name": "b"}', "3", "\xff"])
def test_what_is_no_json_or_no_metadata(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(MetadataError):
        Description.of(path)
    with pytest.raises(MetadataError, match="no such file or folder"):
        Description.of(tmp_path / "missing.json")


def test_a_mapping_takes_files_of_the_current_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert Description.of(METADATA).files == {"labels.txt": Path(os.path.realpath(folder / "labels.txt"))}


def test_fields_of_a_later_schema_are_not_lost(folder: Path) -> None:
    from litefuse.litert.metadata.new_root import MODEL, Block
    from litefuse.litert.runtime.flatbuffer import Table

    block = Block.table(MODEL + "o", {0: 3, 10: Block.text("new")})
    data = bytes(block.data)
    table = Table(data, block.origin)
    with pytest.raises(MetadataError, match="later version"):
        Block.changed(table, MODEL, {})


def test_archives_that_are_none(folder: Path) -> None:
    content = doubler()
    for tail in (b"PK\x05\x06", b"PK\x05\x06" + bytes(18), b"PK\x05\x06" + b"\xff" * 18, b"PK\x05\x06" + b"\xff" * 40):
        assert pack_of(content + tail) is None
    finish_file(folder / "m.tflite", Finish.of(folder / "m.json", None))
    whole = (folder / "m.tflite").read_bytes()
    found = pack_of(whole)
    assert found is not None
    for size in range(found.start, len(whole)):
        assert pack_of(whole[:size]) is None


def test_convert(folder: Path) -> None:
    path = folder / "demo.tflite"
    arguments = [str(SAVED_MODEL), "-o", str(path), "--rename", "ids=tokens", "--rename", "embed:vectors=y"]
    outcome = CliRunner().invoke(app, ["convert", *arguments, "--metadata", str(folder / "named.json")])
    assert outcome.exit_code == 1
    assert "no such file or folder" in outcome.stderr
    (folder / "named.json").write_text(json.dumps({"name": "Demo", "associated_files": [{"name": "labels.txt"}]}))
    outcome = CliRunner().invoke(app, ["convert", *arguments, "-v", "--metadata", str(folder / "named.json")])
    assert outcome.exit_code == 0, outcome.stderr
    assert "  embed: input   ids      is tokens\n  embed: output  vectors  is y\n" in outcome.stdout
    assert [each.name for each in inspect_litert_model(path).signatures[0].inputs] == ["tokens"]
    assert zipfile.ZipFile(path).namelist() == ["labels.txt"]
    shown = CliRunner().invoke(app, ["inspect", str(path)]).stdout
    assert "Metadata\n  name                Demo" in shown
    assert "Associated files\n  labels.txt  8 bytes" in shown
    arguments[2] = str(folder / "x.tflite")
    wrong = CliRunner().invoke(app, ["convert", *arguments, "--rename", "nothing=x"])
    assert wrong.exit_code == 1
    assert "unknown input or output 'nothing'" in wrong.stderr
    assert not (folder / "x.tflite").exists()


def test_generated_kernels_keep_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains become composites in a file that is written anew, without what is behind the flatbuffer."""
    path = folder / "m.tflite"
    finish = Finish.of(folder / "m.json", {"x": "z"})
    finish_file(path, finish)

    def generate(written: Path, *_: object, **__: object) -> list[ChainReport]:
        content = written.read_bytes()
        pack = pack_of(content)
        assert pack is not None
        written.write_bytes(content[: pack.start])
        return [ChainReport("chain", "ADD", "MUL", "layer", 2, 1, kernel=KernelReport(0.0, 1.0, 2.0))]

    monkeypatch.setattr("litefuse.kernels.generator.chain_kernels.generate_chains", generate)
    report = Report("m")
    job = ConversionJob(path, path, Conversion(generate_kernels=True), finish=finish)

    def convert(_: ConversionJob) -> Report:
        raise AssertionError

    report = with_kernels(report, job, folder / "kernels", convert, lambda _: None)
    assert zipfile.ZipFile(path).read("labels.txt") == b"cat\ndog\n"
    assert report.size == path.stat().st_size
    assert run(path, "serve", z=PAIR)["y"].tolist() == [6, 8]


def test_quantize_keeps_metadata_and_files(folder: Path) -> None:
    from tests.conversion.quantization.models import dense

    weights = np.random.default_rng(1).normal(size=(48, 64)).astype(np.float32)
    path = folder / "dense.tflite"
    path.write_bytes(model(dense(weights), signatures={"serve": 0}))
    (name,) = signature_names(path.read_bytes())["serve"]["inputs"]
    described = {"name": "Dense", "associated_files": [{"name": "labels.txt"}]}
    (folder / "d.json").write_text(json.dumps(described))
    finish_file(path, Finish.of(folder / "d.json", {name: "renamed"}))
    result = litefuse.quantize(path, "dynamic", rename={"renamed": "again"})
    facts = inspect_litert_model(result.path)
    assert facts.model_metadata == {**described, "min_parser_version": "1.0.0"}
    assert [each.name for each in facts.associated_files] == ["labels.txt"]
    assert original_names(result.model_bytes)["serve"]["inputs"] == {"again": name}
    assert [(each.original, each.name) for each in result.report.renamed] == [(name, "again")]
    assert litefuse.verify_model(result, path, max_error=0.1).ok


def test_schema_class_reads_the_result(folder: Path) -> None:
    path = folder / "m.tflite"
    finish_file(path, Finish.of(folder / "m.json", {"x": "z"}))
    loaded: Any = schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))
    assert [each.name for each in loaded.metadata] == [b"TFLITE_METADATA", b"LITEFUSE_ORIGINAL_NAMES"]
    assert every(len(loaded.buffers[each.buffer].data) for each in loaded.metadata)


@pytest.mark.parametrize("rest", [{}, {"name": "Tells cats from dogs", "subgraph_metadata": [{"name": "all"}]}])
def test_labels(folder: Path, rest: dict[str, Any]) -> None:
    path = folder / "m.tflite"
    finish_file(path, Finish.of({**rest, "labels": folder / "labels.txt"}, None))
    with zipfile.ZipFile(path) as archive:
        assert archive.read("labels.txt") == b"cat\ndog\n"
    metadata = model_metadata(path.read_bytes())
    assert metadata is not None
    assert metadata.get("name") == rest.get("name")
    (graph,) = metadata["subgraph_metadata"]
    files = [{"name": "labels.txt", "type": "TENSOR_AXIS_LABELS"}]
    assert graph["output_tensor_metadata"] == [{"associated_files": files}]
    assert graph.get("name") == ("all" if rest else None)
    assert (run(path, "serve", x=PAIR)["y"] == 2 * PAIR).all()
    outcome = CliRunner().invoke(app, ["inspect", str(path)])
    assert "file labels.txt (tensor axis labels)" in outcome.stdout


@pytest.mark.parametrize(
    ("content", "message"), [(b"cat\n", "for 1 labels, .*\\[2\\]"), (b"\xff\n\xfe", "not text in UTF-8")]
)
def test_labels_that_do_not_fit(folder: Path, content: bytes, message: str) -> None:
    (folder / "labels.txt").write_bytes(content)
    with pytest.raises(MetadataError, match=message):
        finish_file(folder / "m.tflite", Finish.of({"labels": str(folder / "labels.txt")}, None))
    assert (folder / "m.tflite").read_bytes() == doubler()


def test_labels_on_the_command_line(folder: Path) -> None:
    labels = folder / "labels.txt"
    command = ["quantize", str(folder / "m.tflite"), "--quantize", "float16", "-o", str(folder / "q.tflite")]
    both = CliRunner().invoke(app, [*command, "--labels", str(labels), "--metadata", str(folder / "m.json")])
    assert (both.exit_code, "--labels excludes --metadata" in both.stderr) == (2, True)
    done = CliRunner().invoke(app, [*command, "--labels", str(labels)])
    assert done.exit_code == 0, done.stderr
    pack = pack_of((folder / "q.tflite").read_bytes())
    assert pack is not None
    assert pack.sizes == {"labels.txt": 8}
