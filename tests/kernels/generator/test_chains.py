"""Chains of ops that nobody marked become composites, which compute the same, and get kernels."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, load_delegate

from litefuse.errors import EngineCrashError
from litefuse.kernels.generator import chain_kernels, chains, generate, project
from litefuse.kernels.generator.body import read_signatures
from litefuse.kernels.generator.chain_kernels import generate_chains
from litefuse.kernels.generator.chains import Chain, find_chains, outline
from litefuse.kernels.generator.graph import RULES
from litefuse.kernels.generator.trial import ModelTrial, ModelTrialJob, Trial, run_model_trial
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.kernel_pack import native_library
from litefuse.litert.runtime.model_reader import Model
from tests.kernels.generator.builds import build_quickly
from tests.litert.runtime.models import Graph, model
from tests.litert.targets.models import buffers_behind


class Writer(Graph):
    """A graph of tensors with a dynamic batch."""

    def __init__(self, *, width: int = 6) -> None:
        super().__init__()
        self.width = width

    def x(self, name: str = "x", dtype: Any = np.float32) -> int:
        return self.input(name, (1, self.width), dtype, signature=(-1, self.width))

    def op(self, name: str, *operands: int, dtype: Any = np.float32, width: int | None = None) -> int:
        width = width or self.width
        made = self.tensor(f"{name.lower()}_{len(self.tensors)}", (1, width), dtype, signature=(-1, width))
        self.builtin(name, operands, [made])
        return made

    def constant(self, value: Any, dtype: Any = np.float32) -> int:
        array = np.asarray(value, dtype)
        return self.tensor(f"constant_{len(self.tensors)}", array.shape, dtype, value=array)

    def product(self, x: int) -> int:
        """An op that is never in a chain."""
        weights = self.constant(np.random.default_rng(0).normal(size=(self.width, self.width)))
        return self.op("FULLY_CONNECTED", x, weights)

    def file(self, *outputs: int) -> bytes:
        self.outputs += outputs
        return model(self, signatures={"serving_default": 0})


def diamond() -> bytes:
    g = Writer()
    top = g.op("ADD", g.x(), g.constant(1.5))
    return g.file(g.op("SUB", g.op("MUL", top, top), g.op("TANH", top)))


def around_a_product() -> bytes:
    """A chain whose first ops are needed by a product, which its last ones need: no group of all of them is convex."""
    g = Writer()
    first = g.op("EXP", g.op("NEG", g.op("ABS", g.x())))
    last = g.op("ADD", g.product(first), first)
    return g.file(g.op("MUL", g.op("TANH", last), last))


def crossed() -> bytes:
    """Two chains, each of which needs the other: each is convex, both are not."""
    g = Writer()
    one = g.op("ABS", g.x("a"))
    other = g.op("NEG", g.product(g.x("b")))
    one_more = g.op("TANH", g.op("EXP", g.product(other)))
    other_more = g.op("MUL", g.op("ABS", g.product(one)), g.constant(2.0))
    ends = (g.op("ADD", g.op("ADD", one, one_more), one), g.op("SUB", g.op("SUB", other, other_more), other))
    return g.file(*ends)


def used_outside() -> bytes:
    g = Writer()
    one = g.op("EXP", g.x())
    two = g.op("ADD", one, g.constant(np.arange(6)))
    three = g.op("MUL", two, one)
    return g.file(two, g.product(one), three)


def shared_constants() -> bytes:
    g = Writer()
    large = g.constant(np.arange(1 << 15).reshape(-1, 1)[: 1 << 15] / (1 << 15))
    x = g.input("x", (1 << 15, 6))
    values = g.constant(np.arange(6))
    y = x
    for name, operand in (("ADD", values), ("MUL", large), ("SUB", values)):
        made = g.tensor(f"{name}_y", (1 << 15, 6))
        g.builtin(name, [y, operand], [made])
        y = made
    g.outputs.append(y)
    return g.file(g.product(g.op("MAXIMUM", g.x("other"), values)))


def twice() -> bytes:
    """Two chains that are the same, with a product between them."""
    g = Writer()
    y = g.x()
    for _ in range(2):
        y = g.op("TANH", g.op("MUL", g.op("ADD", g.product(y), g.constant([0.5])), g.constant(2.0)))
    return g.file(y)


def sizes() -> bytes:
    """Sizes that a chain computes, and a reshape outside of it needs."""
    g = Writer()
    x = g.x()
    y = g.op("MUL", g.op("TANH", g.op("EXP", x)), x)
    shape = g.tensor("shape", (2,), np.int32)
    g.builtin("SHAPE", [x], [shape], outType=schema.TensorType.INT32)
    made = g.tensor("reshaped", (1, 6), signature=(-1, 6))
    g.builtin("RESHAPE", [y, shape], [made])
    other = g.tensor("other", (1, 6), signature=(-1, 6))
    g.builtin("RESHAPE", [g.product(y), shape], [other])
    return g.file(made, other)


def of_sizes() -> bytes:
    """Sizes are asked for of what a chain computes, and become numbers."""
    g = Writer()
    y = g.op("MUL", g.op("TANH", g.op("EXP", g.x())), g.constant(2.0))
    shape = g.tensor("shape", (2,), np.int32)
    g.builtin("SHAPE", [y], [shape], outType=schema.TensorType.INT32)
    rows, count = g.tensor("rows", (), np.int32), g.tensor("count", (1,), np.int32, signature=(-1,))
    ends = [g.constant(each, np.int32) for each in ([0], [1], [1])]
    g.builtin("STRIDED_SLICE", [shape, *ends], [rows], shrinkAxisMask=1)
    g.builtin("RANGE", [g.constant(0, np.int32), rows, g.constant(1, np.int32)], [count])
    twice = g.tensor("twice", (1,), np.int32, signature=(-1,))
    g.builtin("MUL", [count, g.constant(2, np.int32)], [twice])
    more = g.tensor("more", (1,), np.int32, signature=(-1,))
    g.builtin("ADD", [twice, twice], [more])
    return g.file(g.op("ABS", y), more)


CASES = {
    each.__name__: each
    for each in (diamond, around_a_product, crossed, used_outside, shared_constants, twice, sizes, of_sizes)
}


def arrays(details: Sequence[Any], batch: int) -> list[Any]:
    random = np.random.default_rng(batch)
    shapes = [[batch if size < 0 else size for size in each["shape_signature"]] for each in details]
    return [random.normal(size=shape).astype(each["dtype"]) for shape, each in zip(shapes, details, strict=True)]


def results(path: Path) -> list[Any]:
    """The results of calls of several sizes, the first of them twice."""
    interpreter: Any = Interpreter(str(path))
    details = interpreter.get_input_details()
    found: list[Any] = []
    for batch in (3, 3, 1, 5):
        for detail, array in zip(details, arrays(details, batch), strict=True):
            interpreter.resize_tensor_input(detail["index"], array.shape)
        interpreter.allocate_tensors()
        for detail, array in zip(details, arrays(details, batch), strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        found += [interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()]
    return found


def chains_of(path: Path) -> list[Chain]:
    return find_chains(read_signatures(path.read_bytes(), path.name))


def names(chain: Chain) -> list[str]:
    return [chain.graph.ops[place].name for place in chain.ops]


@pytest.mark.parametrize("case", CASES)
def test_the_outlined_model_computes_the_same(tmp_path: Path, case: str) -> None:
    path, outlined = tmp_path / "m.tflite", tmp_path / "o.tflite"
    path.write_bytes(CASES[case]())
    found = chains_of(path)
    assert found
    outline(path, outlined, found)
    assert inspect_litert_model(outlined).op_counts["STABLEHLO_COMPOSITE"] == len(found)
    for one, other in zip(results(outlined), results(path), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", ["shared_constants", "used_outside"])
def test_weights_behind_the_flatbuffer_come_inside(tmp_path: Path, case: str) -> None:
    path, outlined = tmp_path / "m.tflite", tmp_path / "o.tflite"
    path.write_bytes(CASES[case]())
    expected = results(path)
    path.write_bytes(buffers_behind(path.read_bytes()))
    found = chains_of(path)
    outline(path, outlined, found)
    assert not Model(outlined.read_bytes()).has_buffers_behind
    for one, other in zip(results(outlined), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("diamond", [["ADD", "MUL", "TANH", "SUB"]]),
        ("around_a_product", [["ABS", "NEG", "EXP"], ["ADD", "TANH", "MUL"]]),
        ("used_outside", [["EXP", "ADD", "MUL"]]),
        ("shared_constants", [["ADD", "MUL", "SUB"]]),
        ("twice", [["ADD", "MUL", "TANH"], ["ADD", "MUL", "TANH"]]),
        ("sizes", [["EXP", "TANH", "MUL", "SHAPE", "RESHAPE"]]),
    ],
)
def test_which_ops_are_a_chain(tmp_path: Path, case: str, expected: list[list[str]]) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(CASES[case]())
    assert [names(chain) for chain in chains_of(path)] == expected


def test_chains_do_not_need_each_other(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(crossed())
    found = chains_of(path)
    assert len(found) >= 2
    outputs = [set(chain.outputs) for chain in found]
    for one, chain in enumerate(found):
        for other in range(one):
            needs = [bool(outputs[other] & set(chain.inputs)), bool(outputs[one] & set(found[other].inputs))]
            assert not all(needs)


def test_constants_operands_and_results(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(shared_constants())
    (chain,) = chains_of(path)
    assert [chain.graph.tensors[index].shape for index in chain.inputs] == [(1 << 15, 6), (1 << 15, 1)]
    path.write_bytes(used_outside())
    (chain,) = chains_of(path)
    assert [chain.graph.tensors[index].name.split("_")[0] for index in chain.outputs] == ["exp", "add", "mul"]


def test_the_same_chain_twice_has_one_name_and_one_body(tmp_path: Path) -> None:
    path, outlined = tmp_path / "m.tflite", tmp_path / "o.tflite"
    path.write_bytes(twice())
    found = chains_of(path)
    assert [chain.name for chain in found] == ["litefuse.chain.1"] * 2
    assert {chain.name for chain in find_chains([found[0].graph], {"litefuse.chain.1"})} == {"litefuse.chain.2"}
    outline(path, outlined, found)
    assert len(schema.ModelT.InitFromPackedBuf(bytearray(outlined.read_bytes()), 0).subgraphs) == 2


def test_what_later_ops_must_know_before_they_run_stays(tmp_path: Path) -> None:
    path, outlined = tmp_path / "m.tflite", tmp_path / "o.tflite"
    path.write_bytes(sizes())
    outline(path, outlined, chains_of(path))
    assert inspect_litert_model(outlined).op_counts["SHAPE"] == 2  # in the body, too
    (chain,) = chains_of(path)
    assert [chain.graph.ops[place].name for place in chain.stays] == ["SHAPE"]


def test_chains_that_xnnpack_leaves_come_first(tmp_path: Path) -> None:
    g = Graph()
    ends: list[int] = []
    for dtype, ops in ((np.float32, ("ABS", "NEG", "TANH", "EXP")), (np.int32, ("ABS", "NEG", "ABS"))):
        y = g.input(f"x_{np.dtype(dtype)}", (2, 3), dtype)
        for name in ops:
            made = g.tensor(f"{name}_{len(g.tensors)}", (2, 3), dtype)
            g.builtin(name, [y], [made])
            y = made
        ends.append(y)
    g.outputs += ends
    path = tmp_path / "m.tflite"
    path.write_bytes(model(g))
    assert [(names(chain)[-1], chain.left_by_xnnpack) for chain in chains_of(path)] == [("ABS", 3), ("EXP", 0)]


def test_signatures_stay_and_the_kernels_compute_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.import_module("litefuse.kernels.generator.rules")  # registers them
    right: Any = RULES["EXP"]

    def wrong(graph: Any, op: Any) -> Any:
        def scaled(texts: Sequence[str]) -> str:
            return f"({texts[0]} * 1.001f)"

        return graph.computed("FLOAT32", [right(graph, op)], scaled)

    monkeypatch.setitem(RULES, "EXP", wrong)
    one, other = Writer(), Writer()
    doubled = one.op("MUL", one.op("TANH", one.op("ABS", one.product(one.x()))), one.constant(2.0))
    one.outputs.append(one.op("ABS", one.op("NEG", one.op("EXP", one.product(doubled)))))
    real = other.op("CAST", other.op("NEG", other.x("ß", np.int32), dtype=np.int32))
    other.outputs.append(other.op("SUB", real, other.constant(np.arange(6))))
    path, plain = tmp_path / "m.tflite", tmp_path / "p.tflite"
    path.write_bytes(model(one, other, signatures={"größe": 0, "b": 1}))
    plain.write_bytes(path.read_bytes())
    untimed(monkeypatch)
    reports = generate_chains(path, tmp_path / "kernels", model="m.tflite")
    assert [(each.first, each.last, each.ops, each.count) for each in reports] == [
        ("NEG", "SUB", 3, 1),
        ("ABS", "MUL", 3, 1),
        ("EXP", "ABS", 3, 1),
    ]
    assert [each.kernel is None for each in reports] == [False, False, True]
    assert str(reports[2].reason).startswith("the kernel does not compute what the body computes: output 0: it differs")
    assert inspect_litert_model(path).op_counts["STABLEHLO_COMPOSITE"] == 2
    (library,) = (tmp_path / "kernels").glob("libgenerated_kernels.*")
    runners = [
        {key: interpreter.get_signature_runner(key) for key in interpreter.get_signature_list()}
        for interpreter in (
            Interpreter(str(plain)),
            Interpreter(str(path)),
            Interpreter(str(path), experimental_delegates=[load_delegate(str(library))]),
        )
    ]
    for rows in (3, 3, 1, 5):
        x = np.random.default_rng(rows).normal(size=(rows, 6)).astype(np.float32)
        for key, inputs in (("größe", {"x": x}), ("b", {"ß": (x * 10).astype(np.int32)})):
            expected, *found = (next(iter(each[key](**inputs).values())) for each in runners)
            for each in found:
                np.testing.assert_allclose(each, expected, rtol=1e-6, atol=1e-6)


def untimed(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> None:
    """Has each kernel that computes the same count as faster, and so the model unless there are other answers."""
    in_worker = generate.run_in_worker
    whole_in_worker = chain_kernels.run_in_worker
    given = list(answers)

    def trial(target: str, job: Any, announce: Any) -> Trial:
        found = in_worker(target, job._replace(is_timed=False), announce)
        return found._replace(kernel_seconds=1e-3, body_seconds=2e-3)

    def whole(target: str, job: Any, announce: Any) -> ModelTrial:
        if not given:
            found = whole_in_worker(target, job._replace(is_timed=False), announce)
            return found._replace(with_seconds=1e-3, without_seconds=2e-3)
        answer = given.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(project, "build_library", build_quickly)
    monkeypatch.setattr(generate, "run_in_worker", trial)
    monkeypatch.setattr(chain_kernels, "run_in_worker", whole)


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has kernels that are neither compiled nor run."""

    def build(folder: Path, *_: Any) -> Path:
        (folder / "none.so").write_bytes(b"")
        return folder / "none.so"

    def write(folder: Path, sources: Any, *_: Any) -> Path:
        (folder / "names").write_text(" ".join(sources))
        return build(folder)

    monkeypatch.setattr(generate, "build_kernels", build)
    for module in (generate, chain_kernels):
        monkeypatch.setattr(module, "write_project", write)

    def trial(*_: Any) -> Trial:
        return Trial(0.0, None, 1e-3, 2e-3)

    monkeypatch.setattr(generate, "run_in_worker", trial)


def test_a_model_that_is_not_faster_stays_byte_for_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(around_a_product())
    slow = [ModelTrial(2e-3, 1e-3), EngineCrashError("it died", death="SIGSEGV", step="time-model")]
    untimed(monkeypatch, *slow)
    quick(monkeypatch)
    reports = generate_chains(path, tmp_path / "kernels", model="m.tflite")
    assert sorted(str(each.reason) for each in reports) == [
        "the model as a whole is not faster: 2,000 µs, without 1,000 µs",
        "the process that ran the model died: SIGSEGV",
    ]
    assert path.read_bytes() == around_a_product()
    assert [each.name for each in tmp_path.iterdir()] == ["m.tflite"]


def test_the_chain_that_gains_least_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(around_a_product())
    untimed(monkeypatch, ModelTrial(2e-3, 1e-3, "the model does not compute the same"), ModelTrial(1e-3, 2e-3))
    quick(monkeypatch)
    reports = generate_chains(path, tmp_path / "kernels", model="m.tflite")
    assert sorted((each.kernel is None, each.reason) for each in reports) == [
        (False, None),
        (True, "the model does not compute the same"),
    ]
    assert inspect_litert_model(path).op_counts["STABLEHLO_COMPOSITE"] == 1
    assert len((tmp_path / "kernels" / "names").read_text().split()) == 1


def test_a_model_that_computes_something_else_is_noticed(tmp_path: Path) -> None:
    paths = tmp_path / "m.tflite", tmp_path / "o.tflite"
    library = native_library()
    assert library is not None
    for path, factor in zip(paths, (2.0, 2.001), strict=True):
        g = Writer()
        path.write_bytes(g.file(g.op("MUL", g.op("TANH", g.x()), g.constant(factor))))
    for outlined, expected in zip(paths, (None, "the model does not compute the same with the kernels"), strict=True):
        problem = run_model_trial(ModelTrialJob(paths[0], outlined, library, None, is_timed=False)).problem
        assert (problem is None) if expected is None else str(problem).startswith(expected)


def test_nothing_found(tmp_path: Path) -> None:
    g = Writer()
    content = g.file(g.op("TANH", g.product(g.x())))
    path = tmp_path / "m.tflite"
    path.write_bytes(content)
    assert generate_chains(path, tmp_path / "kernels", model="m.tflite") == ()
    assert path.read_bytes() == content
    assert chains.find_chains([]) == []


def test_loops_are_in_no_chain() -> None:
    g = Writer()
    x = g.x()
    y = g.op("ABS", g.op("NEG", x))
    z = g.tensor("loop", (1, 6), signature=(-1, 6))
    g.builtin("WHILE", [y], [z], condSubgraphIndex=1, bodySubgraphIndex=2)
    g.outputs.append(g.op("EXP", g.op("TANH", g.op("ABS", z))))
    condition, body = Writer(), Writer()
    c = condition.x()
    condition.builtin(
        "REDUCE_ANY",
        [condition.op("EQUAL", c, c, dtype=np.bool_), condition.constant([0, 1], np.int32)],
        [condition.output("goes_on", (), np.bool_)],
    )
    body.outputs.append(body.op("ABS", body.x()))
    content = model(g, condition, body, signatures={"serving_default": 0})
    names = {each.graph.ops[place].name for each in find_chains(read_signatures(content, ""), {}) for place in each.ops}
    assert names <= {"ABS", "NEG", "TANH", "EXP"}
    assert "EXP" in names
