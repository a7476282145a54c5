"""The index of decompositions: made of their decorators, and of nothing else."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

import litefuse.passes.legalize
from litefuse.frontends.saved_model import DataType, op_registry
from litefuse.kernels import PACK
from litefuse.passes.legalize.decomposition import (
    Decomposition,
    before_engine,
    decomposed_ops,
    decomposition,
    find_decompositions,
    forms_before_engine,
)
from litefuse.passes.legalize.dtypes.widened import Narrowed, Widened
from litefuse.support.plug_ins.own_classes import own_classes
from tests.support.plug_ins.subclasses import own_subclasses

_FOLDER = Path(litefuse.passes.legalize.__file__).parent

#: Decompositions that no decorator names an op for, each with its reason.
WITHOUT_OPS: dict[type[Decomposition], str] = {
    Narrowed: "it is tried for whatever is left of int64, if the user asks for it",
}


def forgotten(classes: Collection[type[Decomposition]]) -> set[type[Decomposition]]:
    """Those of some decompositions that are in no index."""
    after = {own.load() for several in decomposed_ops().values() for own in several}
    before = {type(each.load()) for several in forms_before_engine().values() for each in several}
    return {each for each in classes if each not in after | before}


def own_decompositions() -> set[type[Decomposition]]:
    """Every subclass in litefuse's own modules."""
    return own_subclasses(Decomposition, "litefuse.passes.legalize", within="litefuse")


def test_no_decomposition_is_forgotten() -> None:
    assert len(own_decompositions()) > 30
    assert forgotten(own_decompositions()) == WITHOUT_OPS.keys()


def test_a_forgotten_decomposition_is_found() -> None:
    class Forgotten(Decomposition):
        """Has no decorator."""

    class Misspelled(Widened):
        """Inherits one from a class that has it."""

    assert forgotten([Forgotten, Widened, Misspelled]) == {Forgotten, Misspelled}


@pytest.mark.parametrize("decorator", ["before_engine", "decomposition"])
def test_the_index_has_what_the_sources_have(decorator: str) -> None:
    """The quick look at the sources finds every decorator that the parser finds, with the same arguments."""
    expected: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
    for path in sorted(_FOLDER.rglob("*.py"), key=lambda path: path.relative_to(_FOLDER).with_suffix("").parts):
        for cls in (
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef | ast.FunctionDef)
        ):
            for call in cls.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == decorator:
                    arguments = eval(f"(lambda *a, **k: (a, k)){ast.unparse(call).removeprefix(decorator)}")
                    expected.append((cls.name, *arguments))
    found = [
        (each.name, each.arguments, dict(each.keywords)) for each in own_classes("litefuse.passes.legalize", decorator)
    ]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert len(found) > 50


def test_the_decorators_name_ops_attributes_and_dtypes_that_there_are() -> None:
    dtypes = {each.name.lower() for each in DataType}
    assert [op for op in decomposed_ops().keys() | forms_before_engine().keys() if op not in op_registry()] == []
    for op, several in forms_before_engine().items():
        definition = op_registry().get(op)
        attributes = {each.name for each in definition.attr} if definition is not None else set[str]()
        for form, _ in several:
            assert form.dtypes <= dtypes, op
            assert form.other_than.keys() <= attributes, op


def test_no_op_has_a_decomposition_twice() -> None:
    for op, several in decomposed_ops().items():
        names = [own.name for own in several]
        assert len(set(names)) == len(names), op


def test_composites_have_a_kernel() -> None:
    composites: set[Any] = {op for op in decomposed_ops() for each in find_decompositions(op) if each.composite}
    assert "Cholesky" in composites
    assert composites - set(PACK) <= {"Cumprod"}  # its kernel may be installed later


def names(*found: Any) -> list[str]:
    return [each.rewrite.__qualname__.partition(".")[0] for each in found]


def test_of_several_decompositions_the_most_special_is_tried_first() -> None:
    assert names(*find_decompositions("Cross")) == ["cross"]
    assert find_decompositions("NoSuchOp") == ()
    order = ["moved_pieces", "MovedStrings", "SliceAtComputedPositions", "moved_elements", "Widened"]
    assert names(*find_decompositions("Slice")) == order
    assert names(*find_decompositions("Mean")) == ["complex_arithmetic", "integer_mean", "Reduction"]
    assert names(*find_decompositions("MatrixDiagV3")) == ["Diagonal", "OpenDiagonal"]
    assert names(*find_decompositions("BatchMatMulV2"))[0] == "batched_product"


def test_before_the_engine_too() -> None:
    def tried(op: str) -> list[str]:
        return names(*(each.load() for each in forms_before_engine()[op]))

    assert tried("BatchToSpaceND") == ["DilatedConvolution", "Blocks"]
    assert tried("Max") == ["ExtremeOfNone", "Reduction"]
    assert tried("TensorScatterAdd") == ["Widened", "tensor_scatter"]
    assert tried("Cast")[-1] == "CastOfFraction"
    assert [each.form.last for each in forms_before_engine()["SpaceToBatchND"]] == [True]
    assert "Cross" not in forms_before_engine()


def test_only_the_modules_of_an_op_are_loaded() -> None:
    program = """
        import sys
        from litefuse.passes.legalize.decomposition import decomposed_ops, find_decompositions, forms_before_engine
        decomposed_ops(), forms_before_engine(), find_decompositions("LinSpace")
        print(*(name for name in sys.modules if name.startswith("litefuse.passes.legalize.")))
    """
    command = [sys.executable, "-c", inspect.cleandoc(program)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert {name.removeprefix("litefuse.passes.legalize.") for name in result.stdout.split()} == {
        "arithmetic",
        "arithmetic.linspace",
        "decomposition",
    }


class Computed(Decomposition):
    """Has what a decomposition needs, for tests."""

    def rewrite(self, op: Any, b: Any) -> Any:
        return op.operands[0]


@pytest.mark.parametrize("decorator", [decomposition, before_engine])
def test_decorators_check_what_they_are_given(decorator: Any) -> None:
    assert decorator("Cross")(Computed) is Computed
    for ops in ((), ("Cross", "Cross"), ("tf.Cross",), (Computed,), tuple("Cross")):
        with pytest.raises(ValueError, match="needs the names of its ops"):
            decorator(*ops)
    with pytest.raises(TypeError, match="not a subclass of Decomposition"):
        decorator("Cross")(dict)
    with pytest.raises(TypeError, match="not a subclass of Decomposition"):
        decorator("Cross")(Computed())
    with pytest.raises(TypeError, match="has no method rewrite"):
        decorator("Cross")(type("Empty", (Decomposition,), {}))
