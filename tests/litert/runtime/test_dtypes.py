"""What a kernel sees of its inputs and outputs: dtypes, shapes, constants, absence."""

# Kernels take what they are given.

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from litefuse.errors import KernelError
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.kernels import AddN, Double, Where
from tests.litert.runtime.models import DTYPES, Graph, model, unary

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.litert.runtime.outputs import Outputs


def run(content: bytes, *values: Any, custom_ops: list[type[CustomOp]]) -> list[npt.NDArray[Any]]:
    """Runs a model that is called with ``values`` once and gives its outputs."""
    interpreter = Interpreter(content, custom_ops=custom_ops)
    inputs = [detail["index"] for detail in interpreter.get_input_details()]
    for index, value in zip(inputs, values, strict=True):
        interpreter.resize_tensor_input(index, value.shape)
    interpreter.allocate_tensors()
    for index, value in zip(inputs, values, strict=True):
        interpreter.set_tensor(index, value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


@pytest.mark.parametrize("name", [name for name in DTYPES if name != "STRING"])
def test_every_dtype_goes_in_and_out(name: str) -> None:
    x = np.array([[0, 1, 2], [3, 4, 5]]).astype(DTYPES[name])

    (y,) = run(unary("Double", dtype=name), x, custom_ops=[Double])

    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x + x)


def test_the_arrays_have_the_dtypes_of_the_model_and_inputs_are_read_only_views() -> None:
    seen: list[Any] = []

    class Look(CustomOp):
        op_name = "Look"

        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            seen.append((inputs[0].dtype, inputs[0].flags.writeable, inputs[0].flags.owndata, outputs[0].flags.owndata))
            with pytest.raises(ValueError, match="read-only"):
                inputs[0][0] = 1
            outputs[0][...] = inputs[0]

    x = np.array([1, 2, 3]).astype(ml_dtypes.bfloat16)
    (y,) = run(unary("Look", shape=(3,), dtype="BFLOAT16"), x, custom_ops=[Look])

    assert seen == [(np.dtype(ml_dtypes.bfloat16), False, False, False)]
    np.testing.assert_array_equal(y, x)


def test_rank_zero() -> None:
    (y,) = run(unary("Double", shape=()), np.array(2.5, np.float32), custom_ops=[Double])

    assert y.shape == ()
    assert y == 5.0


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3)])
def test_zero_size(shape: tuple[int, ...]) -> None:
    (y,) = run(unary("Double", shape=shape), np.zeros(shape, np.float32), custom_ops=[Double])

    assert y.shape == shape
    assert y.dtype == np.float32


def test_constant_inputs_have_a_value_when_prepared() -> None:
    seen: list[TensorSpec] = []

    class Tile(CustomOp):
        op_name = "Tile"

        def prepare(self, x: TensorSpec, count: TensorSpec) -> TensorSpec:
            seen.extend((x, count))
            assert x.shape is not None
            assert count.value is not None
            assert not count.value.flags.writeable
            return TensorSpec((x.shape[0] * int(count.value), x.shape[1]), x.dtype)

        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            outputs[0][...] = np.tile(inputs[0], (int(inputs[1]), 1))

    graph = Graph()
    x = graph.input("x", (1, 2))
    count = graph.tensor("count", (), np.int32, value=3)
    y = graph.output("y", (1, 1))
    graph.custom("Tile", [x, count], [y])

    (result,) = run(model(graph), np.array([[1, 2]], np.float32), custom_ops=[Tile])

    assert seen[0] == TensorSpec((1, 2), np.float32, "x")
    assert seen[0].value is None
    assert seen[1] == TensorSpec((), np.int32, "count")
    assert seen[1].value == 3
    np.testing.assert_array_equal(result, [[1, 2]] * 3)


def test_an_absent_input_is_none() -> None:
    seen: list[Any] = []

    class Sum(AddN):
        op_name = "Sum"

        def prepare(self, *inputs: TensorSpec | None) -> TensorSpec:
            seen.append([spec if spec is None else spec.name for spec in inputs])
            return super().prepare(*inputs)

    graph = Graph()
    x, z = graph.input("x", (2,)), graph.input("z", (2,))
    y = graph.output("y", (2,))
    graph.custom("Sum", [x, -1, z], [y])

    (result,) = run(model(graph), np.array([1, 2], np.float32), np.array([10, 20], np.float32), custom_ops=[Sum])

    assert seen[-1] == ["x", None, "z"]
    np.testing.assert_array_equal(result, [11, 22])


def test_several_outputs() -> None:
    class DivMod(CustomOp):
        op_name = "DivMod"

        def prepare(self, x: TensorSpec, y: TensorSpec) -> list[TensorSpec]:
            return [TensorSpec(x.shape, x.dtype), TensorSpec(x.shape, np.int64), TensorSpec((), np.bool_)]

        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            assert len(outputs) == 3
            outputs[0] = inputs[0] // inputs[1]
            outputs[1][...] = inputs[0] % inputs[1]
            outputs[-1] = np.array(True)

    graph = Graph()
    inputs = [graph.input("x", (2,), np.int32), graph.input("y", (2,), np.int32)]
    outputs = [
        graph.output("q", (2,), np.int32),
        graph.output("r", (2,), np.int64),
        graph.output("done", (), np.bool_),
    ]
    graph.custom("DivMod", inputs, outputs)

    q, r, done = run(model(graph), np.array([7, 9], np.int32), np.array([2, 5], np.int32), custom_ops=[DivMod])

    assert (q.tolist(), r.tolist(), done.item()) == ([3, 1], [1, 4], True)


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_strings(shape: tuple[int, ...]) -> None:
    strings = np.reshape(np.array(["a", "", "grün", "\0x\0"], object)[: math.prod(shape)], shape)
    content = unary("Double", shape=shape, dtype=object)

    # The interpreter's set_tensor takes the pointer in an object array of rank 0 for the string.
    (y,) = run(content, strings if shape else strings.astype(bytes), custom_ops=[Double])

    expected = [string.encode() * 2 for string in strings.ravel()]
    assert y.shape == shape
    assert np.ravel(y).tolist() == expected


def test_strings_shrink_and_grow_between_calls() -> None:
    interpreter = Interpreter(unary("Double", shape=(2,), dtype=object), custom_ops=[Double])
    interpreter.allocate_tensors()

    for length in (1, 1000, 3, 100_000, 0, 20):
        interpreter.set_tensor(0, np.array([b"x" * length, b"-"], object))
        interpreter.invoke()
        assert interpreter.get_tensor(1).tolist() == [b"xx" * length, b"--"]


def test_string_outputs_take_str_and_a_shape_that_depends_on_data() -> None:
    class Split(CustomOp):
        op_name = "Split"

        def prepare(self, text: TensorSpec) -> TensorSpec:
            return TensorSpec(None, object)

        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            outputs[0] = np.array(inputs[0].item().decode().split(), object)

    interpreter = Interpreter(unary("Split", shape=(1,), dtype=object), custom_ops=[Split])
    interpreter.allocate_tensors()

    for text in ("der grüne Baum", "x", "", "a b"):
        interpreter.set_tensor(0, np.array([text], object))
        interpreter.invoke()
        words = interpreter.get_tensor(1)
        assert [word.decode() for word in words.tolist()] == text.split()


def test_a_constant_string_input_has_a_value() -> None:
    class Prefix(CustomOp):
        op_name = "Prefix"

        def prepare(self, text: TensorSpec, prefix: TensorSpec) -> TensorSpec:
            assert prefix.value is not None
            self.prefix = prefix.value.item()
            return TensorSpec(text.shape, object)

        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            outputs[0] = np.array([self.prefix + text for text in inputs[0]], object)

    graph = Graph()
    text = graph.input("text", (2,), object)
    prefix = graph.tensor("prefix", (), object, value=b"re-")
    graph.custom("Prefix", [text, prefix], [graph.output("y", (2,), object)])

    (y,) = run(model(graph), np.array(["do", "wind"], object), custom_ops=[Prefix])

    assert y.tolist() == [b"re-do", b"re-wind"]


def test_an_output_whose_size_depends_on_data() -> None:
    interpreter = Interpreter(unary("Where", output_shape=(1, 2), output_dtype=np.int64), custom_ops=[Where])
    interpreter.allocate_tensors()

    for x in (np.eye(2, 3), np.ones((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)), np.eye(2, 3)):
        interpreter.set_tensor(0, x.astype(np.float32))
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(1), np.argwhere(x))


def test_a_dynamic_output_can_be_read_back_once_assigned() -> None:
    class Late(CustomOp):
        op_name = "Late"

        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(None, np.float32)

        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            with pytest.raises(KernelError, match=r"output 0 has no shape yet"):
                outputs[0][...] = 1
            outputs[0] = np.zeros(4, np.float32)
            outputs[0][2] = 7

    (y,) = run(unary("Late"), np.zeros((2, 3), np.float32), custom_ops=[Late])

    np.testing.assert_array_equal(y, [0, 0, 7, 0])


def test_a_type_that_numpy_has_not_is_refused() -> None:
    content = unary("Double", dtype="INT4", shape=(2, 2))

    with pytest.raises(KernelError, match=r"custom op Double, node 'y': tensor 'x' is of type int4"):
        Interpreter(content, custom_ops=[Double]).allocate_tensors()
