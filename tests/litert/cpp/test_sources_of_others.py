"""Sources as they stand in other repositories: how they register kernels, and what they leave to their surroundings."""

from __future__ import annotations

from pathlib import Path

import pytest

from litefuse.errors import KernelError
from litefuse.litert.cpp.kernel_library import build_kernels
from tests.litert.cpp.test_kernel_library import ONE, QUICK
from tests.litert.runtime.models import Graph, model, unary
from tests.tools.cli.test_cli import run

REGISTRATION = "{ static TfLiteRegistration r{}; r.invoke = Invoke; return &r; }"


def source(folder: Path, register: str, before: str = "", name: str = "kernel.cc") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ONE.format(register=register, before=before))
    return path


def built(folder: Path, *sources: Path, **more: object) -> tuple[str, ...]:
    return build_kernels(sources, folder / "lib.so", options=QUICK, **more)  # pyright: ignore[reportArgumentType]


def test_arguments_with_defaults_and_members_of_classes(tmp_path: Path) -> None:
    register = f"""
TfLiteRegistration* Register_Here(int version = 1, const char* name = Text(1, 2)) {REGISTRATION}
TfLiteRegistration* Register_Declared(bool exact = false);
TfLiteRegistration* Register_Declared(bool exact) {REGISTRATION}
TfLiteRegistration* Register_Needed(bool exact, int more = 1) {REGISTRATION}
void AddAll(tflite::MutableOpResolver* resolver, const bool exact = false) {{
  resolver->AddCustom("my.op", Register_Here());
}}
class Median {{
  static TfLiteRegistration* Register_Hidden() {REGISTRATION}
  enum Kind {{ kOne }};
  int size_ = 0;
 public:
  Median() : size_{{1}} {{}}
  static TfLiteRegistration* Register() {REGISTRATION}
  TfLiteRegistration* Register_OfObjects() {REGISTRATION}
 protected:
  static TfLiteRegistration* Register_Protected() {REGISTRATION}
}};
namespace ns {{ struct Ops final {{
  static TfLiteRegistration* Register_Apart();
  static void Add(tflite::MutableOpResolver& resolver) {{ resolver.AddCustom("Added", Register_Apart()); }}
  TfLiteRegistration* Register_OfObjects();
}}; }}
TfLiteRegistration* ns::Ops::Register_Apart() {REGISTRATION}
TfLiteRegistration* ns::Ops::Register_OfObjects() {REGISTRATION}
"""
    before = """#include "tensorflow/lite/mutable_op_resolver.h"
TfLiteStatus Invoke(TfLiteContext*, TfLiteNode*);
const char* Text(int, int) { return ""; }"""
    assert set(built(tmp_path, source(tmp_path, register, before))) == {"my.op", "Added", "Declared", "Median"}


def test_a_kernel_has_the_name_of_its_registration_and_one_that_is_passed_on_counts_once(tmp_path: Path) -> None:
    register = f"""
extern "C" TfLiteRegistration* Register_GRID() {REGISTRATION}
namespace ns {{ TfLiteRegistration* Register_GRID() {{ return ::Register_GRID(); }} }}
TfLiteRegistration* Make() {{ static TfLiteRegistration r{{}}; r.custom_name = "my:Op"; return &r; }}
"""
    assert built(tmp_path, source(tmp_path, register)) == ("GRID", "my:Op", "Grid")


@pytest.mark.parametrize(
    ("function", "called", "name"),
    [
        ("Register_SIGN", [], "Sign"),
        ("Register_MAX_POOL_3D", [], "MaxPool3D"),
        ("Register_GRID_SAMPLE", ["Other", "grid_sample"], "grid_sample"),
        ("Register_IRFFT2D", ["IRFFT2D"], "IRFFT2D"),
        ("RegisterGridSample", ["grid_sample"], "grid_sample"),
    ],
)
def test_names_in_the_letters_of_the_model(tmp_path: Path, function: str, called: list[str], name: str) -> None:
    path = source(tmp_path, f"TfLiteRegistration* {function}() {REGISTRATION}")
    own = function.removeprefix("Register").removeprefix("_")
    assert built(tmp_path, path, ops=called) == tuple(dict.fromkeys([own, name]))


def test_what_sources_lack_is_found_around_them(tmp_path: Path) -> None:
    (tmp_path / "app" / "lib").mkdir(parents=True)
    for name, text in (
        ("half.h", '#ifdef __cplusplus\nextern "C"\n#endif\nint half(int);\n'),
        ("half.c", '#include "half.h"\nint half(int x) { int class = x; return class / 2; }\n'),
        ("twice.h", "namespace lib { struct Twice { static int Of(int); }; int Thrice(int, int = 0); }\n"),
        ("twice.cc", '#include "app/lib/twice.h"\nint lib::Twice::Of(int x) {\n  return Thrice(x) - x;\n}\n'),
        (
            "other.cc",
            "namespace lib {\nint Thrice(int x,\n           int) {\n  return 3 * x;\n}\n}\n",
        ),
        ("twice_test.cc", "namespace lib {\nint Thrice(int x, int) { return 0 }\n}\n"),
    ):
        (tmp_path / "app" / "lib" / name).write_text(text)
    before = '#include "app/lib/half.h"\n#include "app/lib/twice.h"'
    register = (
        f"TfLiteRegistration* Register_X() {{ if (half(lib::Twice::Of(2)) != 2) return nullptr; {REGISTRATION} }}"
    )
    path = source(tmp_path, register, before, "app/kernels/kernel.cc")
    assert built(tmp_path, path) == ("X",)
    (tmp_path / "app" / "lib" / "other.cc").unlink()
    with pytest.raises(KernelError, match=r"(?s)lib::Thrice.*Name all the sources"):
        built(tmp_path, path)


def test_headers_that_name_more_than_kernels_need(tmp_path: Path) -> None:
    before = """
#include "flatbuffers/base.h"
#include "flatbuffers/flexbuffers.h"
#include "ruy/profiler/instrumentation.h"
#include "tensorflow/lite/kernels/custom_ops_register.h"
#include "tensorflow/lite/kernels/internal/optimized/optimized_ops.h"
#include "tensorflow/lite/kernels/internal/reference/reference_ops.h"
#include "tensorflow/lite/model.h"
#include "tensorflow/lite/portable_type_to_tflitetype.h"
#include "tensorflow/lite/schema/schema_generated.h"
static_assert(FLATBUFFERS_LITTLEENDIAN == 1, "");
static_assert(tflite::Padding_VALID == 1 && tflite::ActivationFunctionType_RELU6 == 3, "");
static_assert(tflite::typeToTfLiteType<int8_t>() == kTfLiteInt8, "");
static_assert(sizeof(tflite::TfLiteTypeToType<kTfLiteInt64>::Type) == 8, "");
"""
    register = """namespace tflite { namespace ops { namespace custom {
TfLiteRegistration* Register_SIGN() {
  ruy::profiler::ScopeLabel label("Sign/%d", 1);
  static TfLiteRegistration r{};
  const std::vector<uint8_t> half = {0, 0, 0, 0x3f, 14, 4};
  return flexbuffers::GetRoot(half).ToString() == "0.5" ? &r : nullptr;
}
}}}"""
    assert built(tmp_path, source(tmp_path, register, before)) == ("SIGN", "Sign")


def test_cpp_20_where_a_source_needs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = "#include <span>\nint first(std::span<const int> numbers) { return numbers[0]; }\n"
    path = source(tmp_path, f"TfLiteRegistration* Register_X() {REGISTRATION}", before)
    assert built(tmp_path, path) == ("X",)
    asking = "#if __cplusplus < 202002L\n#error this needs the newer standard\n#endif\n"
    path = source(tmp_path, f"TfLiteRegistration* Register_X() {REGISTRATION}", asking)
    for standard, code in (("c++17", 1), ("c++20", 0)):
        monkeypatch.setenv("CXXFLAGS", f"-std={standard}")
        assert run("kernels", "build", path, "-o", tmp_path / "lib.so").code == code


def test_a_checkout_has_its_own_resolver_and_both_names_of_headers(tmp_path: Path) -> None:
    """A checkout that is little more than what litefuse declares, with marks."""
    checkout, flatbuffers = tmp_path / "checkout", tmp_path / "flatbuffers_of_app"
    for path, text in (
        ("core/c/common.h", '#include "tflite_structs.h"\n'),
        ("core/c/builtin_op_data.h", '#include "tflite/core/c/common.h"\n'),
        ("builtin_ops.h", '#include "tflite/core/c/common.h"\n'),
        ("schema/schema_generated.h", SCHEMA),
        ("kernels/extra.h", "namespace tflite { int Extra(); }\n"),
        (
            "kernels/extra.cc",
            '#include "tflite/kernels/extra.h"\nnamespace tflite {\nint Extra() {\n  return 1;\n}\n}\n',
        ),
        (
            "core/api/op_resolver.h",
            """#pragma once
#include "tflite/core/c/common.h"
#include "tflite/schema/schema_generated.h"
namespace tflite { class OpResolver {
 public:
  virtual ~OpResolver() = default;
  virtual const TfLiteRegistration* FindOp(BuiltinOperator op, int version) const = 0;
  virtual const TfLiteRegistration* FindOp(const char* op, int version) const = 0;
  int of_checkout = kOwnSchema;
}; }
""",
        ),
    ):
        (checkout / "tflite" / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout / "tflite" / path).write_text(text)
    (checkout / "tflite_structs.h").write_text(
        '#pragma once\n#undef LITEFUSE_USE_TFLITE_HEADERS\n#undef LITEFUSE_TFLITE_H_\n#include "litefuse/tflite.h"\n'
    )
    (flatbuffers / "flatbuffers").mkdir(parents=True)
    base = flatbuffers / "flatbuffers" / "base.h"
    base.write_text("#define FLATBUFFERS_VERSION_MAJOR 25\n")
    path = tmp_path / "kernel.cc"
    path.write_text(
        f"""
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/kernels/extra.h"
#include "tensorflow/lite/mutable_op_resolver.h"
TfLiteStatus Invoke(TfLiteContext*, TfLiteNode*) {{ return kTfLiteOk; }}
TfLiteRegistration* Make() {REGISTRATION}
void Add(tflite::MutableOpResolver& resolver) {{
  if (resolver.of_checkout == 7 && tflite::Extra() == 1) resolver.AddCustom("X", Make());
}}
"""
    )
    more = {"tflite_headers_folder": checkout}
    assert built(tmp_path, path, includes=[flatbuffers], **more) == ("X",)
    base.write_text("#define FLATBUFFERS_VERSION_MAJOR 24\n")
    with pytest.raises(KernelError, match="of_checkout"):  # litefuse's resolver
        built(tmp_path, path, includes=[flatbuffers], **more)


SCHEMA = """#pragma once
#include "flatbuffers/base.h"
static_assert(FLATBUFFERS_VERSION_MAJOR == 25, "");
namespace tflite { enum BuiltinOperator { kOwnSchema = 7 }; }
"""
SCALE = """
#include "tensorflow/lite/kernels/kernel_util.h"
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteIntArray* shape = tflite::GetInput(context, node, 0)->dims;
  return context->ResizeTensor(context, tflite::GetOutput(context, node, 0), TfLiteIntArrayCopy(shape));
}
TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* x = tflite::GetInput(context, node, 0);
  for (int i = 0; i < tflite::NumElements(x); ++i) tflite::GetOutput(context, node, 0)->data.f[i] = 2 * x->data.f[i];
  return kTfLiteOk;
}
TfLiteRegistration* Register_ROW_SCALE() { static TfLiteRegistration r = {nullptr, nullptr, Prepare, Eval}; return &r; }
TfLiteRegistration* Register_Unused() { static TfLiteRegistration r = {nullptr, nullptr, Prepare, Eval}; return &r; }
"""


@pytest.mark.parametrize("name", ["row_scale", "RowScale"])
def test_cpp_alone_is_compared_with_the_body_under_the_name_of_the_model(tmp_path: Path, name: str) -> None:
    graph, body = Graph(), Graph()
    graph.composite(name, [graph.input("x", (2, 3))], [graph.output("y", (2, 3))], {}, 1)
    factor = body.tensor("factor", (), value=2.0)
    body.builtin("MUL", [body.input("a", (2, 3)), factor], [body.output("b", (2, 3))])
    (tmp_path / "model.tflite").write_bytes(model(graph, body, signatures={"serve": 0}))
    (tmp_path / "scale.cc").write_text(SCALE)
    files = {kind: tmp_path / kind for kind in ("scale.cc", "lib.so", "model.tflite")}
    done = run("kernels", "build", files["scale.cc"], "-o", files["lib.so"], "--for", files["model.tflite"])
    assert done.code == 0, done
    assert [" ".join(line.split()) for line in done.out.splitlines()[1:4]] == [
        "ROW_SCALE",
        f"Unused {files['model.tflite']} does not call it",
        name,
    ]
    tested = run("kernels", "test", files["lib.so"], files["model.tflite"])
    assert (tested.code, "its body" in tested.out) == (0, True), tested


def test_a_model_that_calls_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(unary("Other", {}))
    path = source(tmp_path, f"TfLiteRegistration* Register_X() {REGISTRATION}")
    done = run("kernels", "build", path, "-o", tmp_path / "lib.so", "--for", tmp_path / "model.tflite")
    assert (done.code, "does not call it" in done.out) == (0, True), done
