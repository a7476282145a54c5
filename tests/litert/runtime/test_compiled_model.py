"""LiteRT's ``CompiledModel`` with kernels in Python and C++."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import litefuse
from litefuse.errors import InterpreterError, KernelError, MissingKernelError
from tests.litert.runtime.models import Graph, model, unary

Array = npt.NDArray[Any]


class Scaled(litefuse.CustomOp):
    """The input times a constant of the model and an option."""

    op_name = "Scaled"

    def prepare(self, x: litefuse.TensorSpec, factor: litefuse.TensorSpec, *, by: float) -> litefuse.TensorSpec:
        assert factor.value is not None, "a constant is known when shapes are asked for"
        self.factor = float(factor.value) * by
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any, *, by: float) -> None:
        outputs[0][...] = (inputs[0] * self.factor).astype(inputs[0].dtype)


def scaled(dtype: npt.DTypeLike = np.float32) -> bytes:
    """A model of two nodes of one op, which have different options, with a builtin op between."""
    graph = Graph()
    x = graph.input("x", (2, 3), dtype, signature=(-1, 3))
    first, sum_ = (graph.tensor(name, (2, 3), dtype, signature=(-1, 3)) for name in ("first", "sum"))
    y = graph.output("y", (2, 3), dtype, signature=(-1, 3))
    factor = graph.tensor("factor", (), value=2.0)
    graph.custom("Scaled", [x, factor], [first], {"by": 1.5})
    graph.builtin("ADD", [first, first], [sum_])
    graph.custom("Scaled", [sum_, factor], [y], {"by": 0.25})
    return model(graph, signatures={"serve": 0})


@pytest.fixture(autouse=True)
def _registered() -> None:
    litefuse.custom_op("Scaled", replace=True)(Scaled)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_kernels_see_options_constants_and_dtypes_and_run_for_other_batches(dtype: npt.DTypeLike) -> None:
    with litefuse.CompiledModel(scaled(dtype)) as compiled:
        for batch in (2, 2, 1, 5):
            x = np.arange(batch * 3).reshape(batch, 3).astype(dtype)
            np.testing.assert_array_equal(compiled.run({"x": x})["y"], x * 3)
            np.testing.assert_array_equal(compiled.run({"x": -x}, "serve")["y"], x * -3)


def test_two_models_at_once_do_not_disturb_each_other() -> None:
    x = np.ones((2, 3), np.float32)
    with litefuse.CompiledModel(scaled()) as first, litefuse.CompiledModel(scaled()) as second:
        first.run({"x": x})
        second.run({"x": np.ones((4, 3), np.float32)})
        first.close()
        gc.collect()
        np.testing.assert_array_equal(second.run({"x": x})["y"], x * 3)


def test_the_native_pack_and_composites_run_with_kernels() -> None:
    graph, body = Graph(), Graph()
    x, y = graph.input("x", (2, 3)), graph.output("y", (2, 3))
    erf = graph.tensor("erf", (2, 3))
    factor = graph.tensor("factor", (), value=2.0)
    graph.custom("Erf", [x], [erf])
    graph.composite("Scaled", [erf, factor], [y], {"by": 1.0}, 1)
    a, _ = body.input("a", (2, 3)), body.input("b", ())
    b = body.output("c", (2, 3))
    body.builtin("NEG", [a], [b])  # not what the kernel computes
    content = model(graph, body, signatures={"serve": 0})
    inputs = {"x": np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)}
    expected = litefuse.Interpreter(content).get_signature_runner("serve")(**inputs)["y"]
    assert np.all(np.sign(expected[inputs["x"] != 0]) == np.sign(inputs["x"][inputs["x"] != 0]))
    with litefuse.CompiledModel(content) as compiled:
        np.testing.assert_array_equal(compiled.run(inputs)["y"], expected)
        np.testing.assert_array_equal(compiled.run(inputs)["y"], expected)


def test_signatures_are_told_and_chosen() -> None:
    first, second = Graph(), Graph()
    for graph, op in ((first, "NEG"), (second, "ABS")):
        x, y = graph.input("x", (2,)), graph.output("y", (2,))
        graph.builtin(op, [x], [y])
    x = np.array([-1, 2], np.float32)
    with litefuse.CompiledModel(model(first, second, signatures={"minus": 0, "größe": 1})) as compiled:
        assert [(key, each.inputs[0].name) for key, each in compiled.signatures.items()] == [
            ("minus", "x"),
            ("größe", "x"),
        ]
        assert compiled.signatures["minus"].inputs[0].shape == (2,)
        np.testing.assert_array_equal(compiled.run({"x": x}, "minus")["y"], -x)
        np.testing.assert_array_equal(compiled.run({"x": x}, "größe")["y"], np.abs(x))
        with pytest.raises(InterpreterError, match="a signature must be named"):
            compiled.run({"x": x})


def test_what_a_kernel_raises_is_raised() -> None:
    @litefuse.custom_op("Raises", replace=True)
    class Raises(litefuse.CustomOp):  # pyright: ignore[reportUnusedClass]
        def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
            return x

        def invoke(self, inputs: Any, outputs: Any) -> None:
            raise ZeroDivisionError("mine")

    with (
        litefuse.CompiledModel(unary("Raises")) as compiled,
        pytest.raises(ZeroDivisionError, match="mine") as raised,
    ):
        compiled.run({"x": np.zeros((2, 3), np.float32)})
    assert raised.value.__notes__ == ["custom op Raises, node 'y'"]  # pyright: ignore[reportAttributeAccessIssue]


def test_a_custom_op_without_a_kernel_is_named() -> None:
    with litefuse.CompiledModel(unary("NoSuchOp")) as compiled, pytest.raises(MissingKernelError, match="NoSuchOp"):
        compiled.run({"x": np.zeros((2, 3), np.float32)})


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "'x' is missing"),
        ({"x": np.zeros((2, 3))}, "float64, not of float32"),
        ({"x": np.zeros((2, 4), np.float32)}, r"\[2, 4\], not \[-1, 3\]"),
        ({"x": np.zeros((0, 3), np.float32)}, "'x' is empty"),
        ({"x": np.zeros((2, 3), np.float32), "z": np.zeros(1)}, "unknown input 'z'"),
    ],
)
def test_inputs_that_do_not_fit_are_named(inputs: dict[str, Array], message: str) -> None:
    with litefuse.CompiledModel(scaled()) as compiled:
        with pytest.raises(InterpreterError, match=message):
            compiled.run(inputs)
        x = np.ones((2, 3), np.float32)
        np.testing.assert_array_equal(compiled.run({"x": x})["y"], x * 3)


def test_strings_and_shapes_that_depend_on_values_are_refused() -> None:
    @litefuse.custom_op("Positive", replace=True)
    class Positive(litefuse.CustomOp):  # pyright: ignore[reportUnusedClass]
        def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
            return litefuse.TensorSpec(None, x.dtype)

        def invoke(self, inputs: Any, outputs: Any) -> None:
            outputs[0] = inputs[0][inputs[0] > 0]

    with (
        litefuse.CompiledModel(unary("Positive", shape=(6,), output_shape=(3,))) as compiled,
        pytest.raises(InterpreterError, match="runtime failed"),
    ):
        compiled.run({"x": np.array([1, -2, 3, 4, -5, 6], np.float32)})
    with (
        litefuse.CompiledModel(unary("StringLower", shape=(1,), dtype="STRING")) as compiled,
        pytest.raises(InterpreterError, match="strings"),
    ):
        compiled.run({"x": np.array([b"A"])})


def test_files_that_cannot_be_loaded_are_refused(tmp_path: Path) -> None:
    for content in (b"", b"123456789", scaled()[:100]):
        with pytest.raises(InterpreterError):
            litefuse.CompiledModel(content)
    with pytest.raises(InterpreterError, match="no such file"):
        litefuse.CompiledModel(tmp_path / "none.tflite")
    with pytest.raises(InterpreterError, match="no accelerator 'tpu'"):
        litefuse.CompiledModel(scaled(), accelerators=["tpu"])
    with pytest.raises(KernelError, match="no such file"):
        litefuse.CompiledModel(scaled(), custom_ops=[tmp_path / "none.so"])


def test_a_file_by_its_path_and_a_closed_model(tmp_path: Path) -> None:
    path = tmp_path / "größe.tflite"
    path.write_bytes(scaled())
    compiled = litefuse.CompiledModel(path)
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(compiled.run({"x": x})["y"], x * 3)
    compiled.close()
    compiled.close()
    with pytest.raises(InterpreterError, match="closed"):
        compiled.run({"x": x})
