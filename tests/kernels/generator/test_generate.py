"""Kernels are generated, checked, measured and written; or declined with the reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, load_delegate

import litefuse
from litefuse.errors import EngineCrashError, InterpreterError
from litefuse.kernels.generator import generate
from litefuse.kernels.generator.body import read_bodies
from litefuse.kernels.generator.generate import Generated, generate_kernels
from litefuse.kernels.generator.graph import RULES, NotGenerated
from litefuse.kernels.generator.kernel import class_name, kernel_source
from litefuse.kernels.generator.trial import Trial
from tests.every import every
from tests.kernels.generator.bodies import BodyWriter, file_of


def scale(b: BodyWriter, *shape: int | None, by: float = 2.0) -> BodyWriter:
    """x * by + 1 along rows, minus their mean."""
    x = b.input("float32", *shape)
    y = b.op("ADD", [b.op("MUL", [x, b.constant(by)], "float32"), b.constant(1.0)], "float32")
    mean = b.op("MEAN", [y, b.constant([-1], "int32")], "float32", kind="Reducer", keepDims=True)
    return b.give(b.op("SUB", [y, mean], "float32"))


def look_up(b: BodyWriter) -> BodyWriter:
    table, ids = b.input("float32", 5, 3), b.input("int32", None)
    return b.give(b.op("GATHER", [table, ids], "float32", axis=0))


def divide(b: BodyWriter) -> BodyWriter:
    return b.give(b.op("DIV", [b.input("int32", None), b.input("int32", None)], "int32"))


# Two forms of one composite, and others.
CONTENT = file_of(
    scale(BodyWriter("Größe/1", {"by": 2}), None, 8),
    scale(BodyWriter("Größe/1", {"by": 3}), None, 8, by=3.0),
    scale(BodyWriter("Größe/1", {"by": 2}), 2, None, 4),
    look_up(BodyWriter("look.up")),
    divide(BodyWriter("Divide")),
)
CALLS = {"Größe/1": [(3, 8), (3, 8), (2, 5, 4)], "look.up": [(5, 3), (4,)], "Divide": [(6,), (6,)]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Generated, Path]:
    folder = tmp_path_factory.mktemp("made")
    return generate_kernels(CONTENT, None, folder, model="model.tflite", always=True), folder


def outputs(interpreter: Any, arrays: list[Any]) -> list[Any]:
    details = interpreter.get_input_details()
    for detail, array in zip(details, arrays, strict=True):
        interpreter.resize_tensor_input(detail["index"], array.shape)
    interpreter.allocate_tensors()
    for _ in range(2):
        for detail, array in zip(details, arrays, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
    return [interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()]


def arrays(seed: int, ids: Any = (4, 0, 2, 1), divisor: int = 3) -> list[Any]:
    random = np.random.default_rng(seed)
    made = [random.normal(size=shape).astype(np.float32) for shape in [*CALLS["Größe/1"], (5, 3)]]
    return [*made, np.int32(ids), np.arange(-3, 3, dtype=np.int32), np.full(6, divisor, np.int32)]


def test_the_model_computes_the_same_with_the_kernels(made: tuple[Generated, Path]) -> None:
    result, folder = made
    assert sorted(result.kernels) == sorted(CALLS)
    assert result.declined == {}
    assert result.library == next(folder.glob("libgenerated_kernels.*"))
    plain = Interpreter(model_content=CONTENT)
    native = Interpreter(model_content=CONTENT, experimental_delegates=[load_delegate(str(result.library))])
    ours = litefuse.Interpreter(CONTENT, custom_ops=[str(result.library)])
    for seed in range(2):
        expected = outputs(plain, arrays(seed))
        for interpreter in (native, ours):
            for one, other in zip(outputs(interpreter, arrays(seed)), expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_the_kernels_refuse_what_the_body_refuses(made: tuple[Generated, Path]) -> None:
    for given, message in (
        (arrays(0, ids=(4, 5)), "outside"),
        (arrays(0, ids=(-1, 0)), "outside"),
        (arrays(0, divisor=0), "division by 0"),
    ):
        native = Interpreter(model_content=CONTENT, experimental_delegates=[load_delegate(str(made[0].library))])
        with pytest.raises(RuntimeError, match=message):
            outputs(native, given)


def test_a_node_of_another_form_is_refused(made: tuple[Generated, Path]) -> None:
    for content in (
        file_of(scale(BodyWriter("Größe/1", {"by": 4}), None, 8)),
        file_of(scale(BodyWriter("Größe/1", {"by": 2}), None, 7)),
    ):
        with pytest.raises(RuntimeError, match="no kernel was generated for these"):
            Interpreter(
                model_content=content, experimental_delegates=[load_delegate(str(made[0].library))]
            ).allocate_tensors()


def test_the_folder_has_what_builds_the_kernels_elsewhere(made: tuple[Generated, Path]) -> None:
    folder = made[1]
    names = {path.name for path in folder.iterdir()}
    assert {"Gr1Kernel.cc", "LookUpKernel.cc", "registry.cc", "CMakeLists.txt", "README.md", "kit"} <= names | {
        "Gr1Kernel.cc"
    }
    assert "@" not in (folder / "CMakeLists.txt").read_text()
    readme = (folder / "README.md").read_text()
    assert "Größe/1" in readme
    assert "android" in readme


def test_a_kernel_that_is_wrong_is_declined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = RULES["GATHER"]

    def wrong(graph: Any, op: Any) -> Any:
        node = right(graph, op)

        def scaled(texts: Any) -> str:
            return f"({texts[0]} * 1.001f)"

        return graph.computed(node.dtype, [node], scaled)

    monkeypatch.setitem(RULES, "GATHER", wrong)
    result = generate_kernels(CONTENT, ["look.*"], tmp_path, model="m", always=True)
    assert result.library is None
    assert result.declined["look.up"].startswith(
        "the kernel does not compute what the body computes: output 0: it differs by 0.001"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Trial(0.0, None, 2e-3, 1e-3), "the kernel is not faster: 2,000 µs, and the body takes 1,000 µs"),
        (EngineCrashError("it died", death="SIGSEGV", step="check-kernel"), "the process that ran the kernel died"),
        (InterpreterError("refused"), "the kernel could not be run: refused"),
    ],
)
def test_a_kernel_that_is_slow_or_fails_is_declined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, reason: str
) -> None:
    def run(*_: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(generate, "run_in_worker", run)

    def build(folder: Path, _: Any) -> Path:
        return folder / "none.so"

    monkeypatch.setattr(generate, "build_kernels", build)
    result = generate_kernels(CONTENT, ["Divide"], tmp_path, model="m")
    assert result.kernels == {}
    assert result.declined["Divide"].startswith(reason)
    assert not list(tmp_path.iterdir())


def _unknown_op(b: BodyWriter) -> None:
    b.give(b.op("UNIQUE", [b.input("int32", None)], "int32", "int32")[0])


def _values_as_shape(b: BodyWriter) -> None:
    b.give(b.op("RESHAPE", [b.input("float32", None), b.input("int32", 2)], "float32"))


def _half(b: BodyWriter) -> None:
    b.give(b.op("ADD", [b.input("float16", 3), b.input("float16", 3)], "float16"))


def _large_constant(b: BodyWriter) -> None:
    b.give(b.op("ADD", [b.input("float32", 70000), b.constant(np.arange(70000))], "float32"))


def _quantized(b: BodyWriter) -> None:
    x = b.scaled(b.input("int8", 3), 0.1, 0)
    b.give(b.scaled(b.op("ADD", [x, x], "int8"), 0.2, 0))


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (_unknown_op, "no rule for UNIQUE"),
        (_values_as_shape, "the shape of a reshape depends on the values of inputs"),
        (_half, "ADD of FLOAT16"),
        (_large_constant, "a constant has 280,000 bytes"),
        (_quantized, "ADD computes with integers of quantized numbers"),
    ],
)
def test_what_has_no_rule_is_declined_with_the_reason(write: Callable[[BodyWriter], None], reason: str) -> None:
    writer = BodyWriter("Some")
    write(writer)
    with pytest.raises(NotGenerated) as declined:
        kernel_source("Some", read_bodies(file_of(writer), "m")["Some"], "Some", "m")
    assert str(declined.value).startswith(reason)


def test_bodies_that_cannot_be_told_apart_are_declined() -> None:
    content = file_of(scale(BodyWriter("S"), None, 8), scale(BodyWriter("S"), None, 8, by=3.0))
    with pytest.raises(NotGenerated, match="bodies of the same attributes, types and shapes differ"):
        kernel_source("S", read_bodies(content, "m")["S"], "S", "m")


def test_names_from_a_file_write_no_code() -> None:
    hostile = "a\nint code;\r\u2028 \\"
    content = file_of(scale(BodyWriter(hostile, {}), None, 8))
    (bodies,) = read_bodies(content, "m").values()
    source = kernel_source(hostile, bodies, "A", hostile)
    lines = [line for line in source.splitlines() if "int code" in line]
    assert lines
    assert every(line.startswith("// ") for line in lines)


def test_what_is_needed_twice_is_computed_once_and_no_expression_grows_long() -> None:
    body = BodyWriter("S")
    x = body.input("float32", None)
    once = body.op("EXP", [x], "float32")
    result = body.op("MUL", [once, once], "float32")
    for number in range(40):
        result = body.op("ADD", [result, body.constant(number)], "float32")
    source = kernel_source("S", read_bodies(file_of(body.give(result)), "m")["S"], "S", "m")
    assert source.count("math::Exp(") == 1
    assert max(map(len, source.splitlines())) < 200


def test_the_same_body_twice_is_one_form() -> None:
    content = file_of(scale(BodyWriter("S"), None, 8), scale(BodyWriter("S"), None, 8))
    assert kernel_source("S", read_bodies(content, "m")["S"], "S", "m").count("public litefuse::Kernel") == 1


def test_damaged_files_are_refused() -> None:
    with pytest.raises(InterpreterError, match="not a LiteRT model"):
        read_bodies(b"nothing at all", "m")
    for place in range(8, 200, 7):
        damaged = bytearray(CONTENT)
        damaged[place] ^= 0xFF
        try:
            read_bodies(bytes(damaged), "m")
        except InterpreterError:
            continue


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("odml.rms_norm", "OdmlRmsNormKernel"),
        ("Größe 1", "GrE1Kernel"),
        ("…", "CompositeKernel"),
        ("3d", "Composite3dKernel"),
    ],
)
def test_names_of_classes(name: str, identifier: str) -> None:
    assert class_name(name) == identifier
