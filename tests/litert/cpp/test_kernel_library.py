"""Kernels that were written for TensorFlow Lite alone: built as they are, and run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.cpp import kernel_library
from litefuse.litert.cpp.compiler import sanitizer_environment
from litefuse.litert.cpp.kernel_library import build_kernels
from litefuse.litert.runtime.native import NativeKernels
from tests.litert.cpp import kernel_calls

ROOT = Path(__file__).parents[3]
DATA = Path(__file__).with_name("data") / "kernels"
SOURCES = sorted(DATA.glob("*.cc"))
REGISTER = {"ExtractImagePatches": "tflite::ops::custom::Register_EXTRACT_IMAGE_PATCHES"}
OPS = ("ClippedGain", "Negate", "ExtractImagePatches", "RankLabels")
# What is compiled without optimization is so in less time.
QUICK = ("-O0",)

ONE = """
#include "tensorflow/lite/kernels/kernel_util.h"
{before}
TfLiteStatus Invoke(TfLiteContext*, TfLiteNode*) {{ return kTfLiteOk; }}
{register}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernels") / "lib.so"
    assert build_kernels(SOURCES, path, register=REGISTER, options=QUICK) == OPS
    return path


def test_they_are_exact_in_the_stock_interpreter(library: Path) -> None:
    kernel_calls.check_all(kernel_calls.in_stock(str(library)))


def test_they_are_exact_in_litefuse(library: Path) -> None:
    kernel_calls.check_all(kernel_calls.in_litefuse(str(library)))


def test_the_checks_can_fail(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_calls, "ZERO_IN", 6)  # of the model and of what is expected
    kernel_calls.check_labels(kernel_calls.in_stock(str(library)))

    def rounded_down(value: int, multiplier: int, shift: int) -> int:
        return value * multiplier >> (31 - shift)

    monkeypatch.setattr(kernel_calls, "multiplied", rounded_down)
    with pytest.raises(AssertionError):
        kernel_calls.check_labels(kernel_calls.in_stock(str(library)))


def test_they_stay_within_their_memory(tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    assert build_kernels(SOURCES, library, register=REGISTER, options=QUICK, sanitize=True) == OPS
    done = subprocess.run(
        [sys.executable, "-m", "tests.litert.cpp.kernel_calls", str(library)],
        cwd=ROOT,
        env={**os.environ, **sanitizer_environment()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "exact\n"), done.stderr[-3000:]


def one(folder: Path, register: str, before: str = "") -> Path:
    source = folder / "kernel.cc"
    source.write_text(ONE.format(register=register, before=before))
    return source


def test_functions_of_every_form_are_found(tmp_path: Path) -> None:
    registration = "{ static TfLiteRegistration r = {nullptr, nullptr, nullptr, Invoke}; return &r; }"
    folder = tmp_path / "ünï dir"
    folder.mkdir()
    source = one(
        folder,
        f"""
// TfLiteRegistration* Register_Comment() {registration}
#if 0
TfLiteRegistration* Register_Off() {registration}
#endif
const char* text = R"x(TfLiteRegistration* Register_Raw() {{ )x";
TfLiteRegistration* Register_Declared();
namespace a {{ namespace b::c {{ inline namespace v1 {{ namespace {{
TfLiteRegistration *Register_Deep() {registration}
}}  }}  }}
const TfLiteRegistration& RegisterReference() {{ return *b::c::Register_Deep(); }}
TfLiteRegistration RegisterValue(void) {{ return RegisterReference(); }}
TfLiteRegistration* Register_Outside();
struct Class {{ TfLiteRegistration* Register_Member() {{ return nullptr; }} }};
template <int n> TfLiteRegistration* Register_Template() {{ return nullptr; }}
}}
TfLiteRegistration* a::Register_Outside() {registration}
extern "C" {{ TfLiteRegistration* Register_C() {registration} }}
static const TfLiteRegistration* Register_Static() noexcept {registration}
MAKE(Macro)
auto Register_Auto() -> TfLiteRegistration* {registration}
TfLiteRegistration* Register_Argument(int) {registration}
TfLiteRegistration* Register_Null() {{ return nullptr; }}
TfLiteRegistration* named() {registration}
int main() {{ return 0; }}
""",
        "TfLiteStatus Invoke(TfLiteContext*, TfLiteNode*);\n"
        "#define MAKE(x) TfLiteRegistration* Register_##x() { static TfLiteRegistration r{}; return &r; }\n",
    )
    names = build_kernels([source], folder / "lïb.so", register={'"Ünï\\"': "::named()"}, options=QUICK)
    assert names == ('"Ünï\\"', "Deep", "Reference", "Value", "Outside", "C", "Static", "Macro", "Auto")
    assert NativeKernels(folder / "lïb.so").names == set(names)


def elsewhere(library: Path) -> bool:
    assert library.is_file()
    return False


def test_a_name_of_add_custom_takes_the_place_of_the_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = one(
        tmp_path,
        """
TfLiteRegistration* Register_ATAN() { static TfLiteRegistration r{}; r.invoke = Invoke; return &r; }
TfLiteRegistration* Register_SIN() { static TfLiteRegistration r{}; r.invoke = Invoke; return &r; }
void Fill(tflite::ops::builtin::BuiltinOpResolver& resolver) { resolver.AddCustom("Atan", Register_ATAN(), 1, 3); }
int main() { tflite::MutableOpResolver resolver; resolver.AddCustom("Sin", Register_SIN()); }
namespace my { class Resolver final : public tflite::MutableOpResolver {
 public: Resolver() { static TfLiteRegistration r{}; r.invoke = Invoke; AddCustom("Tan", &r); }
}; }
struct Other : tflite::MutableOpResolver { explicit Other(int) {} };
""",
        '#include "tensorflow/lite/kernels/register.h"',
    )
    assert build_kernels([source], tmp_path / "lib.so", options=QUICK) == ("Atan", "Sin", "Tan")
    # What a cross compiler makes is not loaded.
    monkeypatch.setattr(kernel_library, "runs_here", elsewhere)
    monkeypatch.setattr(kernel_library, "_names", None)
    assert build_kernels([source], tmp_path / "lib.so", options=QUICK) == ("Atan", "Sin", "Tan")


@pytest.mark.parametrize(
    ("register", "before", "message", "hint"),
    [
        ("int x;", "", "kernel.cc: registers no kernel", "Register_MyOp"),
        ("TfLiteRegistration* Make() { return nullptr; }", "", "registers no kernel", "--register OP=Make"),
        ("", '#include "tensorflow/lite/kernels/lstm_eval.h"', "lstm_eval.h", "--tflite-headers DIR"),
        ("", "#include <Eigen/Core>", "Eigen/Core", "libeigen/eigen.* with -I DIR"),
        (
            "TfLiteRegistration* Register_X() { return tflite::Lacking(); }",
            "",
            "Lacking",
            "own headers lack tflite::Lacking",
        ),
        ("int Other(); TfLiteRegistration* Register_X() { Other(); return 0; }", "", "Other", "all the sources"),
        (
            "TfLiteRegistration* Register_X() { return 0; } TfLiteRegistration* RegisterX() { return 0; }",
            "",
            "are named after one op",
            "--register OP=Register_X --register OP=RegisterX",
        ),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, register: str, before: str, message: str, hint: str) -> None:
    source = one(tmp_path, register, before)
    with pytest.raises(KernelError, match=f"(?s){message}.*{hint}"):
        build_kernels([source], tmp_path / "lib.so", options=QUICK)
    assert list(tmp_path.iterdir()) == [source]


def test_files_and_functions_that_are_not_there(tmp_path: Path) -> None:
    source = one(tmp_path, "TfLiteRegistration* Register_X() { return nullptr; }")
    with pytest.raises(LitefuseError, match=r"gone\.cc: no such file"):
        build_kernels([tmp_path / "gone.cc"], tmp_path / "lib.so")
    with pytest.raises(LitefuseError, match="LiteRT's headers are missing"):
        build_kernels([source], tmp_path / "lib.so", tflite_headers_folder=tmp_path)
    with pytest.raises(
        KernelError, match=r"(?s)Op=ns::F: no source defines a function ns::F\(\).*The functions are Register_X"
    ):
        build_kernels([source], tmp_path / "lib.so", register={"Op": "ns::F"})
    with pytest.raises(LitefuseError, match="named twice"):
        build_kernels([source, source], tmp_path / "lib.so")
