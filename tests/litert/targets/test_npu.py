"""Checks of files with plug-ins of LiteRT's compiler: Intel's, and one that stands for those of other vendors."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import litefuse
from litefuse.conversion.verify.targets.target_check import TargetReport
from litefuse.litert.cpp.compiler import find_compiler
from litefuse.litert.runtime.litert_library import file_of_package
from litefuse.litert.targets import OWN, find_target
from litefuse.litert.targets.npu import IntelNpu
from tests.conversion.verify.test_model_process import summed
from tests.every import every
from tests.litert.runtime.models import Graph, model
from tests.litert.targets.intel import intel_npu, on_linux
from tests.litert.targets.models import dense, integers, lookup, remembering, serving
from tests.litert.targets.test_openvino import several_inputs
from tests.tools.cli.test_cli import run

pytestmark = on_linux
# The plug-in of a vendor whose chips are SM8650: it selects as Intel's does, and its code is the chip's name.
STUB = r"""
#include <cstddef>
#include <cstring>
extern "C" {
const char* LiteRtGetCompilerPluginSocManufacturer() { return "Qualcomm"; }
int LiteRtCompilerPluginCompile(void*, const char* soc_model, void*, const void** result) {
  *result = "SM8650";
  return soc_model && !std::strcmp(soc_model, "SM8650") ? 0 : 504;  // kLiteRtStatusErrorCompilation
}
int LiteRtGetNumCompiledResultCalls(const void*, size_t* count) { *count = 1; return 0; }
int LiteRtCompiledResultNumByteCodeModules(const void*, size_t* count) { *count = 1; return 0; }
int LiteRtGetCompiledResultByteCode(const char* result, size_t, const void** code, size_t* size) {
  *code = result;
  *size = std::strlen(result);
  return 0;
}
int LiteRtGetCompiledResultCallInfo(const char*, size_t, const void** info, size_t* size, size_t* code) {
  *info = "stub";
  *size = 4;
  *code = 0;
  return 0;
}
void LiteRtDestroyCompiledResult(const void*) {}
}
"""
RANDOM = np.random.default_rng(58)


def report_of(content: bytes) -> TargetReport:
    (report,) = litefuse.check(content, intel_npu()).reports
    return report


def of_ops(*names: str, dtype: str = "FLOAT32") -> bytes:
    """A chain of ops of one operand."""
    graph = Graph()
    value = graph.input("x", (2, 3), dtype)
    for place, name in enumerate(names):
        result = (
            graph.output("y", (2, 3), dtype) if place == len(names) - 1 else graph.tensor(f"t{place}", (2, 3), dtype)
        )
        graph.builtin(name, [value], [result])
        value = result
    return serving(graph)


@pytest.mark.parametrize(
    "content",
    [dense(), dense(batch=None), integers(), lookup(), several_inputs(), several_inputs("INT64")],
    ids=["dense", "open batch", "int8", "ids", "names", "int64"],
)
def test_what_is_compiled_gives_the_numbers_of_the_cpu(content: bytes) -> None:
    report = report_of(content)
    assert (report.verdict, report.refused) == ("accelerated", ())
    assert report.software.startswith("LiteRT 2.")
    assert every(each.verdict == "equal" and each.moved > 0 for each in report.outputs)
    assert dict(report.facts)["partitions"] == "1"


def test_ops_that_stay_on_the_cpu() -> None:
    report = report_of(of_ops("TANH", "NEG", "EXP", "ROUND"))
    assert report.verdict == "partly"
    assert {(each.op, each.reason, each.places) for each in report.refused} == {
        ("NEG", "no such op", ("t1",)),
        ("ROUND", "no such op", ("y",)),
    }
    assert [each.hint for each in report.refused] == ["convert with --target intel-npu", ""]
    facts = dict(report.facts)
    assert (facts["partitions"], facts["ops on the NPU"]) == ("2", "2 of 4")
    assert [each.verdict for each in report.outputs] == ["equal"]
    assert report_of(of_ops("NEG", "ROUND")).verdict == "refused"


def test_several_signatures() -> None:
    graphs = Graph(), Graph()
    for graph, name in zip(graphs, ("y", "z"), strict=True):
        graph.builtin("TANH", [graph.input("x", (1, 4))], [graph.output(name, (1, 4))])
    report = report_of(model(*graphs, signatures={"one": 0, "two": 1}))
    assert {(each.signature, each.verdict) for each in report.outputs} == {("one", "equal"), ("two", "equal")}
    assert dict(report.facts)["partitions"] == "2"


@pytest.mark.parametrize(
    ("shape", "why"), [((2, 1, 3, 1, 2), ""), ((2, 1, 1, 1, 1, 3), "6 dimensions"), ((0, 3), "0 dim")]
)
def test_empty_tensors_and_many_dimensions(shape: tuple[int, ...], why: str) -> None:
    graph = Graph()
    graph.builtin("TANH", [graph.input("x", shape)], [graph.output("y", shape)])
    report = report_of(serving(graph))
    assert report.verdict == ("refused" if why else "accelerated")
    assert why in " ".join(each.reason for each in report.refused)


def test_variables_are_refused() -> None:
    """Next to a partition, LiteRT reads other memory than a variable's."""
    report = report_of(summed())
    assert report.verdict == "refused"
    assert {each.op for each in report.refused} == {"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"}
    assert every("garbage from variables" in each.reason for each in report.refused)
    assert every("an input and an output" in each.hint for each in report.refused)
    (refused,) = report_of(remembering()).refused
    assert "Variable tensors" in refused.reason
    assert "recurrent layers are unrolled" in refused.hint


def test_numbers_that_are_not_those_of_the_cpu() -> None:
    """OpenVINO adds the bias to the mask's constant, where it loses its digits."""
    graph = Graph()
    keep, bias = graph.input("keep", (4, 3), np.bool_), graph.tensor("bias", (3,), value=RANDOM.standard_normal(3))
    one, low = graph.tensor("one", (), value=1.0), graph.tensor("low", (), value=-1e9)
    kept, left, mask, total = (graph.tensor(name, (4, 3)) for name in ("kept", "left", "mask", "total"))
    graph.builtin("CAST", [keep], [kept])
    graph.builtin("SUB", [one, kept], [left])
    graph.builtin("MUL", [left, low], [mask])
    graph.builtin("ADD", [mask, bias], [total])
    graph.builtin("SOFTMAX", [total], [graph.output("y", (4, 3))], beta=1.0)
    report = report_of(serving(graph))
    assert report.verdict == "differs"
    assert report.error > 1e-3


def test_the_release_of_openvino(tmp_path: Path) -> None:
    report = litefuse.check(dense(), f"intel-npu:{tmp_path}").reports[0]
    assert (report.verdict, report.table) == ("unknown", "the list in Intel's plug-in of ai-edge-litert 2.3")
    assert f"{tmp_path} has no libopenvino" in report.missing
    assert "pip install openvino==20" in report.missing
    assert "intel-npu:FOLDER" in report.missing
    (refused,) = litefuse.check(of_ops("TANH", "NEG"), f"intel-npu:{tmp_path}").reports[0].refused
    assert (refused.op, refused.places) == ("NEG", ("y",))


def test_what_lacks_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_file(_: list[str]) -> None:
        return None

    monkeypatch.setattr("litefuse.litert.targets.npu.file_of_package", no_file)
    assert "no plug-in of IntelOpenVINO" in IntelNpu().missing()


def test_other_vendors_are_asked_only_by_name(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(dense())
    vendors = ("qualcomm", "mediatek", "google-tensor", "samsung")
    assert {*vendors} < {*OWN}
    outcome = run("check", path, "--json", *(text for name in vendors for text in ("--target", name)))
    assert outcome.code == 3
    for report in json.loads(outcome.out)["targets"]:
        assert report["verdict"] == "unknown"
        assert f"{report['target']}:FOLDER" in report["missing"]
    checked = litefuse.check(dense())
    asked = {report.target for report in checked.reports} | {name for name, _ in checked.skipped}
    assert "intel-npu" in asked
    assert not asked & {*vendors}


def test_the_sdk_of_a_vendor_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(litefuse.LitefuseError, match=r"'qualcomm' has no variant .*: the folder .* does not exist"):
        litefuse.check(dense(), f"qualcomm:{tmp_path / 'none'}")
    lacking = {"qualcomm:SM8650": "libQnn", "google-tensor": "liblitert_plugin_compiler", "mediatek": "NeuronAdapter"}
    reports = litefuse.check(dense(), [f"{name}:{tmp_path}" for name in lacking]).reports
    for report, library in zip(reports, lacking.values(), strict=True):
        assert report.verdict == "unknown"
        assert library in report.missing
    assert find_target(f"qualcomm:SM8650:{tmp_path}").traits.dynamic is False


@pytest.mark.parametrize("name", ["CEIL", "RELU6"])
def test_the_table_lacks_what_the_plug_in_lacks(name: str) -> None:
    assert IntelNpu.table.ops is not None
    assert name not in IntelNpu.table.ops
    (refused,) = report_of(of_ops("TANH", name)).refused
    assert (refused.op, refused.hint) == (name, "convert with --target intel-npu")


def test_a_plug_in_in_the_folder_of_an_sdk(tmp_path: Path) -> None:
    """By the code that runs Intel's: the compiler loads it, and the report has what it selects."""
    folder = tmp_path / "größe" / "sdk"
    folder.mkdir(parents=True)
    source, intel = tmp_path / "stub.cc", find_target(intel_npu())
    assert isinstance(intel, IntelNpu)
    source.write_text(STUB)
    plug_in = file_of_package(["vendors/intel_openvino/compiler/libLiteRtCompilerPlugin_IntelOpenvino.so"])
    made = folder / "libLiteRtCompilerPlugin_Stub.so"
    options = ["-shared", "-fPIC", "-o", str(made), "-Wl,--no-as-needed", str(plug_in), "-Wl,--allow-shlib-undefined"]
    subprocess.run([*find_compiler(), str(source), *options], check=True)
    for library in intel.libraries.glob("lib*"):
        (folder / library.name).symlink_to(library)

    name = f"qualcomm:SM8650:{folder}"
    report, mixed = (litefuse.check(content, name).reports[0] for content in (dense(), of_ops("TANH", "NEG")))
    assert (report.target, report.verdict, report.outputs) == (name, "accelerated", ())
    assert dict(report.facts)["partitions"] == "1"
    assert "no such NPU" in report.not_compared
    assert (mixed.verdict, [(each.op, each.places) for each in mixed.refused]) == ("partly", [("NEG", ("y",))])
    # Of another chip, it compiles nothing.
    (refused,) = litefuse.check(dense(), f"qualcomm:{folder}").reports[0].refused
    assert (refused.op, bool(refused.reason)) == ("", True)
