"""Custom ops whose results have the scale of an operand, in models of integers, with either form of their kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter as StockInterpreter
from ai_edge_litert.interpreter import load_delegate

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.errors import KernelError
from litefuse.kernels import PACK, native_library
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime import custom_op as registry
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.options.quantization import Quantization
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

each_form = pytest.mark.parametrize("form", ["int8", "int16"])
PATCHES = {"ksizes": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}
POOL_3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "SAME"}
IMAGE, VOLUME = (4, 4, 2), (3, 4, 4, 2)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {})
    return iter(())


class _Model(Graph):
    """A model whose batch is open."""

    def made(self, name: str, *sizes: int, output: bool = False) -> int:
        add = self.output if output else self.tensor
        return add(name, [1, *sizes], signature=[-1, *sizes])

    def taken(self, *sizes: int) -> int:
        return self.input("x", [1, *sizes], signature=[-1, *sizes])

    def product(self, x: int, y: int, factor: float, shift: float = 0.0) -> None:
        """Numbers that are larger on one side of 0, so that the zero point is not in the middle."""
        sizes = self.tensors[y][0].shape[1:]
        between = self.made(f"times {factor}", *sizes)
        self.builtin("MUL", [x, self.tensor(f"factor {factor}", [], value=factor)], [between])
        self.builtin("ADD", [between, self.tensor(f"shift {shift}", [], value=shift)], [y])


def _custom(graph: _Model, op: str, x: int, y: int) -> None:
    if op == "ExtractImagePatches":
        graph.custom(op, [x], [y], PATCHES)
    elif op == "Roll":
        places = [graph.tensor(f"{op}{n} {y}", [2], np.int32, value=each) for n, each in enumerate(([1, -3], [1, 2]))]
        graph.custom(op, [x, *places], [y])
    elif op == "MaxPool3D":
        graph.custom(op, [x], [y], POOL_3D)
    else:
        where = graph.tensor("where", graph.tensors[y][0].shape, np.int64)
        graph.custom(op, [x], [y, where], POOL)


def _sizes(op: str) -> tuple[Sequence[int], Sequence[int]]:
    if op == "MaxPool3D":
        return VOLUME, VOLUME
    return IMAGE, (2, 2, 18) if op == "ExtractImagePatches" else IMAGE


def between(op: str) -> _Model:
    """A product, the op, and a product."""
    graph, (before, after) = _Model(), _sizes(op)
    x, first, handed = graph.taken(*before), graph.made("first", *before), graph.made("handed", *after)
    graph.product(x, first, 2.0, 1.5)
    _custom(graph, op, first, handed)
    graph.product(handed, graph.made("y", *after, output=True), -1.5, 0.5)
    return graph


def first(op: str) -> _Model:
    """The op on the model's input, and a product."""
    graph, (before, after) = _Model(), _sizes(op)
    x, handed = graph.taken(*before), graph.made("handed", *after)
    _custom(graph, op, x, handed)
    graph.product(handed, graph.made("y", *after, output=True), -1.5, 0.5)
    return graph


def last(op: str) -> _Model:
    """A product, and the op, whose result is the model's."""
    graph, (before, after) = _Model(), _sizes(op)
    x, made = graph.taken(*before), graph.made("first", *before)
    graph.product(x, made, 2.0, 1.5)
    _custom(graph, op, made, graph.made("y", *after, output=True))
    return graph


def after_softmax(op: str) -> _Model:
    """The op takes what has a fixed scale."""
    graph, (before, after) = _Model(), _sizes(op)
    x, made, handed = graph.taken(*before), graph.made("first", *before), graph.made("handed", *after)
    other, y = graph.made("other", *before), graph.made("y", *after, output=True)
    graph.product(x, other, 0.5)
    graph.builtin("SOFTMAX", [other], [made], beta=1.0)
    _custom(graph, op, made, handed)
    graph.product(handed, y, -1.5, 0.5)
    return graph


def in_a_row(op: str) -> _Model:
    """The op twice, or before Roll, and what others read as well; in a concatenation at the end."""
    graph, (before, after) = _Model(), _sizes(op)
    x, one, two = graph.taken(*before), graph.made("first", *before), graph.made("handed", *after)
    three, other = graph.made("again", *after), graph.made("other", *after)
    graph.product(x, one, 2.0, 1.5)
    _custom(graph, op, one, two)
    _custom(graph, "Roll", two, three)
    graph.product(three, other, 2.5, -0.5)
    y = graph.output("y", [1, *after[:-1], 2 * after[-1]], signature=[-1, *after[:-1], 2 * after[-1]])
    graph.builtin("CONCATENATION", [three, other], [y], axis=len(after))
    return graph


def samples(sizes: Sequence[int], count: int = 12) -> list[Any]:
    random = np.random.default_rng(9)
    return [random.normal(size=(1, *sizes)).astype(np.float32) for _ in range(count)]


def calls(path: Path, x: Any, *, form: str) -> dict[str, Any]:
    """The outputs of two calls, which must be the same."""
    if form == "stock":
        delegates = [load_delegate(str(native_library()))]
        runner: Any = StockInterpreter(str(path), experimental_delegates=delegates).get_signature_runner()
    else:
        kernels = [*PACK.values()] if form == "numpy" else None
        runner = Interpreter(path, custom_ops=kernels).get_signature_runner()
    found = {name: np.array(value) for name, value in runner(x=x).items()}
    for name, value in runner(x=x).items():
        np.testing.assert_array_equal(value, found[name])
    return found


def _scales(path: Path, op: str) -> tuple[list[Any], list[Any]]:
    """Type, scale and zero point of the first operand and the first result of each op of a name."""
    runner = Interpreter(path)
    details = {each["index"]: each for each in runner.get_tensor_details()}
    found: tuple[list[Any], list[Any]] = ([], [])
    with content_of(path) as content:
        for each in Model(content).graphs[0].ops:
            if op in {each.name, each.custom}:
                for sides, index in zip(found, (each.inputs[0], each.outputs[0]), strict=True):
                    sides.append((details[index]["dtype"].__name__, *details[index]["quantization"]))
    return found


@each_form
@pytest.mark.parametrize("op", ["ExtractImagePatches", "MaxPool3D", "MaxPoolWithArgmax", "Roll"])
@pytest.mark.parametrize("made", [between, first, last, after_softmax, in_a_row])
def test_integers_are_handed_on(made: Callable[[str], _Model], op: str, form: Any, tmp_path: Path) -> None:
    graph = made(op)
    sizes = _sizes(op)[0]
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    found = quantize_model(before, after, form, take_samples(samples(sizes)))
    assert found.floats == ()
    taken, given = _scales(after, op)
    assert taken == given
    assert {each[0] for each in taken} == {form}
    counts = inspect_litert_model(after).op_counts
    # One at each end, and one where the operand has a scale that its kernel fixes.
    assert counts["DEQUANTIZE"] == 1
    expected = 2 if made is after_softmax else 1
    assert counts["QUANTIZE"] == expected
    for count in (1, 3, 2):
        x = np.concatenate(samples(sizes, 12))[5 : 5 + count]
        reals = calls(before, x, form="numpy")["y"]
        numpy = calls(after, x, form="numpy")["y"]
        step = (reals.max() - reals.min()) / (100 if form == "int8" else 5000)
        np.testing.assert_allclose(numpy, reals, atol=4 * step)
        for other in ("native", "stock"):
            np.testing.assert_array_equal(calls(after, x, form=other)["y"], numpy)


@each_form
@pytest.mark.parametrize("options", [{"keep_float": ("handed",)}, {"keep_float_ops": ("Roll",)}])
def test_what_is_kept_stays_in_floating_point(options: dict[str, Any], form: Any, tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", between("Roll")), tmp_path / "after.tflite"
    chosen = Quantization(form, **options)
    found = quantize_model(before, after, chosen, take_samples(samples(IMAGE)))
    assert [(each.op, each.reason) for each in found.floats] == [("Roll", "kept in floating point, as requested")]
    assert {each[0] for side in _scales(after, "Roll") for each in side} == {"float32"}


def test_the_operand_of_what_is_kept(tmp_path: Path) -> None:
    """The op before it is kept, and the custom op is not."""
    before, after = saved(tmp_path / "before.tflite", between("Roll")), tmp_path / "after.tflite"
    chosen = Quantization("int8", keep_float=("^first;",))
    found = quantize_model(before, after, chosen, take_samples(samples(IMAGE)))
    assert [each.op for each in found.floats] == ["ADD"]
    taken, given = _scales(after, "Roll")
    assert taken == given
    assert {each[0] for each in taken} == {"int8"}
    x = samples(IMAGE)[3]
    expected = calls(before, x, form="native")["y"]
    np.testing.assert_allclose(calls(after, x, form="native")["y"], expected, atol=0.2)


@pytest.mark.parametrize("quantized_io", [True, "uint8"])
@pytest.mark.parametrize("made", [between, first, last])
def test_integers_at_the_ends(made: Callable[[str], _Model], quantized_io: Any, tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", made("ExtractImagePatches")), tmp_path / "after.tflite"
    found = quantize_model(before, after, Quantization("int8", io=quantized_io), take_samples(samples(IMAGE)))
    assert found.floats == ()
    taken, given = _scales(after, "ExtractImagePatches")
    assert taken == given
    assert {each[0] for each in taken} == {"int8"}
    assert found.error is not None
    assert found.error < 0.03


class Absolute(CustomOp):
    """The second result hands the first operand on; the first has a scale of its own."""

    quantized_dtypes: ClassVar[tuple[str, ...]] = ("int8",)
    same_scales: ClassVar[Mapping[int, int]] = {1: 0}

    def prepare(self, x: TensorSpec) -> list[TensorSpec]:
        self.takes, self.gives = x.quantization, self.output_specs[0].quantization
        return [TensorSpec(x.shape, x.dtype)] * 2

    def invoke(self, inputs: Any, outputs: Any) -> None:
        x = inputs[0] if self.takes is None else self.takes.dequantize(inputs[0])
        outputs[0][...] = np.abs(x) if self.gives is None else self.gives.quantize(np.abs(x), np.int8)
        outputs[1][...] = inputs[0]


def test_a_kernel_of_a_user(tmp_path: Path) -> None:
    registry.custom_op("Absolute")(Absolute)
    graph = _Model()
    x, one = graph.taken(*IMAGE), graph.made("first", *IMAGE)
    absolute, same = graph.made("absolute", *IMAGE), graph.made("same", *IMAGE)
    graph.product(x, one, 2.0, 1.5)
    graph.custom("Absolute", [one], [absolute, same])
    graph.builtin("SUB", [same, absolute], [graph.made("y", *IMAGE, output=True)])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    found = quantize_model(before, after, "int8", take_samples(samples(IMAGE)))
    assert found.floats == ()
    counts = inspect_litert_model(after).op_counts
    assert (counts["QUANTIZE"], counts["DEQUANTIZE"]) == (1, 1)
    assert found.error is not None
    assert found.error < 0.1


@each_form
def test_a_constant_that_is_handed_on_stays_as_it_is(form: Any, tmp_path: Path) -> None:
    graph = _Model()
    x, rolled = graph.taken(*IMAGE), graph.made("rolled", *IMAGE)
    table = graph.tensor("table", [1, *IMAGE], value=samples(IMAGE)[0])
    graph.custom("Roll", [table, *(graph.tensor(n, [1], np.int32, value=[1]) for n in ("shift", "axis"))], [rolled])
    graph.builtin("ADD", [x, rolled], [graph.made("y", *IMAGE, output=True)])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    quantize_model(before, after, form, take_samples(samples(IMAGE)))
    assert {each[0] for side in _scales(after, "Roll") for each in side} == {"float32"}
    given = samples(IMAGE)[2]
    expected = calls(before, given, form="native")["y"]
    np.testing.assert_allclose(calls(after, given, form="native")["y"], expected, atol=0.1)


def test_positions_that_are_none() -> None:
    class Wrong(Absolute):
        same_scales: ClassVar[Mapping[int, int]] = {0: -1}
        op_name = "Wrong"

    with pytest.raises(KernelError, match="same_scales has positions of outputs and inputs, not"):
        registry.kernels_by_name([Wrong])


def test_positions_that_the_node_lacks(tmp_path: Path) -> None:
    class Wrong(Absolute):
        same_scales: ClassVar[Mapping[int, int]] = {1: 2}

    registry.custom_op("Absolute")(Wrong)
    graph = Graph()
    graph.custom("Absolute", [graph.input("x", [1])], [graph.output("y", [1]), graph.output("z", [1])])
    with pytest.raises(KernelError, match="no output 1 with the scale of input 2"):
        Interpreter(saved(tmp_path / "m.tflite", graph)).allocate_tensors()


def read_twice(op: str) -> _Model:
    """The result of the op is the model's, and read by others."""
    graph, (before, after) = _Model(), _sizes(op)
    x, made = graph.taken(*before), graph.made("first", *before)
    handed = graph.made("handed", *after, output=True)
    graph.product(x, made, 2.0, 1.5)
    _custom(graph, op, made, handed)
    graph.product(handed, graph.made("y", *after, output=True), -1.5, 0.5)
    graph.builtin("SOFTMAX", [handed], [graph.made("z", *after, output=True)], beta=1.0)
    return graph


@pytest.mark.parametrize("op", ["ExtractImagePatches", "MaxPoolWithArgmax"])
@pytest.mark.parametrize(
    ("form", "quantized_io"), [("int8", False), ("int8", True), ("int8", "uint8"), ("int16", False), ("int16", True)]
)
def test_a_result_that_is_an_output_as_well(op: str, form: Any, quantized_io: Any, tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", read_twice(op)), tmp_path / "after.tflite"
    found = quantize_model(before, after, Quantization(form, io=quantized_io), take_samples(samples(IMAGE)))
    assert found.floats == ()
    assert found.error is not None
    assert found.error < 0.03
    taken, given = _scales(after, op)
    assert taken == given
    if not quantized_io:
        x = samples(IMAGE)[3]
        assert {*calls(after, x, form="stock")} == {"handed", "y", "z"}
