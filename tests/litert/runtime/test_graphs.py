"""Kernels within graphs: next to each other and to the runtime's own, in several subgraphs, under changing shapes."""

# Kernels take what they are given.

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter as StockInterpreter
from ai_edge_litert.interpreter import OpResolverType

from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.delegate import delegate
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.kernels import AddN, Double, Scale, Where
from tests.litert.runtime.models import Graph, model

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.litert.runtime.outputs import Outputs

OPS: list[type[CustomOp]] = [AddN, Double, Scale, Where]


def call(interpreter: StockInterpreter, *values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    for detail, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def diamond() -> bytes:
    """y = 3 * 2 * (x + x) + (x + x): four adjacent custom ops, three different, one twice, and tensors between."""
    graph = Graph()
    x = graph.input("x", (2, 3))
    a, b, c = (graph.tensor(name, (2, 3)) for name in "abc")
    y = graph.output("y", (2, 3))
    graph.custom("Double", [x], [a])
    graph.custom("Scale", [a], [b], {"factor": 2})
    graph.custom("Scale", [b], [c], {"factor": 3.0})
    graph.custom("AddN", [c, a], [y])
    return model(graph)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"experimental_disable_delegate_clustering": True},
        {"experimental_disable_delegate_node_fusion": True},
        {"experimental_op_resolver_type": OpResolverType.BUILTIN_REF},
        {"experimental_op_resolver_type": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES},
        {"experimental_default_delegate_latest_features": True},
        {"num_threads": 2},
    ],
    ids=str,
)
def test_adjacent_ops(options: dict[str, Any]) -> None:
    if not options.keys() <= inspect.signature(StockInterpreter).parameters.keys():
        pytest.skip("this version of the runtime lacks the option")
    interpreter = Interpreter(diamond(), custom_ops=OPS, **options)
    interpreter.allocate_tensors()

    for seed in range(3):
        x = np.random.default_rng(seed).random((2, 3), np.float32)
        (y,) = call(interpreter, x)
        np.testing.assert_allclose(y, 14 * x, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:Warning. Enabling `experimental_preserve_all_tensors`")
def test_intermediate_tensors_can_be_preserved() -> None:
    interpreter = Interpreter(diamond(), custom_ops=OPS, experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()

    x = np.ones((2, 3), np.float32)
    call(interpreter, x)

    names = {detail["name"]: detail["index"] for detail in interpreter.get_tensor_details()}
    assert interpreter.get_tensor(names["b"])[0, 0] == 4
    assert interpreter.get_tensor(names["c"])[0, 0] == 12


def test_the_stock_interpreter_with_the_delegate() -> None:
    interpreter = StockInterpreter(model_content=diamond(), experimental_delegates=[delegate(*OPS)])
    interpreter.allocate_tensors()

    (y,) = call(interpreter, np.ones((2, 3), np.float32))

    np.testing.assert_array_equal(y, np.full((2, 3), 14))


def between_builtins() -> bytes:
    """y = (x + 1) * 2 * (x + 1), where the runtime's own kernels (XNNPACK's) do the additions and the product."""
    graph = Graph()
    x = graph.input("x", (1, 4), signature=(-1, 4))
    one = graph.tensor("one", (1, 4), value=np.ones((1, 4)))
    a, b = graph.tensor("a", (1, 4), signature=(-1, 4)), graph.tensor("b", (1, 4), signature=(-1, 4))
    y = graph.output("y", (1, 4), signature=(-1, 4))
    graph.builtin("ADD", [x, one], [a])
    graph.custom("Double", [a], [b])
    graph.builtin("MUL", [a, b], [y])
    return model(graph, signatures={"serving_default": 0})


@pytest.mark.parametrize("resolver", [OpResolverType.BUILTIN, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES])
def test_batches_that_change_next_to_builtin_ops(resolver: OpResolverType) -> None:
    interpreter = Interpreter(between_builtins(), custom_ops=OPS, experimental_op_resolver_type=resolver)

    for batch in (1, 3, 3, 2, 5, 1):
        interpreter.resize_tensor_input(0, [batch, 4], strict=True)
        interpreter.allocate_tensors()
        for seed in range(2):
            x = np.random.default_rng(seed).random((batch, 4), np.float32)
            (y,) = call(interpreter, x)
            np.testing.assert_allclose(y, 2 * (x + 1) ** 2, rtol=1e-6)


def test_batches_that_change_through_a_signature_runner() -> None:
    runner = Interpreter(between_builtins(), custom_ops=OPS).get_signature_runner()

    for batch in (1, 3, 3, 2):
        x = np.random.default_rng(batch).random((batch, 4), np.float32)
        np.testing.assert_allclose(runner(x=x)["y"], 2 * (x + 1) ** 2, rtol=1e-6)


def test_views_follow_tensors_that_move() -> None:
    """Allocating anew moves the arena although no shape of this op changed."""
    graph = Graph()
    x, z = graph.input("x", (2,)), graph.input("z", (1,))
    y, w = graph.output("y", (2,)), graph.output("w", (1,))
    graph.custom("Double", [x], [y])
    graph.custom("Double", [z], [w])
    interpreter = Interpreter(model(graph), custom_ops=OPS)

    for size in (1, 100_000, 10, 1_000_000):
        interpreter.resize_tensor_input(z, [size])
        interpreter.allocate_tensors()
        doubled, doubled_too = call(interpreter, np.array([1, 2], np.float32), np.ones(size, np.float32))
        np.testing.assert_array_equal(doubled, [2, 4])
        np.testing.assert_array_equal(doubled_too, np.full(size, 2))


def test_an_op_after_an_output_of_unknown_size() -> None:
    graph = Graph()
    x = graph.input("x", (2, 3))
    where, doubled = graph.tensor("where", (1, 2), np.int64), graph.tensor("doubled", (1, 2), np.int64)
    y = graph.output("y", (2,), np.int32)
    last = graph.output("last", (1, 2), np.int64)
    graph.custom("Where", [x], [where])
    graph.custom("Double", [where], [doubled])
    graph.builtin("SHAPE", [doubled], [y], outType=schema.TensorType.INT32)
    graph.custom("Double", [doubled], [last])
    interpreter = Interpreter(model(graph), custom_ops=OPS)
    interpreter.allocate_tensors()

    for value in (np.eye(2, 3), np.ones((2, 3)), np.zeros((2, 3)), np.eye(2, 3)):
        shape_of_doubled, result = call(interpreter, value.astype(np.float32))
        expected = np.argwhere(value)
        np.testing.assert_array_equal(shape_of_doubled, expected.shape)
        np.testing.assert_array_equal(result, 4 * expected)


def test_two_signatures() -> None:
    first, second = Graph(), Graph()
    first.custom("Double", [first.input("x", (2,))], [first.output("y", (2,))])
    second.custom("Scale", [second.input("u", (3,))], [second.output("v", (3,))], {"factor": 10})
    content = model(first, second, signatures={"double": 0, "scale": 1})
    interpreter = Interpreter(content, custom_ops=OPS)

    double, scale = interpreter.get_signature_runner("double"), interpreter.get_signature_runner("scale")
    assert list(double.get_input_details()) == ["x"]
    for _ in range(2):
        np.testing.assert_array_equal(double(x=np.array([1, 2], np.float32))["y"], [2, 4])
        np.testing.assert_array_equal(scale(u=np.array([1, 2, 3], np.float32))["v"], [10, 20, 30])


def loop() -> bytes:
    """i, y = while i < limit: i + 1, Double(y)."""
    main, condition, body = Graph(), Graph(), Graph()
    inputs = [main.input("i", (), np.int32), main.input("x", (2,)), main.input("limit", (), np.int32)]
    outputs = [main.output("i_out", (), np.int32), main.output("y", (2,)), main.output("limit_out", (), np.int32)]
    main.builtin("WHILE", inputs, outputs, condSubgraphIndex=1, bodySubgraphIndex=2)

    i, _, limit = condition.input("i", (), np.int32), condition.input("x", (2,)), condition.input("n", (), np.int32)
    condition.builtin("LESS", [i, limit], [condition.output("go", (), np.bool_)])

    i, x, limit = body.input("i", (), np.int32), body.input("x", (2,)), body.input("n", (), np.int32)
    one = body.tensor("one", (), np.int32, value=1)
    body.builtin("ADD", [i, one], [body.output("next", (), np.int32)])
    body.custom("Double", [x], [body.output("doubled", (2,))])
    body.outputs.append(limit)
    return model(main, condition, body)


def test_inside_a_loop() -> None:
    interpreter = Interpreter(loop(), custom_ops=OPS)
    interpreter.allocate_tensors()
    x = np.array([1, 3], np.float32)

    for limit in (0, 1, 5, 2):
        i, y, _ = call(interpreter, np.array(0, np.int32), x, np.array(limit, np.int32))
        assert i == limit
        np.testing.assert_array_equal(y, x * 2**limit)

    interpreter.resize_tensor_input(1, [4])
    interpreter.allocate_tensors()
    _, y, _ = call(interpreter, np.array(0, np.int32), np.ones(4, np.float32), np.array(3, np.int32))
    np.testing.assert_array_equal(y, np.full(4, 8))


def test_a_loop_whose_state_grows() -> None:
    """x = while size(x) < 9: Grow(x), which appends the sum."""

    class Grow(CustomOp):
        op_name = "Grow"

        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(None, x.dtype)

        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            outputs[0] = np.append(inputs[0], inputs[0].sum())

    main, condition, body = Graph(), Graph(), Graph()
    main.builtin("WHILE", [main.input("x", (1,))], [main.output("y", (1,))], condSubgraphIndex=1, bodySubgraphIndex=2)
    x = condition.input("x", (1,))
    total, go = condition.tensor("total", ()), condition.output("go", (), np.bool_)
    axis = condition.tensor("axis", (1,), np.int32, value=[0])
    condition.builtin("SUM", [x, axis], [total])
    condition.builtin("LESS", [total, condition.tensor("limit", (), value=100)], [go])
    body.custom("Grow", [body.input("x", (1,))], [body.output("y", (1,))])
    interpreter = Interpreter(model(main, condition, body), custom_ops=[Grow])
    interpreter.allocate_tensors()

    for start in (1, 50, 3, 100):
        expected = [start]
        while sum(expected) < 100:
            expected.append(sum(expected))
        (y,) = call(interpreter, np.array([start], np.float32))
        assert y.tolist() == expected


def test_inside_branches() -> None:
    main, then, otherwise = Graph(), Graph(), Graph()
    inputs = [main.input("choice", (), np.bool_), main.input("x", (2,))]
    main.builtin("IF", inputs, [main.output("y", (2,))], thenSubgraphIndex=1, elseSubgraphIndex=2)
    then.custom("Double", [then.input("x", (2,))], [then.output("y", (2,))])
    otherwise.custom("Scale", [otherwise.input("x", (2,))], [otherwise.output("y", (2,))], {"factor": -1})
    interpreter = Interpreter(model(main, then, otherwise), custom_ops=OPS)
    interpreter.allocate_tensors()
    x = np.array([1, 3], np.float32)

    for choice in (True, False, True):
        (y,) = call(interpreter, np.array(choice), x)
        np.testing.assert_array_equal(y, 2 * x if choice else -x)


def composite(name: str) -> bytes:
    """A composite whose decomposition is -x, so that it shows which of the two ran."""
    main, body = Graph(), Graph()
    attributes = {"factor": 5, "list": [1, 2, 3], "text": "t"}
    main.composite(name, [main.input("x", (2,))], [main.output("y", (2,))], attributes, 1)
    body.builtin("NEG", [body.input("x", (2,))], [body.output("y", (2,))])
    return model(main, body)


def test_a_composite_is_claimed_by_its_name() -> None:
    seen: list[Any] = []

    class Composite(Scale):
        op_name = "my.scale"

        def prepare(self, x: TensorSpec, *, factor: float, **attributes: Any) -> TensorSpec:
            seen.append(attributes)
            return super().prepare(x, factor=factor)

    interpreter = Interpreter(composite("my.scale"), custom_ops=[Composite])
    interpreter.allocate_tensors()
    (y,) = call(interpreter, np.array([1, 2], np.float32))

    np.testing.assert_array_equal(y, [5, 10])
    assert seen[0] == {"list": [1, 2, 3], "text": "t"}


def test_a_composite_without_a_kernel_runs_its_decomposition() -> None:
    interpreter = Interpreter(composite("other.scale"), custom_ops=OPS)
    interpreter.allocate_tensors()

    (y,) = call(interpreter, np.array([1, 2], np.float32))

    np.testing.assert_array_equal(y, [-1, -2])


def test_a_kernel_has_an_instance_for_each_node() -> None:
    class Count(CustomOp):
        op_name = "Double"

        def prepare(self, x: TensorSpec) -> TensorSpec:
            self.calls = 0
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            self.calls += 1
            outputs[0].fill(self.calls)

    graph = Graph()
    x = graph.input("x", (1,))
    y, z = graph.output("y", (1,)), graph.output("z", (1,))
    graph.custom("Double", [x], [y])
    graph.custom("Double", [x], [z])
    interpreter = Interpreter(model(graph), custom_ops=[Count])
    interpreter.allocate_tensors()

    for call_number in (1, 2, 3):
        assert [array.item() for array in call(interpreter, np.zeros(1, np.float32))] == [call_number] * 2
