"""Kernels of a library, compared with the bodies of composites."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.cpp.compiler import build_library, is_sanitized
from litefuse.litert.runtime.native import NativeKernels
from litefuse.tools.documents.document import address
from litefuse.tools.kernel_check.check import check_kernels, worst
from tests.every import every
from tests.litert.runtime.models import Graph, model
from tests.tools.cli.test_cli import run, spawn
from tests.tools.documents.reading import is_described

# Kernels of several composites, each with one fault at most.
SOURCE = """
#include <cstring>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/registry.h"

namespace {
using litefuse::Node;

template <int kFault>
class Scaled final : public litefuse::Kernel {
  bool Configure(Node& node, const litefuse::Options& options) override {
    LITEFUSE_REQUIRE(node, options.Get("by", &by_), "there is no option by");
    return true;
  }
  bool Prepare(Node& node) override { return node.CheckCounts(1, 1) && node.Resize(0, node.input(0).shape()); }
  bool Invoke(Node& node) override {
    const float* from = node.input(0).data<float>();
    float* to = node.output(0).mutable_data<float>();
    const auto size = node.input(0).size();
    const std::vector<float> old(to, to + size);
    volatile int64_t end = kFault == 1 ? size + 1 : size;
    for (int64_t i = 0; i < end; ++i) to[i] = from[i] * by_;
    if (kFault == 2 && node.input(0).dim(0) == 3) to[size - 1] += 0.5f;
    if (kFault == 3) *static_cast<volatile int*>(nullptr) = 1;
    while (kFault == 4 && end > 0) {}
    if (kFault == 5) const_cast<float*>(from)[size - 1] = 7;
    if (kFault == 6) std::memcpy(to, old.data(), sizeof(float));
    return true;
  }
  float by_ = 0;
};
}  // namespace

LITEFUSE_DEFINE_KERNEL(Right, Scaled<0>)
LITEFUSE_DEFINE_KERNEL(Beyond, Scaled<1>)
LITEFUSE_DEFINE_KERNEL(WrongForThree, Scaled<2>)
LITEFUSE_DEFINE_KERNEL(Crashing, Scaled<3>)
LITEFUSE_DEFINE_KERNEL(Endless, Scaled<4>)
LITEFUSE_DEFINE_KERNEL(Overwriting, Scaled<5>)
LITEFUSE_DEFINE_KERNEL(Unfilling, Scaled<6>)

const litefuse::RegisteredKernel* litefuse::RegisteredKernels() {
  static const RegisteredKernel kernels[] = {{"Right", litefuse_register_Right},
                                             {"Beyond", litefuse_register_Beyond},
                                             {"WrongForThree", litefuse_register_WrongForThree},
                                             {"Crashing", litefuse_register_Crashing},
                                             {"Endless", litefuse_register_Endless},
                                             {"Overwriting", litefuse_register_Overwriting},
                                             {"Unfilling", litefuse_register_Unfilling},
                                             {nullptr, nullptr}};
  return kernels;
}
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("libraries")
    source = folder / "scaled.cc"
    source.write_text(SOURCE)
    for name, sanitize in (("plain.so", False), ("sanitized.so", True)):
        build_library(folder / name, [source], options=["-O1"], sanitize=sanitize)
    return {path.stem: path for path in folder.glob("*.so")}


def file_of(folder: Path, op: str, *, custom: bool = False) -> Path:
    """A model that calls the composite twice, with two options; or a custom op of the same name."""
    graph, body, other = Graph(), Graph(), Graph()
    x = graph.input("x", (1, 4), signature=(-1, 4))
    middle = graph.tensor("middle", (1, 4), signature=(-1, 4))
    y = graph.output("y", (1, 4), signature=(-1, 4))
    for index, (each, number) in enumerate(((body, 2.0), (other, 3.0))):
        a = each.input("a", (1, 4), signature=(-1, 4))
        b = each.output("b", (1, 4), signature=(-1, 4))
        each.builtin("MUL", [a, each.tensor("factor", (), value=number)], [b])
        given = ([x], [middle]) if index == 0 else ([middle], [y])
        if custom:
            graph.custom(op, *given, {"by": number})
        else:
            graph.composite(op, *given, {"by": number}, index + 1)
    path = folder / f"{op}.tflite"
    path.write_bytes(model(graph, body, other, signatures={"serve": 0}))
    return path


def test_equal_kernels_are_equal_for_each_kind_of_call(tmp_path: Path, libraries: dict[str, Path]) -> None:
    checked = check_kernels(libraries["plain"], file_of(tmp_path, "Right"))
    assert [each.verdict for each in checked] == ["equal", "equal"]
    assert [each.original for each in checked] == ["its body", "its body"]
    assert {np.float32(each.call.options["by"]) for each in checked if each.call.options} == {2, 3}
    assert every(each.verification is not None and each.verification.calls >= 4 for each in checked)


def test_a_kernel_that_is_wrong_for_one_size_is_found(tmp_path: Path, libraries: dict[str, Path]) -> None:
    path = file_of(tmp_path, "WrongForThree")
    done = run("kernels", "test", libraries["plain"], path, "--save", tmp_path / "saved", "--json")
    assert done.code == 1, done
    found = json.loads(done.out)
    assert is_described(found, address("kernels test"))
    names = [f"WrongForThree_{number}.{kind}" for number in (0, 1) for kind in ("tflite", "inputs.npz", "expected.npz")]
    assert [Path(each["path"]).name for each in found["written"]] == names
    # The last element of three rows.
    told = re.fullmatch(
        r"call (\d): \w+\[2, 3\] is (\S+), not (\S+), of \w+ float32\[3, 4\]", found["calls"][0]["difference"]
    )
    assert told is not None, found["calls"][0]["difference"]
    assert int(told[1]) > 1
    assert float(told[2]) - float(told[3]) == pytest.approx(0.5, abs=1e-5)
    # What was saved shows it again; with another model, nothing.
    model, inputs, expected = (tmp_path / "saved" / each for each in names[:3])
    given = ("--inputs", inputs, "--expected", expected)
    assert run("verify", model, *given, "--kernels", libraries["plain"]).code == 1
    with np.load(inputs) as arrays, np.load(expected) as outputs:
        (x,), (y,) = arrays.values(), outputs.values()
    assert np.array_equal(y, x * 2)
    shown = run("kernels", "test", libraries["plain"], path, "--save", tmp_path / "again")
    assert f"Again: litefuse verify {tmp_path}/again/WrongForThree_0.tflite --inputs" in shown.out
    assert found["calls"][0]["difference"] in shown.out


def test_a_kernel_that_crashes_is_told(tmp_path: Path, libraries: dict[str, Path]) -> None:
    checked = check_kernels(libraries["plain"], file_of(tmp_path, "Crashing"))
    assert [each.crashed for each in checked] == [True, True]
    assert worst(checked) == "differs"
    assert "crashes" in checked[0].problem


def test_a_kernel_that_never_returns_is_ended(
    tmp_path: Path, libraries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("litefuse.tools.kernel_check.check._SECONDS", 4.0)
    checked = check_kernels(libraries["plain"], file_of(tmp_path, "Endless"))
    assert [call.verdict for call in checked] == ["inconclusive"] * 2
    assert [call.op for call in checked] == ["Endless"] * 2
    for call in checked:
        assert "the kernel may never return: it took longer than" in call.problem


@pytest.mark.parametrize(
    ("op", "problem"),
    [("Overwriting", r"overwrites its input \w+"), ("Unfilling", r"leaves elements of its output \w+ unfilled")],
)
def test_a_kernel_that_misuses_memory_is_told(
    tmp_path: Path, libraries: dict[str, Path], op: str, problem: str
) -> None:
    done = run("kernels", "test", libraries["plain"], file_of(tmp_path, op))
    assert done.code == 1, done
    assert len(re.findall(f"differs: [^\n]*the kernel {problem}", done.out)) == 2, done.out


def test_the_sanitizer_stops_what_writes_beyond_its_memory(tmp_path: Path, libraries: dict[str, Path]) -> None:
    assert is_sanitized(libraries["sanitized"])
    assert not is_sanitized(libraries["plain"])
    assert [each.verdict for each in check_kernels(libraries["sanitized"], file_of(tmp_path, "Right"))] == ["equal"] * 2
    path = file_of(tmp_path, "Beyond")
    done = spawn("kernels", "test", str(libraries["sanitized"]), str(path), "--json")
    assert done.code == 1, done
    found = json.loads(done.out)
    assert (found["verdict"], found["exit_code"]) == ("differs", 1)
    assert is_described(found, address("kernels test"))
    with pytest.raises(KernelError, match="address sanitizer"):
        NativeKernels(libraries["sanitized"])


def test_a_custom_op_without_a_body_is_inconclusive(tmp_path: Path, libraries: dict[str, Path]) -> None:
    (first, _) = check_kernels(libraries["plain"], file_of(tmp_path, "Right", custom=True))
    assert first.verdict == "inconclusive"
    assert "TensorFlow has no op 'Right'" in first.problem


def test_what_is_not_there_is_named(tmp_path: Path, libraries: dict[str, Path]) -> None:
    path = file_of(tmp_path, "Other")
    with pytest.raises(LitefuseError, match=r"(?s)no custom op or composite is called.*There are: Other"):
        check_kernels(libraries["plain"], path)
    with pytest.raises(KernelError, match="no kernel for 'Other'"):
        check_kernels(libraries["plain"], path, ops=["Other"])
    with pytest.raises(KernelError, match="no such file"):
        check_kernels(tmp_path / "none.so", path)
    (tmp_path / "mine.py").touch()
    with pytest.raises(KernelError, match=r"not a library(.|\n)*verify MODEL.tflite .* --kernels .*mine\.py"):
        check_kernels(tmp_path / "mine.py", path)


def test_the_command(tmp_path: Path, libraries: dict[str, Path]) -> None:
    done = run("kernels", "test", libraries["plain"], file_of(tmp_path, "Right"))
    assert done.code == 0, done
    assert "its body" in done.out
    assert "Equal: the error of each result is at most 1e-05." in done.out
    assert "Again:" not in done.out
