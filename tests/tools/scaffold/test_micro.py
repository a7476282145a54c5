"""Applications for microcontrollers: what is written is compiled, and runs against a double of tflite-micro."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import InterpreterError
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.targets.micro import MICRO_OPS, Micro
from litefuse.tools.scaffold.micro.cpp import byte_lines, kernel_function, number_lines, registration
from litefuse.tools.scaffold.micro.export import program_name
from litefuse.tools.scaffold.micro.tensors import main_signature, ports
from litefuse.tools.scaffold.micro.texts import Application, application_files
from tests.litert.runtime.models import Graph, model
from tests.litert.targets.models import buffers_behind, dense, integers, serving
from tests.tools.cli.test_cli import run
from tests.tools.scaffold.test_project import needs_compiler

if TYPE_CHECKING:
    import numpy.typing as npt

_FAKE = Path(__file__).with_name("fake_tflm.h")
# The headers of tflite-micro that applications include.
_HEADERS = (
    "tensorflow/lite/c/common.h",
    "tensorflow/lite/micro/micro_interpreter.h",
    "tensorflow/lite/micro/micro_log.h",
    "tensorflow/lite/micro/micro_mutable_op_resolver.h",
    "tensorflow/lite/micro/micro_resource_variable.h",
    "tensorflow/lite/micro/system_setup.h",
    "tensorflow/lite/schema/schema_generated.h",
)
_TYPES = {"float32": 1, "int8": 9}


def include_folder(folder: Path, files: dict[str, bytes], tensors: str = "") -> Path:
    """A folder with the headers, for a model with these tensors and outputs."""
    made = folder / "include"
    for name in _HEADERS:
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text('#include "fake_tflm.h"\n')
    (made / "fake_tflm.h").write_text(_FAKE.read_text())
    size = re.search(rb"kModelBytes = (\d+)", files["model_data.h"])
    assert size is not None
    (made / "fake_outputs.h").write_text(
        "#include <cstddef>\n#include <cstdint>\nnamespace fake {\n"
        f"constexpr size_t kModelBytes = {int(size[1])};\n{tensors or _NO_TENSORS}}}\n"
    )
    return made


_NO_TENSORS = """constexpr size_t kArenaBytes = 1, kInputBytes = 1, kOutputBytes = 1;
constexpr int kInputType = 1, kOutputType = 1;
constexpr uint8_t kOutput[2][1] = {{0}, {0}};
"""


def compiled(folder: Path, include: Path, *options: str) -> subprocess.CompletedProcess[str]:
    flags = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]
    sources = map(str, sorted(folder.glob("*.cc")))
    return subprocess.run(["c++", *flags, f"-I{include}", *options, *sources], capture_output=True, text=True)


def built(folder: Path, checkout: Path, build: Path) -> Path:
    """The program that CMake builds, with the double in the place of a checkout of tflite-micro."""
    for name in ("flatbuffers/include/flatbuffers/flatbuffers.h", "gemmlowp/fixedpoint/fixedpoint.h"):
        (checkout / "third_party" / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / "third_party" / name).touch()
    (checkout / "third_party/ruy/ruy/profiler").mkdir(parents=True, exist_ok=True)
    (checkout / "third_party/ruy/ruy/profiler/instrumentation.h").touch()
    (checkout / "tensorflow/lite/micro/micro_log.cc").write_text('#include "tensorflow/lite/micro/micro_log.h"\n')
    (checkout / "tensorflow/lite/micro/micro_log_test.cc").write_text("#error this is a test\n")
    for command in (["-S", folder, "-B", build, f"-DTFLM_DIR={checkout}"], ["--build", build]):
        done = subprocess.run(["cmake", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    (program,) = build.glob("*model")
    return program


def check_syntax(folder: Path, files: dict[str, bytes]) -> str:
    """What the compiler says of the files; empty if nothing."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return compiled(folder, include_folder(folder, files), "-fsyntax-only").stderr


def exported(content: bytes, folder: Path, **options: Any) -> dict[str, bytes]:
    made = litefuse.export_micro(content, folder, **options)
    assert sorted(path.name for path in folder.iterdir()) == list(made.files)
    return {name: (folder / name).read_bytes() for name in made.files}


def rows_of(source: bytes, name: str) -> list[list[float]]:
    """The rows of an array in C++."""
    text = source.decode().split(f" {name}[kCalls]", 1)[1].split("};", 1)[0]
    return [[float(each) for each in re.findall(r"-?[\d.]+(?:e[+-]\d+)?(?=f?,)", row)] for row in text.split("{")[2:]]


def application(content: bytes, **more: Any) -> Application:
    """An application that was not run."""
    made = Model(content)
    _, signature = main_signature(made, "")
    inputs, outputs = ports(made, signature, "")
    given: dict[str, Any] = {"ops": ("TANH",), "custom_ops": (), "variables": 0, "remembers": False, "notes": ()}
    given |= {"given": (), "expected": (), "arena": 1024, "arena_text": "It was not measured."}
    return Application("a.tflite", "a_model", content, inputs, outputs, **(given | more))


def test_every_op_of_tflite_micro_has_a_method() -> None:
    methods = {f"Add{name}" for name in re.findall(r"\bX\((\w+)\)", _FAKE.read_text())}
    assert MICRO_OPS.ops is not None
    assert {registration(op) for op in MICRO_OPS.ops} <= methods
    assert registration("UNIDIRECTIONAL_SEQUENCE_LSTM") == "AddUnidirectionalSequenceLSTM"
    assert registration("POW") not in methods


@needs_compiler
@pytest.mark.parametrize("content", [integers(), dense(names=("größe", 'y\\"\n#error'))], ids=["integers", "dense"])
def test_the_application_runs(content: bytes, tmp_path: Path) -> None:
    made = litefuse.export_micro(content, tmp_path / "app")
    assert (made.ops, made.custom_ops, made.calls) == (("FULLY_CONNECTED",), (), 2)
    assert made.measured is not None
    assert made.measured < made.arena <= made.measured * 1.125 + 1024
    assert made.arena % 1024 == 0
    folder = tmp_path / "app"
    files = {name: (folder / name).read_bytes() for name in made.files}
    assert not any(re.search(rb"@[A-Z_]+@", text) for text in files.values())

    with_dtype = "int8" if b"int8_t input" in files["samples.h"] else "float32"
    names = re.findall(rb"(input\w+|output\w+)\[kCalls\]", files["samples.h"])
    given: npt.NDArray[Any]
    expected: npt.NDArray[Any]
    given, expected = (np.array(rows_of(files["samples.cc"], name.decode()), with_dtype) for name in names)
    assert np.abs(given[0].astype(float) - given[1]).max() > 0
    runner = litefuse.Interpreter(content).get_signature_runner()
    for call in range(2):  # what is expected is what LiteRT gives
        (key,) = runner.get_input_details()
        (found,) = runner(**{key: given[call : call + 1]}).values()
        np.testing.assert_allclose(found[0].astype(float), expected[call].astype(float), rtol=1e-6, atol=1e-6)

    for spoiled in (False, True):
        outputs: npt.NDArray[Any] = np.array(expected)
        outputs[1, 2] += 5 * spoiled
        bytes_of = ", ".join("{" + ", ".join(map(str, row.tobytes())) + "}" for row in outputs)
        tensors = (
            f"constexpr size_t kArenaBytes = {made.measured}, kInputBytes = {given[0].nbytes};\n"
            f"constexpr size_t kOutputBytes = {outputs[0].nbytes};\n"
            f"constexpr int kInputType = {_TYPES[with_dtype]}, kOutputType = {_TYPES[with_dtype]};\n"
            f"constexpr uint8_t kOutput[2][kOutputBytes] = {{{bytes_of}}};\n"
        )
        program = built(folder, include_folder(tmp_path, files, tensors), tmp_path / "build")
        ran = subprocess.run([program], capture_output=True, text=True)
        assert ran.returncode == int(spoiled), ran.stdout
        assert f"model: aligned, sum {sum(content)}\nop: FullyConnected\n" in ran.stdout
        assert f"arena: {made.measured} of {made.arena} bytes are in use" in ran.stdout
        for call in range(2):
            assert f"input: sum {sum(given[call].tobytes())}\n" in ran.stdout
        assert ran.stdout.count("NOT EQUAL") == int(spoiled)
        assert ran.stdout.endswith("there are other outputs than expected\n" if spoiled else "are as expected\n")
        for index, value in enumerate(outputs[1].tolist()):
            assert f"[{index}] = {value:.9g}" in ran.stdout

    # What tflite-micro does not have is no method of the double, either.
    source = files["model.cc"].decode()
    for name, text in (("AddFullyConnected()", "AddPow()"), ("micro/micro_log.h", "micro/other.h")):
        assert name in source
        said = check_syntax(tmp_path / "spoiled", {**files, "model.cc": source.replace(name, text).encode()})
        assert "error:" in said


@needs_compiler
def test_other_models_compile(tmp_path: Path) -> None:
    """Custom ops, resource variables, several inputs and outputs of all dtypes, scalars, names of equal identifiers."""
    graph = Graph()
    dtypes = (np.float32, np.int8, np.uint8, np.int16, np.int32, np.int64, np.bool_, np.uint16, np.uint32)
    inputs = [
        graph.input(f"{'x' if number % 2 else 'X'}-{number // 2}", (), dtype) for number, dtype in enumerate(dtypes)
    ]
    graph.custom("Mine-own", [inputs[0]], [graph.output("int", (2, 3))])
    graph.custom("ethos-u", [inputs[1]], [graph.output("class", (1,), np.int8)])
    ops = ("VAR_HANDLE", "READ_VARIABLE", "UNIDIRECTIONAL_SEQUENCE_LSTM")
    made = application(serving(graph), ops=ops, custom_ops=("Mine-own", "ethos-u"), variables=2, remembers=True)
    files = application_files(made)
    assert check_syntax(tmp_path / "one", files) == ""
    heads = {name: files[name].splitlines()[0] for name in ("README.md", "model.cc", "model.h", "model_data.h")}
    assert {name for name, head in heads.items() if b" a.tflite" in head} == {*heads}
    text = files["model.cc"].decode()
    assert "MicroMutableOpResolver<5>" in text
    assert 'resolver.AddCustom("Mine-own", Register_Mine_own())' in text
    assert "resolver.AddEthosU()" in text
    assert "MicroResourceVariables::Create(allocator, 2)" in text
    assert "model::Reset()" in files["main.cc"].decode()
    assert [port.space for port in made.inputs[:4]] == ["input_x_0", "input_x_0_2", "input_x_1", "input_x_1_2"]
    assert b"samples" not in files["CMakeLists.txt"]
    assert b"`TFLMRegistration* a_model::Register_Mine_own()`" in files["README.md"]

    limits = {"int32": [-(2**31), 2**31 - 1], "int64": [-(2**63), 2**63 - 1], "uint32": [0, 2**32 - 1]}
    limits |= {"float32": [np.nan, -np.inf], "bool": [True, False]}
    graph = Graph()
    for name in limits:
        graph.output(f"y {name}", (2,), name.upper())
    graph.input("x", (2,))
    expected = [np.array(values, dtype) for dtype, values in limits.items()]
    samples = [[np.array([0.1, -1e-40], np.float32)]] * 2
    made = application(serving(graph), ops=(), given=samples, expected=[expected] * 2)
    assert check_syntax(tmp_path / "two", application_files(made)) == ""


def test_names() -> None:
    stems = ["Größe 1", "7", "int", "моделью", "my.model", "", "a__B-model"]
    assert [program_name(stem) for stem in stems] == [
        "grosse_1_model".replace("ss", ""),
        "model_7_model",
        "int_model",
        "model",
        "my_model",
        "model",
        "a_b_model",
    ]
    assert kernel_function("My::Op/2") == "Register_My__Op_2"


@pytest.mark.parametrize("length", [0, 1, 24, 25, 26, 1000])
def test_bytes(length: int) -> None:
    content = np.random.default_rng(length).integers(0, 256, length, np.uint8).tobytes()
    lines = byte_lines(content)
    assert bytes(int(each) for each in lines.split(b",")[:-1]) == content
    assert max(map(len, lines.splitlines()), default=0) <= 100


def test_numbers_are_exact() -> None:
    values = np.random.default_rng(1).standard_normal(200).astype(np.float32) * np.float32(1e-30)
    values[:4] = [0.1, 16777217, 3e-45, -0.0]
    texts = [each.strip().removesuffix("f") for each in number_lines(values).split(",")[:-1]]
    np.testing.assert_array_equal(np.array(texts, np.float32), values)
    assert number_lines(np.array([-(2**63), 5])) == "    -9223372036854775807LL - 1, 5LL,"
    assert number_lines(np.zeros(0, np.int8)).strip() == ""


def test_what_is_refused(tmp_path: Path) -> None:
    def error(content: bytes, **options: Any) -> str:
        with pytest.raises(litefuse.LitefuseError) as raised:
            litefuse.export_micro(content, tmp_path / "app", **options)
        assert not (tmp_path / "app").exists()
        return str(raised.value)

    graph = Graph()
    x = graph.input("x", (1, 4))
    graph.builtin("POW", [x, x], [graph.output("layer/Pow", (1, 4))])
    text = error(serving(graph))
    assert "POW: no such op, at layer/Pow" in text
    assert "change the layer" in text

    graph = Graph()
    graph.custom("MyOp", [graph.input("x", (1, 4))], [graph.output("y", (1, 4))])
    text = error(serving(graph))
    assert "no kernels for: MyOp" in text
    assert "--arena-size" in text
    made = litefuse.export_micro(serving(graph), tmp_path / "custom", arena_size=5000)
    assert (made.custom_ops, made.arena, made.measured, made.calls) == (("MyOp",), 5000, None, 0)
    assert "does not link" in made.notes[0]

    # What Vela compiles: an op with memory to work in, which nothing computes.
    graph = Graph()
    x, scratch = graph.input("x", (1, 4), np.int8), graph.tensor("scratch", (64,), np.uint8)
    graph.custom("ethos-u", [x, scratch, scratch], [graph.output("y", (1, 4), np.int8)])
    assert "does not run the custom op ethos-u" in error(serving(graph))
    made = litefuse.export_micro(serving(graph), tmp_path / "npu", arena_size=5000)
    assert (made.custom_ops, made.ops) == ((), ("ethos-u",))
    assert "AddEthosU()" in (tmp_path / "npu" / "model.cc").read_text()

    assert "needs an arena of" in error(integers(), arena_size=64)
    assert "above 0" in error(integers(), arena_size=0)

    graph, other = Graph(), Graph()
    for each, name in ((graph, "y"), (other, "z")):
        each.builtin("TANH", [each.input("x", (1, 4))], [each.output(name, (1, 4))])
    text = error(model(graph, other, signatures={"one": 0, "two": 1}))
    assert "these signatures are others: two" in text
    assert "--signature" in text

    for dtype, shape, why in (
        ("STRING", (1,), "strings"),
        ("FLOAT16", (1,), "float16"),
        ("FLOAT32", (0,), "no elements"),
    ):
        graph = Graph()
        graph.builtin("CAST", [graph.input("x", shape, dtype)], [graph.output("y", shape)])
        assert why in error(serving(graph))

    with pytest.raises(InterpreterError):
        litefuse.export_micro(integers()[:-100], tmp_path / "app")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(litefuse.LitefuseError, match="not empty"):
        litefuse.export_micro(integers(), tmp_path / "full")
    assert [each.name for each in (tmp_path / "full").iterdir()] == ["file"]


def test_open_sizes_and_files_without_signatures(tmp_path: Path) -> None:
    made = litefuse.export_micro(dense(batch=None), tmp_path / "open")
    assert "sizes of x, y open" in made.notes[0]
    assert b"kShape[kRank] = {1, 8}" in (tmp_path / "open" / "model.h").read_bytes()

    graph = Graph()
    graph.builtin("TANH", [graph.input("x", (1, 4))], [graph.output("y", (1, 4))])
    made = litefuse.export_micro(model(graph), tmp_path / "unsigned")
    assert made.calls == 2
    assert made.measured is not None


def test_weights_behind_the_flatbuffer_are_brought_inside(tmp_path: Path) -> None:
    content = integers()
    inside, behind = exported(content, tmp_path / "in"), exported(buffers_behind(content), tmp_path / "behind")
    assert inside["samples.cc"] == behind["samples.cc"]
    text = behind["model_data.cc"].split(b"= {", 1)[1].split(b"}")[0]
    assert not Model(bytes(int(each) for each in text.split(b",")[:-1])).has_buffers_behind


def test_without_tflite_micro(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Micro) -> str:
        return "tflite-micro is not installed: pip install 'litefuse[micro]'"

    monkeypatch.setattr(Micro, "missing", missing)
    with pytest.raises(litefuse.LitefuseError, match="size of the arena is not known: tflite-micro is not installed"):
        litefuse.export_micro(integers(), tmp_path / "app")
    files = exported(integers(), tmp_path / "app", arena_size=3000)
    assert b"kArenaBytes = 3000" in files["model.h"]
    assert b"not measured: tflite-micro is not installed" in files["README.md"]
    assert b"by a table, which proves nothing" in files["README.md"]
    assert "samples.cc" not in files


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spotter.tflite").write_bytes(integers())
    outcome = run("export-micro", "spotter.tflite", "--arena-size", "4K", "--json")
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert (told["folder"], told["name"], told["arena"]) == ("spotter_micro", "spotter_model", 4096)
    assert sorted(each.name for each in Path("spotter_micro").iterdir()) == told["files"]
    assert run("export-micro", "spotter.tflite", "--arena-size", "4K").code == 1  # the folder is there
    outcome = run("export-micro", "spotter.tflite", "-o", "other")
    assert outcome.code == 0
    assert "Application spotter_model" in outcome.out
    assert run("export-micro", "none.tflite", "-o", "third").code == 1
    assert not Path("third").exists()


def test_a_large_model_is_written_at_once() -> None:
    content: npt.NDArray[np.uint8] = np.arange(10_000_000, dtype=np.uint8)
    assert len(byte_lines(content.tobytes())) == 10_000_000 * 4 + 400_000
